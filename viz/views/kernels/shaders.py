"""Kernels of a run compiled for the GPU of a browser, for an exported file: no part of the trace.

In the form `Shaders` of the page, or {"error": ApiProblem} for one that cannot be. Kept packed.
Never compiles.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Collection
from typing import Any, Final

from viz.format.jsontext import to_json

_LEVEL: Final = 1
Data = dict[str, Any]


class KernelShaders:
    """By kernel. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._packed: dict[int, bytes] = {}

    def add(self, kernel: int, made: Data) -> None:
        """Keeps those of a kernel, in place of older ones."""
        packed = gzip.compress(to_json(made), _LEVEL, mtime=0)
        with self._lock:
            self._packed[kernel] = packed

    def of(self, kernel: int) -> Data | None:
        """Those of a kernel; None where there are none."""
        with self._lock:
            packed = self._packed.get(kernel)
        return None if packed is None else json.loads(gzip.decompress(packed))

    def kernels(self) -> list[int]:
        """The numbers of the kernels of which there are some."""
        with self._lock:
            return sorted(self._packed)

    def publish(self, others: KernelShaders, kernels: Collection[int]) -> None:
        """Takes up those of some kernels for an exported file."""
        for kernel in others.kernels():
            if kernel in kernels and (made := others.of(kernel)) is not None:
                self.add(kernel, made)
