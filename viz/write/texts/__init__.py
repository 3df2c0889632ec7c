"""Texts on their way into a trace: of kernels, of passes, of the user's program."""
