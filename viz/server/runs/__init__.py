"""The runs of one server: their answers, kept within one budget, and what is done with them."""
