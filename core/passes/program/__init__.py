"""From the last graph to a linear program, and what is checked of both."""
