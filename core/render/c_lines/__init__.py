"""What C, CUDA C++, HIP C++ and OpenCL C have in common."""
