"""Graphs as terms: what each lane of a node is, one element at a time, in a normal form."""
