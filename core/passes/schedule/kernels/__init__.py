"""From a grouped graph to kernels: their views, reads, writes and arguments."""
