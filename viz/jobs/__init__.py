"""Jobs of a server, each in a process of its own, and the one that every server has: an export."""
