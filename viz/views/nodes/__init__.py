"""Nodes across the passes of a run: their histories, lineages, and the user's lines."""
