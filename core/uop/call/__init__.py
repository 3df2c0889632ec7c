"""Calls of kernels written by hand, and values on several devices."""
