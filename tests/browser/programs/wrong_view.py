"""Two views after each other, which a compiler with a wrong rule of schedules gets wrong."""

from core import Tensor

x = Tensor([[float(4 * row + column) for column in range(4)] for row in range(4)])
x.T.flip(0).contiguous().realize()
