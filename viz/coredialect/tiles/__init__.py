"""Tiles as the page draws them: where their elements lie, and what a warp reads at once."""
