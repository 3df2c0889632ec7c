"""The same elements seen otherwise: movement of axes, and memory shared with others."""
