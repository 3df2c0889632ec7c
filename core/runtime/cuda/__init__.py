"""NVIDIA GPUs through the CUDA driver API of the cuda-bindings package."""
