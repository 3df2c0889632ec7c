"""What kernels cost, predicted from their loops and from data about the machine."""
