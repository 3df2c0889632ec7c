"""The engine that applies rules to a graph, what it tells observers, and why a rule fires."""
