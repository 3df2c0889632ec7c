"""GPT-2: trained on the bytes of a text, and sampled from with a cache of keys and values.

    python examples/gpt2.py train [TEXT] [--steps 200] [--save WEIGHTS.safetensors]
    python examples/gpt2.py sample [--weights WEIGHTS.safetensors] [--tokens 100] [--size small]

The model is that of https://openai.com/index/better-language-models/, with the names of its
published weights. Sizes: tiny (for bytes, trained in minutes), small (124 million parameters, the
published one; without a file its weights are random). One captured step decodes every position: the
position is a variable, and with it the length of the cache.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core import Context, Tensor, TinyJit, UOp, Variable, dtypes, nn

SEED = 7


@dataclass(frozen=True)
class Config:
    """Sizes of a model. The context is the most tokens that it sees at once."""

    vocabulary: int = 256
    context: int = 64
    width: int = 128
    heads: int = 4
    layers: int = 4


SIZES = {"tiny": Config(), "small": Config(50257, 1024, 768, 12, 12)}


class Projection:
    """x @ weight + bias, with the weight as GPT-2 stores it: (inputs, outputs)."""

    def __init__(self, inner: int, outer: int, scale: float = 0.02) -> None:
        self.weight = Tensor.normal(inner, outer, std=scale)
        self.bias = Tensor.zeros(outer).contiguous()

    def __call__(self, x: Tensor) -> Tensor:
        return x.linear(self.weight, self.bias)


class Attention:
    """Heads that look back. With a cache, also at what earlier calls put there: they begin at
    position 0 with any number of tokens, and go on with one at each variable position."""

    def __init__(self, config: Config) -> None:
        self.heads, self.width = config.heads, config.width
        self.c_attn = Projection(config.width, 3 * config.width)
        self.c_proj = Projection(config.width, config.width, 0.02 / math.sqrt(2 * config.layers))

    def __call__(self, x: Tensor, cache: Tensor | None, at: int | UOp) -> Tensor:
        batch, count = x.shape[:2]
        qkv = self.c_attn(x).reshape(batch, count, 3, self.heads, self.width // self.heads)
        q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
        if cache is not None:
            if count > 1 and at != 0:
                raise ValueError("several tokens at once begin at position 0")
            if isinstance(at, UOp):
                cache[:, :, :, at] = k.stack(v)[:, :, :, 0]
            else:
                cache[:, :, :, at : at + count] = k.stack(v)
            k, v = cache[0][:, :, : at + count], cache[1][:, :, : at + count]
        y = q.scaled_dot_product_attention(k, v, is_causal=count > 1)
        return self.c_proj(y.transpose(1, 2).reshape(batch, count, self.width))


class Feed:
    """Two projections with a gelu between."""

    def __init__(self, config: Config) -> None:
        self.c_fc = Projection(config.width, 4 * config.width)
        self.c_proj = Projection(
            4 * config.width, config.width, 0.02 / math.sqrt(2 * config.layers)
        )

    def __call__(self, x: Tensor) -> Tensor:
        return self.c_proj(self.c_fc(x).gelu())


class Layer:
    """Attention and projections, each beside a shortcut."""

    def __init__(self, config: Config) -> None:
        self.ln_1, self.ln_2 = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.attn, self.mlp = Attention(config), Feed(config)

    def __call__(self, x: Tensor, cache: Tensor | None, at: int | UOp) -> Tensor:
        x = x + self.attn(self.ln_1(x), cache, at)
        return x + self.mlp(self.ln_2(x))


class GPT2:
    """Tokens to scores of the next one: (batch, tokens) to (batch, tokens, vocabulary)."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.wte = nn.Embedding(config.vocabulary, config.width)
        self.wpe = nn.Embedding(config.context, config.width)
        for embedding in (self.wte, self.wpe):
            embedding.weight = Tensor.normal(*embedding.weight.shape, std=0.02)
        self.h = [Layer(config) for _ in range(config.layers)]
        self.ln_f = nn.LayerNorm(config.width)

    def __call__(
        self, tokens: Tensor, caches: list[Tensor] | None = None, at: int | UOp = 0
    ) -> Tensor:
        """With caches the tokens are those from position `at` on."""
        x = self.wte(tokens) + self.wpe(Tensor.arange(tokens.shape[1]) + at)
        for i, layer in enumerate(self.h):
            x = layer(x, caches[i] if caches else None, at)
        return self.ln_f(x).linear(self.wte.weight.transpose())


