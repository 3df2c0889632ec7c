"""The rules of a run: what they did, where, and at what cost."""
