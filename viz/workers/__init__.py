"""Processes that answer requests one after the other, and the pool that starts and ends them."""
