"""What two runs have in common: keys of nodes; which scopes, passes, steps, rules match."""
