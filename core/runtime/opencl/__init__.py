"""OPENCL: GPUs, CPUs and accelerators by way of the package `pyopencl` and their drivers."""
