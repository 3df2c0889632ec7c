"""The front end for LLVM IR, as `core/render/llvm.py` writes it for AMD GPUs.

- `lexer.py`, `cursor.py`: text to tokens, and a place among them.
- `types.py`, `module.py`: types and what a text defines, as data.
- `operands.py`, `attributes.py`, `memory_forms.py`, `instructions.py`, `parser.py`: the grammar.
- `check.py`: whether names fit together.
"""
