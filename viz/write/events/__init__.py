"""Events of passes on their way into a trace, and what follows from them."""
