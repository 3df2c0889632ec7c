"""Elements read and written by indices."""
