"""Bools on an emulated GPU, which a compiler with a wrong rule of PTX gets wrong."""

from core import Tensor

x = Tensor([float(n) for n in range(12)], device="PTX:EMU")
y = Tensor([float(n % 4) for n in range(12)], device="PTX:EMU")
((x < 6) < (y < 2)).realize()
