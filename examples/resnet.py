"""ResNet-18 (https://arxiv.org/abs/1512.03385): training steps, and inference by weights in a file.

    python examples/resnet.py train [--steps 5] [--batch 8] [--size 64] [--width 64]
    python examples/resnet.py classify WEIGHTS.safetensors [--image IMAGE.npy]

Parameters have PyTorch's names, so a file of torchvision's weights is one to classify with;
`examples/resnet_torch.py` makes one with PyTorch. Without an image, those here are random: what
counts are the times and, with VIZ=1 in front, the kernels.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

from core import Context, Tensor, TinyJit, nn

SEED = 7


class Block:
    """Two 3x3 convolutions beside a shortcut."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.downsample: list[Callable[[Tensor], Tensor]] = []
        if stride != 1 or inner != outer:
            shortcut = nn.Conv2d(inner, outer, 1, stride, bias=False)
            self.downsample = [shortcut, nn.BatchNorm2d(outer)]

    def __call__(self, x: Tensor) -> Tensor:
        y = self.bn1(self.conv1(x)).relu()
        y = self.bn2(self.conv2(y))
        return (y + x.sequential(self.downsample)).relu()


class ResNet:
    """Stages of blocks, each of twice the channels at half the size: four of two are 18 layers."""

    def __init__(
        self, classes: int = 1000, width: int = 64, blocks: Sequence[int] = (2, 2, 2, 2)
    ) -> None:
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        stages: list[list[Block]] = [[], [], [], []]
        inner = width
        for i, count in enumerate(blocks):
            outer = width << i
            for k in range(count):
                stages[i].append(Block(inner, outer, 2 if i and not k else 1))
                inner = outer
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.fc = nn.Linear(inner, classes)

    def __call__(self, images: Tensor) -> Tensor:
        x = self.bn1(self.conv1(images)).relu().max_pool2d((3, 3), 2, padding=1)
        x = x.sequential([*self.layer1, *self.layer2, *self.layer3, *self.layer4])
        return self.fc(x.mean((2, 3)))


class Trainer:
    """A ResNet, its optimizer, and a captured step."""

    def __init__(self, net: ResNet, lr: float = 0.01) -> None:
        self.net = net
        parameters = nn.state.get_parameters(net)
        self.optimizer = nn.optim.SGD(parameters, lr, momentum=0.9, weight_decay=1e-4)
        Tensor.realize(*nn.state.get_state_dict(net).values())

    @TinyJit
    def step(self, images: Tensor, labels: Tensor) -> Tensor:
        """One step of gradient descent: the loss before it."""
        self.optimizer.zero_grad()
        loss = self.net(images).sparse_categorical_crossentropy(labels).backward()
        return loss.realize(*self.optimizer.schedule_step())


def train(steps: int, batch: int, size: int, width: int) -> list[float]:
    """Trains on random images and labels, a batch again and again; the loss before each step."""
    Tensor.manual_seed(SEED)
    trainer = Trainer(ResNet(classes=10, width=width))
    images = Tensor.randn(batch, 3, size, size).realize()
    labels = Tensor.randint(batch, high=10).realize()
    losses: list[float] = []
    with Context(TRAINING=1):
        for i in range(steps):
            start = time.perf_counter()
            losses.append(trainer.step(images, labels).item())
            print(f"step {i + 1}  loss {losses[-1]:.3f}  {time.perf_counter() - start:6.2f} s")
    return losses


def classify(weights: str, image: Tensor) -> Tensor:
    """The probabilities of the classes of an image (3, height, width), by the weights in a file,
    whose sizes say those of the net."""
    state = nn.state.safe_load(weights)
    net = ResNet(classes=state["fc.weight"].shape[0], width=state["conv1.weight"].shape[0])
    nn.state.load_state_dict(net, state)
    start = time.perf_counter()
    scores = net(image.unsqueeze(0)).softmax()[0].realize()
    values, classes = scores.topk(5)
    for p, c in zip(values.tolist(), classes.tolist(), strict=True):
        print(f"class {c:4d}  {p:.6f}")
    print(f"{time.perf_counter() - start:.2f} s")
    return scores


def main(argv: list[str] | None = None) -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description="ResNet-18")
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="train on random images")
    for option, value in (("steps", 5), ("batch", 8), ("size", 64), ("width", 64)):
        training.add_argument(f"--{option}", type=int, default=value)
    classifying = commands.add_parser("classify", help="the classes of an image")
    classifying.add_argument("weights")
    classifying.add_argument("--image", help="a NumPy file: float32 of (3, height, width)")
    chosen = parser.parse_args(argv)
    if chosen.command == "train":
        train(chosen.steps, chosen.batch, chosen.size, chosen.width)
    else:
        image = Tensor(np.load(chosen.image)) if chosen.image else Tensor.randn(3, 224, 224)
        classify(chosen.weights, image)


if __name__ == "__main__":
    main()
