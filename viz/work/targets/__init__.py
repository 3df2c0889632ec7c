"""Kernels of a run compiled for targets, many at a time: their texts, or their passes as well."""
