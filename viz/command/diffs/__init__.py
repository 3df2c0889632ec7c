"""`uopviz diff`: two runs, or two folders of them, compared."""
