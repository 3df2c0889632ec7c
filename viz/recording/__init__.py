"""From what `core` reports to the writer: events, nodes, rules and programs as plain data."""
