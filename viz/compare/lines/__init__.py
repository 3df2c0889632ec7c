"""Two source texts line by line."""
