"""An exported file without its trace: its answers, as a run."""
