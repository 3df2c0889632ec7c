"""Passes over loops: what they need not do, how they end, and which become indices of hardware."""
