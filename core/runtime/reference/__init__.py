"""The reference: kernels at any stage, evaluated by NumPy; and random arguments for them."""
