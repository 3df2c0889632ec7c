"""The passes that turn a Tensor graph into kernels and a kernel into a linear program."""
