"""The corpus of planted mistakes: wrong edits of the compiler's source, what each changes, and
whether `uopviz check` and `uopviz bisect` name it.

`mistake.py` says what an entry is, `kinds/*.toml` has those made by hand, `generated.py` makes
more, `programs.toml` has the programs that they are tried on, `trial.py` plants and tries them,
`worker.py` is what a tree with a mistake in it runs, `figures.py` counts.
"""
