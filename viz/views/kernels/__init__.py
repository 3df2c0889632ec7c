"""The kernels of a run: what was recorded of them, and what was compiled or emulated on request."""
