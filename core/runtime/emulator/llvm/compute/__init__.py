"""What the instructions and functions of LLVM IR compute."""
