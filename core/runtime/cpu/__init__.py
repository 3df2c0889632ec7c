"""The CPU of this machine as a device."""
