"""What runs on request, in processes of its own: compiling and running kernels; the editor."""
