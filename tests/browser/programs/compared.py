"""A program that is recorded twice: as it is, and without the rule that LEAVE_OUT names."""

from __future__ import annotations

import os

import numpy as np

from core import Tensor
from core.uop.patterns.policy import Policy, following

x = Tensor(np.arange(64, dtype=np.float32).reshape(8, 8))
w = Tensor(np.ones((8, 8), dtype=np.float32))
with following(Policy(skip=frozenset(filter(None, [os.environ.get("LEAVE_OUT")])))):
    print(((x @ w).relu().sum(axis=1) + 1).tolist())
    print(x.max(axis=0).exp2().tolist())
    print(x.permute(1, 0).reshape(64)[3:40].tolist())
