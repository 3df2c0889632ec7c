"""Devices of this machine: memory, programs that are loaded, launches."""
