"""One graph_rewrite again, step by step: its slots, its bundle for the page, its failure."""
