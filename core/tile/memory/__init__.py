"""Where the elements of tiles lie, and how they get there."""
