"""Files as devices: they store and copy, and never compute."""
