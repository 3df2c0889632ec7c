"""The rules of a pass: as a trace has them, as they are installed, and at one node."""
