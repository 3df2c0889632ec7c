"""Kernels that nobody vouches for: isolated, limited, checked, and compared with the reference."""
