"""The front end for LLVM IR, as `core/render/llvm.py` writes it for AMD GPUs.

- `lexer.py`, `cursor.py`: text to tokens, and a place among them.
- `types.py`, `module.py`: types and what a text defines, as data.
- `operands.py`, `attributes.py`, `memory_forms.py`, `instructions.py`, `parser.py`: the grammar.
- `check.py`: whether names fit together.
- `meaning.py`, `integers.py`, `floats.py`, `conversions.py`, `intrinsics.py`: what instructions
  compute, and what is left open.
- `matrix.py`: WMMA and MFMA.
- `registers.py`, `builder.py`, `storage.py`, `calls.py`, `translate.py`: from a module to a `Code`.
"""
