"""Layers without weights: each is one method of Tensor, with the arguments that it is made with.

`inplace` is there for programs that give it, and changes nothing: results never overwrite inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.tensor import Tensor

Sizes = int | Sequence[int]


@dataclass(eq=False)
class ReLU:
    """max(x, 0)"""

    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.relu()


@dataclass(eq=False)
class ReLU6:
    """min(max(x, 0), 6)"""

    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.relu6()


@dataclass(eq=False)
class LeakyReLU:
    """x for x > 0, else negative_slope x"""

    negative_slope: float = 0.01
    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.leaky_relu(self.negative_slope)


@dataclass(eq=False)
class ELU:
    """x for x > 0, else alpha (e ** x - 1)"""

    alpha: float = 1.0
    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.elu(self.alpha)


@dataclass(eq=False)
class CELU:
    """x for x > 0, else alpha (e ** (x / alpha) - 1)"""

    alpha: float = 1.0
    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.celu(self.alpha)


@dataclass(eq=False)
class SELU:
    """`Tensor.selu`"""

    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.selu()


@dataclass(eq=False)
class GELU:
    """x times the share of a normal distribution below x; "tanh" is close to it"""

    approximate: str = "none"

    def __call__(self, x: Tensor) -> Tensor:
        return x.gelu(self.approximate)


@dataclass(eq=False)
class SiLU:
    """x sigmoid(x)"""

    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.silu()


@dataclass(eq=False)
class Mish:
    """x tanh(softplus(x))"""

    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.mish()


@dataclass(eq=False)
class Sigmoid:
    """1 / (1 + e ** -x)"""

    def __call__(self, x: Tensor) -> Tensor:
        return x.sigmoid()


@dataclass(eq=False)
class LogSigmoid:
    """ln(sigmoid(x))"""

    def __call__(self, x: Tensor) -> Tensor:
        return x.logsigmoid()


@dataclass(eq=False)
class Tanh:
    """tanh(x)"""

    def __call__(self, x: Tensor) -> Tensor:
        return x.tanh()


@dataclass(eq=False)
class Tanhshrink:
    """x - tanh(x)"""

    def __call__(self, x: Tensor) -> Tensor:
        return x.tanhshrink()


@dataclass(eq=False)
class Softplus:
    """ln(1 + e ** (beta x)) / beta"""

    beta: float = 1.0

    def __call__(self, x: Tensor) -> Tensor:
        return x.softplus(self.beta)


@dataclass(eq=False)
class Softsign:
    """x / (1 + |x|)"""

    def __call__(self, x: Tensor) -> Tensor:
        return x.softsign()


@dataclass(eq=False)
class Hardtanh:
    """x between two limits"""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.hardtanh(self.min_val, self.max_val)


@dataclass(eq=False)
class Hardswish:
    """x relu6(x + 3) / 6"""

    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.hardswish()


@dataclass(eq=False)
class Hardsigmoid:
    """relu6(x + 3) / 6"""

    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.hardsigmoid()


@dataclass(eq=False)
class Hardshrink:
    """0 between -lambd and lambd, else x"""

    lambd: float = 0.5

    def __call__(self, x: Tensor) -> Tensor:
        return x.hardshrink(self.lambd)


@dataclass(eq=False)
class Softshrink:
    """x moved towards 0 by lambd"""

    lambd: float = 0.5

    def __call__(self, x: Tensor) -> Tensor:
        return x.softshrink(self.lambd)


@dataclass(eq=False)
class Softmax:
    """e ** x / sum(e ** x) along an axis"""

    dim: int = -1

    def __call__(self, x: Tensor) -> Tensor:
        return x.softmax(self.dim)


@dataclass(eq=False)
class Softmin:
    """`Softmax` of -x"""

    dim: int = -1

    def __call__(self, x: Tensor) -> Tensor:
        return x.softmin(self.dim)


@dataclass(eq=False)
class LogSoftmax:
    """ln(softmax(x)) along an axis"""

    dim: int = -1

    def __call__(self, x: Tensor) -> Tensor:
        return x.log_softmax(self.dim)


@dataclass(eq=False)
class GLU:
    """the first half of an axis times the sigmoid of the second"""

    dim: int = -1

    def __call__(self, x: Tensor) -> Tensor:
        return x.glu(self.dim)


@dataclass(eq=False)
class Dropout:
    """while training 0 with probability p, else x / (1 - p)"""

    p: float = 0.5
    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.dropout(self.p)


@dataclass(eq=False)
class Flatten:
    """axes from start_dim to end_dim as one"""

    start_dim: int = 1
    end_dim: int = -1

    def __call__(self, x: Tensor) -> Tensor:
        return x.flatten(self.start_dim, self.end_dim)


@dataclass(eq=False)
class Identity:
    """x"""

    def __call__(self, x: Tensor) -> Tensor:
        return x


class PReLU:
    """x for x > 0, else weight x, with one weight or one per place along axis 1."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        self.weight = Tensor.full((num_parameters,), init).contiguous()

    def __call__(self, x: Tensor) -> Tensor:
        return x.prelu(self.weight)


class Sequential(list[Callable[[Tensor], Tensor]]):
    """Layers one after the other: a list, so that their parameters are called "0.weight" and so
    on."""

    def __init__(self, *layers: Callable[[Tensor], Tensor]) -> None:
        super().__init__(layers)

    def __call__(self, x: Tensor) -> Tensor:
        return x.sequential(self)
