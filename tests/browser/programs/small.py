"""One kernel."""

from core import Tensor

(Tensor.ones(4) + 2).realize()
