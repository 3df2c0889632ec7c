"""Which values become memory, and which a kernel computes on the way."""
