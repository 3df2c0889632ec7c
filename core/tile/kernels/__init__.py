"""Kernels written with tiles, one or a few to a module. Each is a function of sizes and a target
that gives a kernel's graph; arguments are outputs first."""

from __future__ import annotations

from core.tile.kernels.attention import AttentionShape, attention
from core.tile.kernels.attention_backward import (
    Backward,
    attention_backward,
    attention_keys,
    attention_queries,
)
from core.tile.kernels.copy import copy
from core.tile.kernels.layer_norm import layer_norm
from core.tile.kernels.matmul import matmul
from core.tile.kernels.softmax import softmax

__all__ = [
    "AttentionShape",
    "Backward",
    "attention",
    "attention_backward",
    "attention_keys",
    "attention_queries",
    "copy",
    "layer_norm",
    "matmul",
    "softmax",
]
