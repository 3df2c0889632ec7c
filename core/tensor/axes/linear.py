"""Matrix products and the contractions built like them.

A product is a broadcast multiply and a sum: the passes below recognise it, nothing here does. Sums
accumulate as those of `sum`; `dtype` says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.dtype import DTypeLike, least_upper_dtype
from core.errors import ShapeError
from core.helpers import argsort
from core.tensor.axes.einsum import Formula
from core.tensor.axes.texels import operands_in_texels, result_in_texels
from core.tensor.elements.elementwise import fitted, operand
from core.tensor.state.base import Number
from core.tensor.views.movement import broadcast

if TYPE_CHECKING:
    from core.tensor import Tensor


def _scaled(x: Tensor, by: Number) -> Tensor:
    return x if isinstance(by, int) and by == 1 else x * by


def dot(self: Tensor, w: Tensor | Number, dtype: DTypeLike | None = None) -> Tensor:
    """The matrix product over the last axis of this and the second last of `w` (the last of a
    vector); other axes broadcast. Raises ShapeError where the two lengths differ, and for a
    number, which has no axis."""
    w = operand(self, w)
    if not self.ndim or not w.ndim:
        raise ShapeError(
            f"matrix product of shapes {self.shape} and {w.shape}",
            hint="both sides need an axis; multiply by a number with *",
        )
    axis = -min(w.ndim, 2)
    if self.shape[-1] != w.shape[axis]:
        self, turned = fitted(self, w.transpose(-1, axis))
        w = turned.transpose(-1, axis)
    if self.shape[-1] != w.shape[axis]:
        raise ShapeError(
            f"matrix product of shapes {self.shape} and {w.shape}",
            hint=f"the last axis of the left side has {self.shape[-1]} elements, axis {axis} "
            f"of the right side {w.shape[axis]}",
        )
    self, w = operands_in_texels(self, -1, w, axis)
    wide = min(self.ndim - 1, w.ndim - 1, 1)
    x = self.reshape((*self.shape[:-1], *[1] * wide, self.shape[-1]))
    y = w.reshape((*w.shape[:-2], *[1] * wide, *w.shape[axis:])).transpose(-1, axis)
    result = least_upper_dtype(x.dtype, y.dtype)
    product = (x * y).sum(-1, dtype=dtype).cast(result if dtype is None else dtype)
    return result_in_texels(product, -1) if product.ndim else product


def matmul(
    self: Tensor, x: Tensor | Number, reverse: bool = False, dtype: DTypeLike | None = None
) -> Tensor:
    """`dot`, or with `reverse` the product with `x` on the left."""
    return operand(self, x).dot(self, dtype) if reverse else self.dot(x, dtype)


def linear(
    self: Tensor, weight: Tensor, bias: Tensor | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """self @ weight + bias; a weight with one axis scales instead. `dtype` casts all first."""
    if dtype is not None:
        casted = None if bias is None else bias.cast(dtype)
        return self.cast(dtype).linear(weight.cast(dtype), casted)
    product = self * weight if weight.ndim == 1 else self.dot(weight)
    return product if bias is None else product + bias


def outer(self: Tensor, x: Tensor) -> Tensor:
    """All products of an element of this vector and one of another. Raises ShapeError for what
    is no vector."""
    if self.ndim != 1 or x.ndim != 1:
        raise ShapeError(f"outer of shapes {self.shape} and {x.shape}", hint="both are vectors")
    return self.unsqueeze(1) * x


def mm(self: Tensor, x: Tensor) -> Tensor:
    """The product of two matrices. Raises ShapeError for anything else."""
    return _of_axes(self, "mm", 2, x).matmul(x)


def bmm(self: Tensor, x: Tensor) -> Tensor:
    """The products of two stacks of matrices, one by one. Raises ShapeError for anything
    else, and for stacks of different heights."""
    if self.ndim == x.ndim == 3 and self.shape[0] != x.shape[0]:
        raise ShapeError(
            f"bmm of {self.shape[0]} and {x.shape[0]} matrices", hint="matmul broadcasts them"
        )
    return _of_axes(self, "bmm", 3, x).matmul(x)


def mv(self: Tensor, x: Tensor) -> Tensor:
    """A matrix times a vector. Raises ShapeError for anything else."""
    if x.ndim != 1:
        raise ShapeError(f"mv with shape {x.shape}", hint="give it a vector")
    return _of_axes(self, "mv", 2).matmul(x)


def addmm(self: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * self + alpha * (a @ b), of matrices a and b."""
    return _scaled(self, beta) + _scaled(a.mm(b), alpha)


