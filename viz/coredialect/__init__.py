"""What the explorer knows of the graphs of `core`, to show them: the adapter of its dialect."""
