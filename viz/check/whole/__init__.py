"""Each kernel of a run once as a whole: its final text is run, and held against its AST."""
