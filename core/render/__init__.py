"""Renderers: from a linear program to text, with the nodes behind each line. Pure functions."""
