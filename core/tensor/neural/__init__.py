"""Functions of neural networks: windows, losses, attention."""
