"""What follows from a node: its meaning, bounds, shape, ranges, and who uses it."""
