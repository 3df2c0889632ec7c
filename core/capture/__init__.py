"""`TinyJit`: the kernels of a function, captured once and run again without its Python."""
