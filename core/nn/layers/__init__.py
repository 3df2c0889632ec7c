"""Layers: objects with Tensors as attributes and a `__call__`."""
