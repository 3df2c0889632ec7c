"""Kernels of a trace compiled otherwise: variants, code that has changed since, and which match of
which rule made a result wrong."""
