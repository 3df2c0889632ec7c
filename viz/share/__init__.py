"""A run in other forms: an HTML file, a part of the trace, SQL tables, DOT, trace events."""
