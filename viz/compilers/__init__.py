"""Dialects of other compilers that come with uopviz."""
