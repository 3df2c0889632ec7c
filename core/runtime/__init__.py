"""Memory, devices and launches: everything that happens after a kernel has been compiled."""
