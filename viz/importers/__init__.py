"""Dumps of other compilers, such as logs of MLIR, made into traces."""
