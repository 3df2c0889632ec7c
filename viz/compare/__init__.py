"""Two runs side by side: what is the same in both, and the first thing that is not."""
