"""Memory as emulated kernels see it: addresses, accesses, copies, banks, races."""
