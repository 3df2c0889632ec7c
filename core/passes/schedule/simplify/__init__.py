"""What is made simpler before grouping: constants, reduces, repeated and picked elements."""
