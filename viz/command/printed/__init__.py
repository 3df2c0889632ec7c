"""The commands that print what is in one run."""
