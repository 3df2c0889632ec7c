"""Warm steps of ResNet-18 and GPT-2: those of `examples/`, captured, and the same nets in PyTorch.

PyTorch's are written as one would there: its own layers, its fused attention, an optimizer that
steps over all parameters together.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

Step = Callable[[], Any]
_LAYERS, _WIDTH, _HEADS, _VOCABULARY, _CONTEXT = 4, 32, 4, 64, 64


def steps(torch: Any) -> list[tuple[str, Step, Step]]:
    """By name: a step here, and there."""
    core: Any = importlib.import_module("core")
    return [
        *_resnets(torch, core),
        ("step of GPT-2, 4 layers of 32, 2x32 tokens", _gpt_here(core), _gpt_there(torch)),
        ("token of GPT-2, with a cache", _token_here(core), _token_there(torch)),
    ]


def _resnets(torch: Any, core: Any) -> list[tuple[str, Step, Step]]:
    example: Any = importlib.import_module("examples.resnet")
    found: list[tuple[str, Step, Step]] = []
    for width, batch, size in ((8, 2, 32), (64, 4, 64)):
        core.Tensor.manual_seed(1)
        trainer = example.Trainer(example.ResNet(10, width))
        images = core.Tensor.randn(batch, 3, size, size).realize()
        labels = core.Tensor.randint(batch, high=10).realize()

        def here(trainer: Any = trainer, images: Any = images, labels: Any = labels) -> float:
            with core.Context(TRAINING=1):
                return trainer.step(images, labels).item()

        name = f"step of ResNet-18, {width} channels, {batch}x3x{size}x{size}"
        found.append((name, here, _resnet_there(torch, width, batch, size)))
    return found


def _resnet_there(torch: Any, width: int, batch: int, size: int) -> Step:
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, inner: int, outer: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
            self.bn1, self.bn2 = nn.BatchNorm2d(outer), nn.BatchNorm2d(outer)
            self.shortcut = nn.Identity()
            if stride != 1 or inner != outer:
                shortcut = nn.Conv2d(inner, outer, 1, stride, bias=False)
                self.shortcut = nn.Sequential(shortcut, nn.BatchNorm2d(outer))

        def forward(self, x: Any) -> Any:
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + self.shortcut(x))

    blocks: list[Any] = []
    inner = width
    for i in range(4):
        for k in range(2):
            blocks.append(Block(inner, width << i, 2 if i and not k else 1))
            inner = width << i
    begin = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    end = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inner, 10)]
    net = nn.Sequential(*begin, nn.MaxPool2d(3, 2, 1), *blocks, *end)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)
    images, labels = torch.randn(batch, 3, size, size), torch.randint(10, (batch,))
    return _training(optimizer, lambda: F.cross_entropy(net(images), labels))


def _training(optimizer: Any, loss_of: Callable[[], Any]) -> Step:
    def step() -> float:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _gpt_here(core: Any) -> Step:
    example: Any = importlib.import_module("examples.gpt2")
    config = example.Config(_VOCABULARY, 32, _WIDTH, _HEADS, _LAYERS)
    trainer = example.Trainer(example.GPT2(config))
    tokens = core.Tensor.randint(2, 33, high=_VOCABULARY).realize()

    def step() -> float:
        with core.Context(TRAINING=1):
            return trainer.step(tokens).item()

    return step


def _token_here(core: Any) -> Step:
    example: Any = importlib.import_module("examples.gpt2")
    config = example.Config(_VOCABULARY, _CONTEXT, _WIDTH, _HEADS, _LAYERS)
    sampler = example.Sampler(example.GPT2(config))
    sampler([1, 2, 3], 4)

    def token() -> int:
        last = core.Tensor([[3]], dtype=core.dtypes.int32)
        return int(sampler.step(last, sampler.position.bind(20)).item())

    return token


def _gpt(torch: Any) -> Any:
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(_WIDTH), nn.LayerNorm(_WIDTH)
            self.qkv, self.out = nn.Linear(_WIDTH, 3 * _WIDTH), nn.Linear(_WIDTH, _WIDTH)
            self.up, self.down = nn.Linear(_WIDTH, 4 * _WIDTH), nn.Linear(4 * _WIDTH, _WIDTH)

        def forward(self, x: Any, cache: Any, at: int) -> Any:
            batch, count, width = x.shape
            q, k, v = (
                part.view(batch, count, _HEADS, width // _HEADS).transpose(1, 2)
                for part in self.qkv(self.ln1(x)).split(width, 2)
            )
            if cache is not None:
                cache[0][:, :, at : at + count], cache[1][:, :, at : at + count] = k, v
                k, v = (held[:, :, : at + count] for held in cache)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None)
            x = x + self.out(y.transpose(1, 2).reshape(batch, count, width))
            return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wte = nn.Embedding(_VOCABULARY, _WIDTH)
            self.wpe = nn.Embedding(_CONTEXT, _WIDTH)
            self.blocks = nn.ModuleList(Block() for _ in range(_LAYERS))
            self.ln = nn.LayerNorm(_WIDTH)

        def forward(self, tokens: Any, caches: Any = None, at: int = 0) -> Any:
            x = self.wte(tokens) + self.wpe(torch.arange(at, at + tokens.shape[1]))
            for i, block in enumerate(self.blocks):
                x = block(x, caches[i] if caches else None, at)
            return self.ln(x) @ self.wte.weight.T

    return Net()


def _gpt_there(torch: Any) -> Step:
    net, F = _gpt(torch), torch.nn.functional
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.01)
    tokens = torch.randint(_VOCABULARY, (2, 33))

    def loss() -> Any:
        scores = net(tokens[:, :-1]).reshape(-1, _VOCABULARY)
        return F.cross_entropy(scores, tokens[:, 1:].reshape(-1))

    return _training(optimizer, loss)


def _token_there(torch: Any) -> Step:
    net, shape = _gpt(torch), (1, _HEADS, _CONTEXT, _WIDTH // _HEADS)
    caches = [[torch.zeros(shape) for _ in range(2)] for _ in range(_LAYERS)]

    def token() -> int:
        with torch.no_grad():
            scores = net(torch.tensor([[3]]), caches, 20)[:, -1] / 0.8
            return int(torch.multinomial(scores.softmax(-1), 1).item())

    return token
