"""What is known of the steps of a run: kept beside its trace, and answered. Never checks."""
