"""What the page asks of a run: tree, kernels, rules, timeline, search, histories."""
