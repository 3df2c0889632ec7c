"""A kernel on NumPy arrays: shaped values by their views, loops as axes, memory with rows."""