class Sampler:
    """Draws tokens from a model, one captured step for each."""

    def __init__(self, model: GPT2, temperature: float = 0.8, batch: int = 1) -> None:
        self.model, self.temperature = model, temperature
        c = model.config
        shape = (2, batch, c.heads, c.context, c.width // c.heads)
        self.position = Variable("position", 0, c.context - 1)
        self.caches = [Tensor.zeros(*shape).contiguous().realize() for _ in model.h]

    def scores(self, tokens: Tensor, at: int | UOp) -> Tensor:
        """Scores of the token after those that are given, which are at position `at` and on."""
        return self.model(tokens, self.caches, at)[:, -1]

    @TinyJit
    def step(self, tokens: Tensor, at: UOp) -> Tensor:
        """The token that is drawn after the one given, (batch, 1)."""
        return self.drawn(self.scores(tokens, at)).realize()

    def drawn(self, scores: Tensor) -> Tensor:
        """One token of each row: the likeliest at temperature 0."""
        if self.temperature == 0:
            return scores.argmax(-1, keepdim=True)
        return (scores / self.temperature).softmax().multinomial()

    def __call__(self, prompt: list[int], count: int) -> list[int]:
        """So many tokens after a prompt."""
        tokens = list(prompt)
        if not tokens or len(tokens) + count > self.model.config.context:
            raise ValueError(f"{len(tokens)} and {count} tokens, of {self.model.config.context}")
        first = Tensor([tokens], dtype=dtypes.int32)
        drawn = self.drawn(self.scores(first, 0)).realize()
        for _ in range(count - 1):
            tokens.append(int(drawn.item()))
            last = Tensor([tokens[-1:]], dtype=dtypes.int32)
            drawn = self.step(last, self.position.bind(len(tokens) - 1))
        return [*tokens, int(drawn.item())]


class Trainer:
    """A model, its optimizer, and a captured step."""

    def __init__(self, model: GPT2, lr: float = 1e-3) -> None:
        self.model, parameters = model, nn.state.get_parameters(model)
        self.optimizer = nn.optim.AdamW(parameters, lr, weight_decay=0.01)
        Tensor.realize(*parameters)

    @TinyJit
    def step(self, tokens: Tensor) -> Tensor:
        """One step: the mean loss over all tokens but the first of each row, before it."""
        self.optimizer.zero_grad()
        scores = self.model(tokens[:, :-1])
        loss = scores.sparse_categorical_crossentropy(tokens[:, 1:]).backward()
        return loss.realize(*self.optimizer.schedule_step())


def train(text: bytes, config: Config, steps: int, batch: int) -> tuple[GPT2, list[float]]:
    """Trains a model of bytes; the loss before each step."""
    Tensor.manual_seed(SEED)
    model = GPT2(config)
    trainer, random = Trainer(model), np.random.default_rng(SEED)
    data, losses = np.frombuffer(text, np.uint8).astype(np.int32), list[float]()
    start = time.perf_counter()
    with Context(TRAINING=1):
        for i in range(steps):
            begins = random.integers(0, len(data) - config.context - 1, batch)
            rows = np.stack([data[b : b + config.context + 1] for b in begins])
            losses.append(trainer.step(Tensor(rows)).item())
            if i % 20 == 19 or i == steps - 1:
                seconds = time.perf_counter() - start
                print(f"step {i + 1:4d}  loss {losses[-1]:.3f}  {seconds:6.1f} s", flush=True)
    return model, losses


def sample(model: GPT2, prompt: bytes, count: int, temperature: float) -> list[int]:
    """Tokens after a prompt of bytes, and how long one takes."""
    sampler = Sampler(model, temperature)
    start = time.perf_counter()
    tokens = sampler(list(prompt), count)
    print(f"{count} tokens in {time.perf_counter() - start:.1f} s")
    return tokens


def main(argv: list[str] | None = None) -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description="GPT-2")
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="train a tiny one on the bytes of a text")
    training.add_argument("text", nargs="?", default=__file__)
    training.add_argument("--steps", type=int, default=200)
    training.add_argument("--batch", type=int, default=16)
    training.add_argument("--save", metavar="FILE")
    sampling = commands.add_parser("sample", help="draw tokens")
    sampling.add_argument("--size", choices=SIZES, default="tiny")
    sampling.add_argument("--weights", metavar="FILE")
    sampling.add_argument("--tokens", type=int, default=40)
    for command in (training, sampling):
        command.add_argument("--prompt", default="def ")
        command.add_argument("--temperature", type=float, default=0.8)
    chosen = parser.parse_args(argv)
    if chosen.command == "train":
        text = Path(chosen.text).read_bytes()
        model, _ = train(text, SIZES["tiny"], chosen.steps, chosen.batch)
        if chosen.save:
            nn.state.safe_save(nn.state.get_state_dict(model), chosen.save)
        size, count = "tiny", 60
    else:
        Tensor.manual_seed(SEED)
        size, count = chosen.size, chosen.tokens
        model = GPT2(SIZES[size])
        if chosen.weights:
            state = nn.state.safe_load(chosen.weights)
            nn.state.load_state_dict(model, state)
    tokens = sample(model, chosen.prompt.encode(), count, chosen.temperature)
    print(bytes(tokens).decode(errors="replace") if size == "tiny" else tokens)


if __name__ == "__main__":
    main()
