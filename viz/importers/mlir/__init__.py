"""MLIR's texts and logs, and the remarks of its passes and LLVM's."""
