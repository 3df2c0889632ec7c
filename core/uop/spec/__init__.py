"""What graphs may hold at each stage, as rules."""
