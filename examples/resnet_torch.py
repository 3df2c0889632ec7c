"""Makes weights for examples/resnet.py with PyTorch, and says how PyTorch classifies an image.

    python examples/resnet_torch.py WEIGHTS.safetensors IMAGE.npy [--width 64] [--size 224]
    python examples/resnet.py classify WEIGHTS.safetensors --image IMAGE.npy

The weights are random, the running figures those of a few random batches.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

import core as uopviz
from core.nn.state import safe_save


class Block(nn.Module):
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.downsample = nn.Sequential()
        if stride != 1 or inner != outer:
            shortcut = nn.Conv2d(inner, outer, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(outer))

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn1(self.conv1(x)).relu()
        return (self.bn2(self.conv2(y)) + self.downsample(x)).relu()


class ResNet(nn.Module):
    """The net of examples/resnet.py."""

    def __init__(
        self, classes: int = 1000, width: int = 64, blocks: Sequence[int] = (2, 2, 2, 2)
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        inner = width
        for i in range(4):
            stage = nn.Sequential()
            for k in range(blocks[i] if i < len(blocks) else 0):
                stage.append(Block(inner, width << i, 2 if i and not k else 1))
                inner = width << i
            self.add_module(f"layer{i + 1}", stage)
        self.fc = nn.Linear(inner, classes)

    def forward(self, images: Tensor) -> Tensor:
        x = self.bn1(self.conv1(images)).relu()
        x = nn.functional.max_pool2d(x, 3, 2, padding=1)
        for i in range(4):
            x = self.get_submodule(f"layer{i + 1}")(x)
        return self.fc(x.mean((2, 3)))


def main(argv: list[str] | None = None) -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description="ResNet-18 in PyTorch")
    parser.add_argument("weights")
    parser.add_argument("image")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--size", type=int, default=224)
    chosen = parser.parse_args(argv)
    torch.manual_seed(7)
    net = ResNet(width=chosen.width)
    with torch.no_grad():
        for _ in range(3):
            net(torch.randn(8, 3, 64, 64))
        net.eval()
        image = torch.randn(3, chosen.size, chosen.size)
        scores = net(image[None])[0].softmax(0)
    state = {name: uopviz.Tensor(value.numpy()) for name, value in net.state_dict().items()}
    safe_save(state, chosen.weights)
    np.save(chosen.image, image.numpy())
    values, classes = scores.topk(5)
    for p, c in zip(values.tolist(), classes.tolist(), strict=True):
        print(f"class {c:4d}  {p:.6f}")


if __name__ == "__main__":
    main()
