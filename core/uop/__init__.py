"""The IR: interned graph nodes, patterns over them, and the engine that rewrites them."""