def baddbmm(self: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * self + alpha * (a @ b), of stacks of matrices a and b."""
    return _scaled(self, beta) + _scaled(a.bmm(b), alpha)


def trace(self: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix. Raises ShapeError for anything else."""
    return _of_axes(self, "trace", 2).diagonal().sum()


def kron(self: Tensor, x: Tensor) -> Tensor:
    """The Kronecker product: each element of this times all of `x`."""
    axes = max(self.ndim, x.ndim)
    a, b = (t.reshape((1,) * (axes - t.ndim) + t.shape) for t in (self, x))
    wide = a.reshape([n for m in a.shape for n in (m, 1)])
    both = wide * b.reshape([n for m in b.shape for n in (1, m)])
    return both.reshape([m * n for m, n in zip(a.shape, b.shape, strict=True)])


def _of_axes(self: Tensor, name: str, axes: int, *others: Tensor) -> Tensor:
    for t in (self, *others):
        if t.ndim != axes:
            raise ShapeError(
                f"{name} of shape {t.shape}", hint=f"it takes {axes} axes; matmul takes any"
            )
    return self


def newton_schulz(self: Tensor, steps: int, params: Sequence[float], eps: float = 1e-7) -> Tensor:
    """The matrices of the last two axes, divided by their Frobenius norm, with each singular
    value s then moved `steps` times to c[0] s + c[1] s ** 3 + c[2] s ** 5 and so on, for the
    numbers c of `params`: products alone bring all of them close to 1.

    Raises ShapeError without two axes. N. Higham, Functions of Matrices (2008), chapter 8.
    """
    if self.ndim < 2 or not len(params):
        raise ShapeError(
            f"newton_schulz of {self.shape} with {len(params)} numbers",
            hint="it takes matrices, and one number or more",
        )
    wide = self.shape[-2] > self.shape[-1]
    x = self.transpose() if wide else self
    size = x.square().sum((-2, -1), keepdim=True).sqrt()
    x = x / (size + eps)
    for _ in range(steps):
        squares = x.matmul(x.transpose())
        term, total = x, x * params[0]
        for c in params[1:]:
            term = squares.matmul(term)
            total = total + term * c
        x = total
    return x.transpose() if wide else x


@classmethod
def einsum(
    cls: type[Tensor],
    formula: str,
    *operands: Tensor | Sequence[Tensor],
    dtype: DTypeLike | None = None,
) -> Tensor:
    """The sum of products that an Einstein formula such as "ij,jk->ik" says.

    A letter twice in one operand takes its diagonal; "..." stands for the axes not named.
    Without "->", letters that occur once are the result, in alphabetical order. Raises
    ShapeError for a formula that does not fit the operands.
    """
    given = [[t] if isinstance(t, cls) else t for t in operands]
    tensors = [t for part in given if isinstance(part, Sequence) for t in part]
    parsed = Formula.parse(formula, [t.shape for t in tensors])
    letters = parsed.letters
    total: Tensor | None = None
    for tensor, names in zip(tensors, parsed.inputs, strict=True):
        aligned = _aligned(tensor, names, letters)
        total = aligned if total is None else total * aligned
    assert total is not None  # parse wants an operand
    sizes = [parsed.sizes[c] for c in letters]
    summed = tuple(i for i, c in enumerate(letters) if c not in parsed.output)
    kept = [c for c in letters if c in parsed.output]
    result = broadcast(total, sizes)
    if summed:
        result = result.sum(summed, dtype=dtype).cast(dtype or total.dtype)
    return result.permute([kept.index(c) for c in parsed.output])


def _aligned(self: Tensor, names: str, letters: str) -> Tensor:
    """Axes called `names` put in the order of `letters`, length 1 where a letter is missing."""
    x = self
    while len(set(names)) < len(names):
        again = next(c for c in names if names.count(c) > 1)
        first, second = names.index(again), names.rindex(again)
        x = x.diagonal(0, first, second)
        names = "".join(c for i, c in enumerate(names) if i not in (first, second)) + again
    x = x.permute(argsort([letters.index(c) for c in names]))
    lengths = dict(zip(sorted(names, key=letters.index), x.shape, strict=True))
    return x.reshape([lengths.get(c, 1) for c in letters])
