"""What C, CUDA C++ and HIP C++ have in common."""
