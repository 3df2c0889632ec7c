"""What `core`'s adapter adds to a server: routes, and jobs that work on kernels."""
