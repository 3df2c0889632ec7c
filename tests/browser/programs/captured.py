"""A kernel that reads values which no random inputs hold, and one in place."""

from core import Tensor

x = Tensor([1.0, 2000.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).realize()
(x > 1500).where(x, x * 2).realize()
x.assign(x + 1).realize()
