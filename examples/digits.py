"""Trains a small convolutional net on real handwritten digits and says how well it reads them.

The images are the 1,797 of 8x8 pixels in scikit-learn's `load_digits` (UCI Optical Recognition of
Handwritten Digits). Run it as it is, or with VIZ=1 in front to watch every rewrite of the run.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.datasets import load_digits

from core import Context, Tensor, TinyJit, nn

BATCH, EPOCHS, TEST, SEED = 32, 25, 360, 7


class Net:
    """Two convolutions, one linear layer: 8x8 pixels -> 10 scores."""

    def __init__(self) -> None:
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.out = nn.Linear(32 * 2 * 2, 10)

    def __call__(self, images: Tensor) -> Tensor:
        x = self.conv1(images).relu().max_pool2d()
        x = self.conv2(x).relu().max_pool2d()
        return self.out(x.flatten(1))


def bar(done: int, total: int, text: str) -> None:
    """Draws a progress bar over the current line of a terminal; silent elsewhere."""
    if sys.stdout.isatty():
        filled = 24 * done // total
        print(f"\r  {'━' * filled}{'─' * (24 - filled)} {text}", end="", flush=True)


def training_step(net: Net) -> TinyJit[[Tensor, Tensor], Tensor]:
    """A step of Adam for images and their labels; gives the loss."""
    optimizer = nn.optim.Adam(nn.state.get_parameters(net), lr=0.002)

    @TinyJit
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = net(x).sparse_categorical_crossentropy(y).backward()
        return loss.realize(*optimizer.schedule_step())

    return step


def main() -> float:
    """Trains, prints a line per epoch, returns the accuracy on images that were not trained on."""
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.images))
    images = (digits.images[order] / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    labels = digits.target[order].astype(np.int32)
    train = len(images) - TEST
    test_images, test_labels = Tensor(images[train:]), labels[train:]

    Tensor.manual_seed(SEED)
    net = Net()
    step = training_step(net)

    @TinyJit
    def predict(x: Tensor) -> Tensor:
        return net(x).argmax(axis=1).realize()

    print(f"training on {train} handwritten digits, testing on {TEST}")
    start, accuracy, steps = time.perf_counter(), 0.0, train // BATCH
    for epoch in range(1, EPOCHS + 1):
        shuffled, losses = np.random.default_rng(SEED + epoch).permutation(train), []
        with Context(TRAINING=1):
            for i in range(steps):
                picks = shuffled[i * BATCH : (i + 1) * BATCH]
                losses.append(step(Tensor(images[picks]), Tensor(labels[picks])).item())
                bar(i + 1, steps, f"epoch {epoch}/{EPOCHS}  loss {losses[-1]:.3f}")
        accuracy = float((predict(test_images).numpy() == test_labels).mean())
        seconds = time.perf_counter() - start
        print(
            f"{chr(13) if sys.stdout.isatty() else ''}epoch {epoch:2d}/{EPOCHS}  "
            f"loss {np.mean(losses):.3f}  test accuracy {accuracy:.3f}  {seconds:5.1f} s" + " " * 20
        )
    return accuracy


if __name__ == "__main__":
    main()
