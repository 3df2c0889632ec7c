"""Whether the steps of a run are right: each replacement checked, in processes, and reported."""
