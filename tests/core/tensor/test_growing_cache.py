"""A small GPT that decodes with a cache grown by `cat`: one captured graph serves all lengths."""

from __future__ import annotations

import numpy as np

from core import Tensor, TinyJit, Variable

WIDTH, HEADS, MOST, WORDS = 8, 2, 12, 11
RNG = np.random.default_rng(4)


def weights(*shape: int) -> Tensor:
    return Tensor((RNG.standard_normal(shape) * 0.4).astype(np.float32)).realize()


EMBED, QKV, OUT, HEAD = weights(WORDS, WIDTH), weights(WIDTH, 3 * WIDTH), weights(WIDTH, WIDTH), (
    weights(WIDTH, WORDS)
)  # fmt: skip


def heads(x: Tensor) -> Tensor:
    """rows, heads, width of a head"""
    return x.reshape(-1, HEADS, WIDTH // HEADS).transpose(0, 1)


def whole(words: list[int]) -> np.ndarray:
    """Scores after the last of some words, all at once and without a cache."""
    x = EMBED[Tensor(words)]
    q, k, v = (heads(part) for part in (x.layernorm() @ QKV).chunk(3, 1))
    found = q.scaled_dot_product_attention(k, v, is_causal=True)
    x = x + found.transpose(0, 1).reshape(-1, WIDTH) @ OUT
    return (x.layernorm() @ HEAD)[-1].numpy()


def test_decoding() -> None:
    cache = [Tensor.zeros(HEADS, MOST, WIDTH // HEADS).contiguous().realize() for _ in range(2)]

    @TinyJit
    def step(word: Tensor, n) -> Tensor:
        x = EMBED[word]
        q, k, v = (heads(part) for part in (x.layernorm() @ QKV).chunk(3, 1))
        longer = [old[:, :n].cat(new, dim=1) for old, new in zip(cache, (k, v), strict=True)]
        found = q.scaled_dot_product_attention(*longer)
        x = x + found.transpose(0, 1).reshape(-1, WIDTH) @ OUT
        scores = (x.layernorm() @ HEAD)[-1]
        for old, new in zip(cache, longer, strict=True):
            old[:, : n + 1].assign(new)
        Tensor.realize(scores, *cache)
        return scores

    count, words = Variable("count", 0, MOST - 1), [3, 7, 1, 1, 9, 0, 4, 2, 10, 5]
    for at, word in enumerate(words):
        got = step(Tensor([word]).realize(), count.bind(at)).numpy()
        np.testing.assert_allclose(got, whole(words[: at + 1]), rtol=2e-4, atol=2e-4)
    assert step.captured is not None
    assert step.captured.values == {"count": len(words) - 1}
