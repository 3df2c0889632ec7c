"""How the files and rules that a trace names have changed since the run, and who made it."""
