"""Reads untrusted trace files into checked rows and arrays."""
