"""Derivatives of graphs by reverse mode."""
