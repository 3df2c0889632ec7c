"""Tensor cores: the matrix instructions of GPUs, and where their operands lie in registers."""

from __future__ import annotations

from core.tensor_cores.amd import amd_tensor_cores
from core.tensor_cores.fragment import COPY, Fragment, fragment
from core.tensor_cores.instruction import TensorCore
from core.tensor_cores.nvidia import nvidia_tensor_cores

__all__ = ["COPY", "Fragment", "TensorCore", "amd_tensor_cores", "fragment", "nvidia_tensor_cores"]
