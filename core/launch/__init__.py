"""What runs a schedule: kernels compiled, cached and launched one by one, or as a batch."""
