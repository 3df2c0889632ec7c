"""Products of matrices on tensor cores: which reduces are such products, and their opts."""
