"""Computes one kernel per line of its standard input, so that a test decides when rows appear."""

from __future__ import annotations

import sys

from core import Tensor

for size, _ in enumerate(iter(sys.stdin.readline, ""), start=2):
    print(Tensor.arange(size).reshape(size, 1).expand(size, size).sum().item(), flush=True)
