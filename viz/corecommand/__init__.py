"""What `core`'s adapter adds to the command line: commands that compile, run and check kernels."""
