"""The tensor compiler: Tensor programs become kernels by rewriting one graph of UOps."""
