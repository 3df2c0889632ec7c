"""What kernels compute on inputs that are chosen for it, held against the reference, and timed."""
