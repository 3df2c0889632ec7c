"""What compiles and runs kernels on request, in processes of its own."""
