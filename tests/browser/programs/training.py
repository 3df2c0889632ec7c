"""A small net whose training step is captured, and one step that cannot run in a browser. LOSSES
names a file for the loss of each call."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from core import Context, Tensor, TinyJit, nn

LABELS = np.array([0, 3, 1, 2], np.int32)

rng = np.random.default_rng(3)
Tensor.manual_seed(3)
hidden, out = nn.Linear(12, 16), nn.Linear(16, 4)
optimizer = nn.optim.SGD([hidden.weight, hidden.bias, out.weight, out.bias], lr=0.1)


@TinyJit
def step(x: Tensor, y: Tensor) -> Tensor:
    """A step of training; gives the loss."""
    optimizer.zero_grad()
    scores = out(hidden(x).relu())
    loss = scores.sparse_categorical_crossentropy(y).backward()
    return loss.realize(*optimizer.schedule_step())


@TinyJit
def precise(x: Tensor) -> Tensor:
    """Sums in float64."""
    return x.cast("float64").sum().realize()


losses: list[float] = []
with Context(TRAINING=1):
    for _ in range(3):
        images = Tensor(rng.normal(size=(4, 12)).astype(np.float32))
        losses.append(step(images, Tensor(LABELS)).item())
        precise(images)
Path(os.environ["LOSSES"]).write_text(" ".join(map(repr, losses)))
