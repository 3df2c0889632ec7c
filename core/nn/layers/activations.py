"""Layers without weights: each is one method of Tensor, with the arguments that it is made with.

`inplace` is there for programs that give it, and changes nothing: results never overwrite inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.nn.layers.method import MethodOf
from core.tensor import Tensor

Sizes = int | Sequence[int]


@dataclass(eq=False)
class ReLU(MethodOf, method="relu"):
    """max(x, 0)"""

    inplace: bool = False


@dataclass(eq=False)
class ReLU6(MethodOf, method="relu6"):
    """min(max(x, 0), 6)"""

    inplace: bool = False


@dataclass(eq=False)
class LeakyReLU:
    """x for x > 0, else negative_slope x"""

    negative_slope: float = 0.01
    inplace: bool = False

    def __call__(self, x: Tensor) -> Tensor:
        return x.leaky_relu(self.negative_slope)


@dataclass(eq=False)
class ELU(MethodOf, method="elu"):
    """x for x > 0, else alpha (e ** x - 1)"""

    alpha: float = 1.0
    inplace: bool = False


@dataclass(eq=False)
class CELU(MethodOf, method="celu"):
    """x for x > 0, else alpha (e ** (x / alpha) - 1)"""

    alpha: float = 1.0
    inplace: bool = False


@dataclass(eq=False)
class SELU(MethodOf, method="selu"):
    """`Tensor.selu`"""

    inplace: bool = False


@dataclass(eq=False)
class GELU(MethodOf, method="gelu"):
    """x times the share of a normal distribution below x; "tanh" is close to it"""

    approximate: str = "none"


@dataclass(eq=False)
class SiLU(MethodOf, method="silu"):
    """x sigmoid(x)"""

    inplace: bool = False


@dataclass(eq=False)
class Mish(MethodOf, method="mish"):
    """x tanh(softplus(x))"""

    inplace: bool = False


@dataclass(eq=False)
class Sigmoid(MethodOf, method="sigmoid"):
    """1 / (1 + e ** -x)"""


@dataclass(eq=False)
class LogSigmoid(MethodOf, method="logsigmoid"):
    """ln(sigmoid(x))"""


@dataclass(eq=False)
class Tanh(MethodOf, method="tanh"):
    """tanh(x)"""


@dataclass(eq=False)
class Tanhshrink(MethodOf, method="tanhshrink"):
    """x - tanh(x)"""


@dataclass(eq=False)
class Softplus(MethodOf, method="softplus"):
    """ln(1 + e ** (beta x)) / beta"""

    beta: float = 1.0


@dataclass(eq=False)
class Softsign(MethodOf, method="softsign"):
    """x / (1 + |x|)"""


@dataclass(eq=False)
class Hardtanh(MethodOf, method="hardtanh"):
    """x between two limits"""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


@dataclass(eq=False)
class Hardswish(MethodOf, method="hardswish"):
    """x relu6(x + 3) / 6"""

    inplace: bool = False


@dataclass(eq=False)
class Hardsigmoid(MethodOf, method="hardsigmoid"):
    """relu6(x + 3) / 6"""

    inplace: bool = False


@dataclass(eq=False)
class Hardshrink(MethodOf, method="hardshrink"):
    """0 between -lambd and lambd, else x"""

    lambd: float = 0.5


@dataclass(eq=False)
class Softshrink(MethodOf, method="softshrink"):
    """x moved towards 0 by lambd"""

    lambd: float = 0.5


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
class GLU(MethodOf, method="glu"):
    """the first half of an axis times the sigmoid of the second"""

    dim: int = -1


@dataclass(eq=False)
class Dropout(MethodOf, method="dropout"):
    """while training 0 with probability p, else x / (1 - p)"""

    p: float = 0.5
    inplace: bool = False


@dataclass(eq=False)
class Flatten(MethodOf, method="flatten"):
    """axes from start_dim to end_dim as one"""

    start_dim: int = 1
    end_dim: int = -1


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
