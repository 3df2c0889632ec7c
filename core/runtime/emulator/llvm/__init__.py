"""The front end for LLVM IR, as `core/render/llvm.py` writes it for AMD GPUs.

- `text/` parses it into a module, and checks that its names fit together.
- `compute/`: what instructions compute, and what is left open.
- `matrix.py`: WMMA and MFMA.
- `registers.py`, `builder.py`, `storage.py`, `calls.py`, `translate.py`: from a module to a `Code`.
"""
