"""Whether two expressions mean the same: proved for integers, sampled for floats."""
