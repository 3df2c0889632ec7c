"""Calls of methods: arguments are checked, and nodes get the line of the user that called."""
