"""Lines of PTX: tables by what a node does, and how they are written."""
