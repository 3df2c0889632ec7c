"""Graphs as typed data, written and read back strictly."""
