"""Memory, devices and launches, and the compilers from a renderer's text to machine code."""
