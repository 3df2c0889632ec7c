"""Lines of WGSL: tables by what a node does, how memory is laid out, and what a launch needs."""
