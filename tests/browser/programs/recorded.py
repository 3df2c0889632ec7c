"""The program whose trace most browser tests look at: a few kernels, quick to record."""

from __future__ import annotations

import numpy as np

from core import Tensor

x = Tensor(np.arange(64, dtype=np.float32).reshape(8, 8))
w = Tensor(np.ones((8, 8), dtype=np.float32))
print(((x @ w).relu().sum(axis=1) + 1).tolist())
print(x.max(axis=0).exp2().tolist())
