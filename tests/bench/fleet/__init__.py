"""A continuous integration to measure with: 1,000 runs of a compiler that changed five times."""
