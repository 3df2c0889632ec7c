"""Judges of the steps of other compilers, whose nodes `core` cannot make again."""
