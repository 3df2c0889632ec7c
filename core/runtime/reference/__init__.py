"""The reference device: kernels evaluated by NumPy."""
