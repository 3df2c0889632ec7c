"""What machines can do, as data: caches, bandwidths, rates, what a launch takes."""
