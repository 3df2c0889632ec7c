"""Lines of LLVM IR, and how they are written."""
