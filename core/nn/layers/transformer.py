"""Attention as a layer, and the layers of transformers that encode.

Names, arguments and masks are PyTorch's: a bool mask is true where nothing is attended to.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

from core.dtype import dtypes
from core.errors import DTypeError, ShapeError
from core.nn.layers.norms import LayerNorm
from core.nn.layers.weights import Linear
from core.tensor import Tensor


class MultiheadAttention:
    """softmax(q k^T / sqrt(size) + mask) v of each head, https://arxiv.org/abs/1706.03762

    Inputs are (length, batch, features), with `batch_first` (batch, length, features), or (length,
    features). Raises ShapeError where the heads do not divide `embed_dim`.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ShapeError(
                f"{num_heads} heads of {embed_dim} features", hint="they must divide evenly"
            )
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.batch_first = batch_first
        sizes = (embed_dim, kdim or embed_dim, vdim or embed_dim)
        self.in_proj_weight = self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        if sizes == (embed_dim,) * 3:
            self.in_proj_weight = Tensor.glorot_uniform(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight = (
                Tensor.glorot_uniform(embed_dim, n) for n in sizes
            )
        self.in_proj_bias = Tensor.zeros(3 * embed_dim).contiguous() if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if self.out_proj.bias is not None:
            self.out_proj.bias = Tensor.zeros(embed_dim).contiguous()

    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(attention, the weights of the keys, by default their mean over the heads, or None).

        `attn_mask` is (queries, keys), or one for each head of each sample; `key_padding_mask`
        (batch, keys). Masks of numbers are added. `is_causal` without an `attn_mask` masks later
        keys. Weights are computed only where they are used, and without dropout.
        """
        if query.ndim == 2:
            axis = int(not self.batch_first)
            padded = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
            query, key, value = (x.unsqueeze(axis) for x in (query, key, value))
            found, weights = self(
                query, key, value,
                padded, need_weights, attn_mask, average_attn_weights, is_causal,
            )  # fmt: skip
            return found.squeeze(axis), None if weights is None else weights.squeeze(0)
        if not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        if query.ndim != 3 or key.shape[:2] != value.shape[:2] or len(query) != len(key):
            raise ShapeError(
                f"attention of {query.shape} to keys of {key.shape} and values of {value.shape}",
                hint="give (batch, length, features) with batch_first, else (length, batch, ...)",
            )
        q, k, v = self._heads(query, key, value)
        mask = self._mask(q, k, attn_mask, key_padding_mask)
        causal = is_causal and attn_mask is None
        if causal and mask is not None:
            mask, causal = mask + _later(q, k), False
        out = q.scaled_dot_product_attention(k, v, mask, self.dropout, is_causal=causal)
        out = self.out_proj(out.transpose(1, 2).flatten(2))
        out = out if self.batch_first else out.transpose(0, 1)
        if not need_weights:
            return out, None
        scores = q.matmul(k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
        scores = scores if mask is None else scores + mask
        weights = (scores + _later(q, k) if causal else scores).softmax(-1)
        return out, weights.mean(1) if average_attn_weights else weights

    def _heads(self, *inputs: Tensor) -> list[Tensor]:
        """Queries, keys and values as (batch, heads, length, size)."""
        n = self.embed_dim
        if self.in_proj_weight is not None:
            weights = [self.in_proj_weight[i * n : (i + 1) * n] for i in range(3)]
        else:
            given = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
            weights = [w for w in given if w is not None]
        made: list[Tensor] = []
        for i, (x, weight) in enumerate(zip(inputs, weights, strict=True)):
            bias = None if self.in_proj_bias is None else self.in_proj_bias[i * n : (i + 1) * n]
            split = x.linear(weight.transpose(), bias).unflatten(-1, (self.num_heads, -1))
            made.append(split.transpose(1, 2))
        return made

    def _mask(
        self, q: Tensor, k: Tensor, attn_mask: Tensor | None, padding: Tensor | None
    ) -> Tensor | None:
        """What is added to the scores (batch, heads, queries, keys)."""
        batch, heads, length = q.shape[:3]
        keys = k.shape[2]
        mask: Tensor | None = None
        if attn_mask is not None:
            allowed = {(length, keys), (batch * heads, length, keys)}
            if attn_mask.shape not in allowed:
                raise ShapeError(
                    f"an attention mask of {attn_mask.shape} for {length} queries, {keys} keys",
                    hint=f"give one of the shapes {sorted(allowed, key=len)}",
                )
            mask = _added(attn_mask, q)
            if mask.ndim == 3:
                mask = mask.reshape(batch, heads, length, keys)
        if padding is not None:
            if padding.shape != (batch, keys):
                raise ShapeError(
                    f"a key padding mask of {padding.shape}", hint=f"give one of {(batch, keys)}"
                )
            padded = _added(padding, q).reshape(batch, 1, 1, keys)
            mask = padded if mask is None else mask + padded
        return mask


def _added(mask: Tensor, like: Tensor) -> Tensor:
    """A mask as numbers to add: minus infinity, which fp8e4m3 has not, where nothing is attended
    to."""
    dtype = like.dtype if like.dtype.bits >= 16 else dtypes.float32
    if dtypes.is_bool(mask.dtype):
        return mask.where(-math.inf, Tensor.zeros((), dtype=dtype, device=mask.device))
    return mask.cast(dtype)


def _later(q: Tensor, k: Tensor) -> Tensor:
    """What takes later keys out."""
    shape = q.shape[-2], k.shape[-2]
    return _added(Tensor.ones(shape, dtype=dtypes.bool, device=q.device).triu(1), q)


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": Tensor.relu,
    "gelu": lambda x: x.gelu("none"),
}


class TransformerEncoderLayer:
    """Attention of a sequence to itself, then two linear layers; each is added to what it is of,
    and normalised after that, or with `norm_first` before. https://arxiv.org/abs/1706.03762

    Raises DTypeError for an activation that is neither "relu", "gelu" nor a function.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
    ) -> None:
        if isinstance(activation, str) and activation not in _ACTIVATIONS:
            raise DTypeError(
                f"an encoder with {activation!r}", hint='give "relu", "gelu" or a function'
            )
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm1, self.norm2 = (LayerNorm(d_model, layer_norm_eps) for _ in range(2))
        if not bias:
            self.norm1.bias = self.norm2.bias = None
        self.dropout, self.norm_first = dropout, norm_first
        self.activation = _ACTIVATIONS[activation] if isinstance(activation, str) else activation

    def __call__(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The encoded sequence; masks as for `MultiheadAttention`."""

        def attention(x: Tensor) -> Tensor:
            found, _ = self.self_attn(
                x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal
            )
            return found.dropout(self.dropout)

        if self.norm_first:
            x = src + attention(self.norm1(src))
            return x + self._feedforward(self.norm2(x))
        x = self.norm1(src + attention(src))
        return self.norm2(x + self._feedforward(x))

    def _feedforward(self, x: Tensor) -> Tensor:
        inner = self.activation(self.linear1(x)).dropout(self.dropout)
        return self.linear2(inner).dropout(self.dropout)


class TransformerEncoder:
    """Copies of a layer, one after the other, and a norm after the last, where one is given."""

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        self.layers = [copy.deepcopy(encoder_layer) for _ in range(num_layers)]
        self.norm = norm

    def __call__(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The encoded sequence; masks as for `MultiheadAttention`."""
        x = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, is_causal)
        return x if self.norm is None else self.norm(x)
