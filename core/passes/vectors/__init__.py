"""Passes over vectors: from loops to lanes, and to accesses and arithmetic as wide as the target
has."""
