"""A program of two small kernels, whose rules a test leaves out and edits."""

from __future__ import annotations

import numpy as np

from core import Tensor

x = Tensor(np.arange(64, dtype=np.float32).reshape(8, 8))
print((x @ x).tolist())
print((x * 2 + 1).tolist())
