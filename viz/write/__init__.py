"""`TraceWriter`: from a compiler's reports to a trace file. Knows nothing of `core`."""
