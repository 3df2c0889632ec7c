"""From a file that nobody vouches for to checked arrays and rows."""
