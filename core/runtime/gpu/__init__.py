"""What CUDA and HIP devices have in common: memory, streams, launches and graphs over one protocol
of a driver. Names no vendor.
"""
