"""The command line: its arguments, the names that people use, completion in shells."""
