"""Trains the digits with every batch cut between several devices, beside the same on one device.

Each device has all weights and its part of the images. Where gradients are summed over the batch,
the devices exchange theirs, so that all take the same step. `python examples/digits_parallel.py`
takes CPU and CPU:1; give the names of others, such as CUDA CUDA:1. With VIZ=1 in front, the page
shows a lane for each device.
"""

from __future__ import annotations

import sys

import numpy as np
from digits import BATCH, SEED, Net, training_step
from sklearn.datasets import load_digits

from core import Tensor, nn


def train(devices: tuple[str, ...], epochs: int) -> list[float]:
    """The loss of every batch, when trained on these devices."""
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    labels = digits.target.astype(np.int32)

    Tensor.manual_seed(SEED)
    net = Net()
    for weight in nn.state.get_parameters(net):
        weight.to_(devices)
    step = training_step(net)

    def placed(data: np.ndarray) -> Tensor:
        return Tensor(data).shard(devices, axis=0) if len(devices) > 1 else Tensor(data, *devices)

    losses: list[float] = []
    with Tensor.train():
        for epoch in range(epochs):
            order = np.random.default_rng(SEED + epoch).permutation(len(images))
            for start in range(0, len(order) - BATCH + 1, BATCH):
                picks = order[start : start + BATCH]
                losses.append(step(placed(images[picks]), placed(labels[picks])).item())
    return losses


def main(devices: tuple[str, ...] = ("CPU", "CPU:1"), epochs: int = 2) -> None:
    """Prints the losses on one device and on several, and how far they are apart."""
    alone, together = train(devices[:1], epochs), train(devices, epochs)
    for i in range(0, len(alone), 10):
        print(f"batch {i:3d}  loss on {devices[0]} {alone[i]:.4f}  on all {together[i]:.4f}")
    apart = max(abs(a - b) for a, b in zip(alone, together, strict=True))
    print(f"{len(alone)} batches on {', '.join(devices)}: losses at most {apart:.1e} apart")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or ("CPU", "CPU:1"))
