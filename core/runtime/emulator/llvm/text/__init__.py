"""LLVM IR parsed: tokens, types, operands, instructions, and a module with consistent names."""
