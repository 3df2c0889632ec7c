"""From text to machine code: LLVM, ptxas, nvdisasm, and what compiling gives."""
