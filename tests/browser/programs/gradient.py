"""A gradient, which a compiler with a wrong derivative gets wrong."""

import numpy as np

from core import Tensor

x = Tensor(np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4))
weights = Tensor(np.linspace(0.1, 1, 8, dtype=np.float32).reshape(4, 2))
x.requires_grad = True
(x.sin() @ weights).tanh().sum().backward()
assert x.grad is not None
x.grad.realize()
