"""Untrusted kernels: isolated, limited, checked, and compared with the reference."""
