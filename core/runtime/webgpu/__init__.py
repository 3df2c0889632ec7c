"""WEBGPU: GPUs by way of the package `wgpu`, which has Vulkan, Metal and Direct3D 12."""
