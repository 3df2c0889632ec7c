"""Writes trace files: `TraceWriter` and its parts. Knows nothing of `core`."""
