"""Optimizers: they turn gradients into assignments to parameters.

`step` runs them; `schedule_step` returns the Tensors to realize, so that one run can do the forward
pass, the backward pass and the update together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, Unpack, cast

from core.dtype import DType, dtypes, least_upper_dtype
from core.errors import DTypeError, GradientError
from core.helpers import TRAINING
from core.nn.settings import at_least_zero, decays
from core.runtime.device import Device, DeviceLike
from core.tensor import Tensor


class Placing(TypedDict, total=False):
    """What every optimizer takes besides its own settings."""

    device: DeviceLike
    """Where the learning rate and running powers are; by default where the first parameter is."""
    fused: bool
    """Accepted for compatibility; has no effect: a step is always scheduled as a whole."""


class Optimizer(ABC):
    """Parameters that may have a gradient, and a learning rate `lr`: a Tensor, so that changing it
    compiles nothing again. Tensors that require no gradient (running statistics) are only realized.

    Raises GradientError without a parameter, and DTypeError for other arguments than it takes.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float,
        device: DeviceLike = None,
        fused: bool = False,
    ) -> None:
        at_least_zero(self, lr=lr)
        params = self._checked(params)
        for p in params:
            if p.requires_grad is None and p.is_floating_point():
                p.requires_grad = True
        unique = list({id(p): p for p in params}.values())
        self.params = [p for p in unique if p.requires_grad]
        self.buffers = [p for p in unique if not p.requires_grad]
        if not self.params:
            raise GradientError(
                "an optimizer without parameters", hint="give Tensors that may require a gradient"
            )
        self.device = self.params[0].device if device is None else Device.names(device)
        self.fused = fused
        self.lr = self._number(lr)

    def _checked(self, params: Any) -> list[Tensor]:
        """The parameters one by one, whatever they come in."""
        several = isinstance(params, Iterable) and not isinstance(params, Tensor)
        found = list(cast("Iterable[object]", params)) if several else [params]
        others = [p for p in found if not isinstance(p, Tensor)]
        if others or not several:
            raise DTypeError(
                f"{type(self).__name__} of {type((others or found)[0]).__name__}",
                hint="params is a list of Tensors, as nn.state.get_parameters gives it",
            )
        return cast("list[Tensor]", found)

    def _number(self, value: float) -> Tensor:
        """A Tensor in which learning rates and running powers keep their digits, whatever the
        default float is: float32, or float64 where a parameter is."""
        dtype = least_upper_dtype(dtypes.float32, *(p.dtype for p in self.params))
        return Tensor([value], dtype=dtype, device=self.device, requires_grad=False)

    def zero_grad(self) -> None:
        """Forgets the gradients of all parameters."""
        for p in self.params:
            p.grad = None

    def step(self) -> None:
        """Changes the parameters, and runs all that is needed for it."""
        Tensor.realize(*self.schedule_step())

    def schedule_step(self) -> list[Tensor]:
        """Assigns the new values of the parameters; returns what to realize.

        Parameters without a gradient stay as they are. Raises GradientError outside of training, or
        where no parameter has a gradient.
        """
        if not TRAINING:
            raise GradientError(
                "an optimizer step outside of training",
                hint="run the loop inside `with Tensor.train():` or Context(TRAINING=1)",
            )
        active = [(p, p.grad) for p in self.params if p.grad is not None]
        if not active:
            raise GradientError("no parameter has a gradient", hint="call backward() on the loss")
        indices = {id(p): i for i, p in enumerate(self.params)}
        extra = self._begin()
        for p, grad in active:
            wide = _wide(p.dtype)
            moved = self._move(indices[id(p)], p.detach().cast(wide), grad.detach().cast(wide))
            p.assign(moved.cast(p.dtype))
        return [*extra, *self._state(), *(p for p, _ in active), *self.buffers]

    def _begin(self) -> list[Tensor]:
        """What changes once per step; returned to be realized."""
        return []

    def _state(self) -> list[Tensor]:
        """The optimizer's own Tensors, one or more per parameter."""
        return []

    @abstractmethod
    def _move(self, i: int, p: Tensor, grad: Tensor) -> Tensor:
        """The new value of parameter `i`, from its value and gradient in float32 at least."""

    def _zeros(self) -> list[Tensor]:
        """Zeros like each parameter, in float32 at least."""
        made: list[Tensor] = []
        for p in self.params:
            zeros = Tensor.zeros(p.shape, dtype=_wide(p.dtype), device=p.device)
            made.append(zeros.shard_like(p).contiguous())
        return made


def _wide(dtype: DType) -> DType:
    return dtype if dtype.bits >= 32 else dtypes.float32


def _at(number: Tensor, p: Tensor) -> Tensor:
    """A number of the optimizer, in the dtype and on the device of a parameter."""
    return number.cast(p.dtype).to(p.device)


class SGD(Optimizer):
    """Gradient descent. With momentum m: b = m b + g, and g is replaced by b, or with `nesterov` by
    g + m b. `weight_decay` adds that times the parameter to g first. `classic` multiplies g by the
    learning rate before it enters b, which differs where the rate changes.

    I. Sutskever et al., On the importance of initialization and momentum in deep learning (2013).
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        classic: bool = False,
        **placing: Unpack[Placing],
    ) -> None:
        super().__init__(params, lr, **placing)
        at_least_zero(self, momentum=momentum, weight_decay=weight_decay)
        self.momentum, self.wd, self.nesterov = momentum, weight_decay, nesterov
        self.classic = classic
        self.b = self._zeros() if momentum else []

    def _state(self) -> list[Tensor]:
        return self.b

    def _move(self, i: int, p: Tensor, grad: Tensor) -> Tensor:
        g = grad + p * self.wd if self.wd else grad
        return p - self._step(i, g, _at(self.lr, p))

    def _step(self, i: int, g: Tensor, rate: Tensor) -> Tensor:
        """How far parameter `i` goes against the gradient `g`."""
        return self._direction(i, g * rate) if self.classic else self._direction(i, g) * rate

    def _direction(self, i: int, g: Tensor) -> Tensor:
        """`g` with momentum."""
        if not self.momentum:
            return g
        kept = self.b[i]
        kept.assign(kept * self.momentum + g)
        return g + kept * self.momentum if self.nesterov else kept


class AdamW(Optimizer):
    """Adam with decoupled weight decay, https://arxiv.org/abs/1711.05101

    m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g ** 2; the parameter moves by -lr times
    m / (1 - b1 ** t) / (sqrt(v / (1 - b2 ** t)) + eps) + weight_decay * parameter.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        **placing: Unpack[Placing],
    ) -> None:
        super().__init__(params, lr, **placing)
        decays(self, b1=b1, b2=b2)
        at_least_zero(self, eps=eps, weight_decay=weight_decay)
        self.b1, self.b2, self.eps, self.wd = b1, b2, eps, weight_decay
        # 1 - b ** t, which loses digits where it is computed from b ** t
        self.bias1, self.bias2 = self._number(0.0).contiguous(), self._number(0.0).contiguous()
        self.m, self.v = self._zeros(), self._zeros()

    def _begin(self) -> list[Tensor]:
        self.bias1.assign(self.bias1 * self.b1 + (1 - self.b1))
        self.bias2.assign(self.bias2 * self.b2 + (1 - self.b2))
        return [self.bias1, self.bias2]

    def _state(self) -> list[Tensor]:
        return [*self.m, *self.v]

    def _move(self, i: int, p: Tensor, grad: Tensor) -> Tensor:
        m, v = self.m[i], self.v[i]
        m.assign(m * self.b1 + grad * (1 - self.b1))
        v.assign(v * self.b2 + grad * grad * (1 - self.b2))
        first, second = _at(self.bias1, p), _at(self.bias2, p)
        step = (m / first) / ((v / second).sqrt() + self.eps)
        step = self._scaled(p, step + p * self.wd if self.wd else step)
        return p - step * _at(self.lr, p)

    def _scaled(self, p: Tensor, step: Tensor) -> Tensor:
        """The step at learning rate 1."""
        return step


class Adam(AdamW):
    """Adam, https://arxiv.org/abs/1412.6980"""

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        **placing: Unpack[Placing],
    ) -> None:
        super().__init__(params, lr, b1, b2, eps, weight_decay=0.0, **placing)


class NAdam(AdamW):
    """Adam with Nesterov momentum, https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ

    m and v as AdamW has them; with u_t = b1 (1 - 0.96 ** (t momentum_decay) / 2) and its products
    U_t, the parameter moves by -lr times (u_(t+1) m / (1 - U_(t+1)) + (1 - u_t) g / (1 - U_t)) /
    (sqrt(v / (1 - b2 ** t)) + eps). `weight_decay` adds that times the parameter to g first.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.002,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 0.004,
        **placing: Unpack[Placing],
    ) -> None:
        super().__init__(params, lr, b1, b2, eps, weight_decay, **placing)
        at_least_zero(self, momentum_decay=momentum_decay)
        self.momentum_decay = momentum_decay
        self.steps = self._number(0.0).contiguous()
        self.product = self._number(1.0).contiguous()
        self.now, self.next = self.steps, self.steps

    def _begin(self) -> list[Tensor]:
        self.steps.assign(self.steps + 1)
        self.now, self.next = self._momentum(self.steps), self._momentum(self.steps + 1)
        self.product.assign(self.product * self.now)
        return [*super()._begin(), self.steps, self.product]

    def _momentum(self, steps: Tensor) -> Tensor:
        return self.b1 * (1 - 0.5 * (0.96 ** (steps * self.momentum_decay)))

    def _move(self, i: int, p: Tensor, grad: Tensor) -> Tensor:
        m, v = self.m[i], self.v[i]
        grad = grad + p * self.wd if self.wd else grad
        m.assign(m * self.b1 + grad * (1 - self.b1))
        v.assign(v * self.b2 + grad * grad * (1 - self.b2))
        now, later, product = (_at(n, p) for n in (self.now, self.next, self.product))
        ahead = grad * ((1 - now) / (1 - product)) + m * (later / (1 - product * later))
        return p - ahead * _at(self.lr, p) / ((v / _at(self.bias2, p)).sqrt() + self.eps)


class RMSprop(Optimizer):
    """v = alpha v + (1 - alpha) g ** 2; the parameter moves by -lr g / (sqrt(v) + eps). `centered`
    takes the square of the mean gradient from v; with momentum the steps add up as those of SGD.
    `weight_decay` adds that times the parameter to g first.

    G. Hinton, Lecture 6e of Neural Networks for Machine Learning (2012).
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        **placing: Unpack[Placing],
    ) -> None:
        super().__init__(params, lr, **placing)
        at_least_zero(self, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum)
        self.alpha, self.eps, self.wd, self.momentum = alpha, eps, weight_decay, momentum
        self.v = self._zeros()
        self.mean = self._zeros() if centered else []
        self.b = self._zeros() if momentum else []

    def _state(self) -> list[Tensor]:
        return [*self.v, *self.mean, *self.b]

    def _move(self, i: int, p: Tensor, grad: Tensor) -> Tensor:
        grad = grad + p * self.wd if self.wd else grad
        v = self.v[i]
        v.assign(v * self.alpha + grad * grad * (1 - self.alpha))
        spread = v
        if self.mean:
            self.mean[i].assign(self.mean[i] * self.alpha + grad * (1 - self.alpha))
            spread = v - self.mean[i].square()
        step = grad / (spread.sqrt() + self.eps)
        if self.b:
            self.b[i].assign(self.b[i] * self.momentum + step)
            step = self.b[i]
        return p - step * _at(self.lr, p)


class Adagrad(Optimizer):
    """v = v + g ** 2; the parameter moves by -lr / (1 + (t - 1) lr_decay) g / (sqrt(v) + eps).
    `weight_decay` adds that times the parameter to g first.

    https://jmlr.org/papers/v12/duchi11a.html
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.01,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        **placing: Unpack[Placing],
    ) -> None:
        super().__init__(params, lr, **placing)
        at_least_zero(self, lr_decay=lr_decay, weight_decay=weight_decay, eps=eps)
        at_least_zero(self, initial_accumulator_value=initial_accumulator_value)
        self.decay, self.wd, self.eps = lr_decay, weight_decay, eps
        self.steps = self._number(-1.0).contiguous()
        self.v = [(z + initial_accumulator_value).contiguous() for z in self._zeros()]

    def _begin(self) -> list[Tensor]:
        self.steps.assign(self.steps + 1)
        return [self.steps]

    def _state(self) -> list[Tensor]:
        return [*self.v]

    def _move(self, i: int, p: Tensor, grad: Tensor) -> Tensor:
        grad = grad + p * self.wd if self.wd else grad
        v = self.v[i]
        v.assign(v + grad * grad)
        rate = _at(self.lr, p) / (1 + _at(self.steps, p) * self.decay)
        return p - rate * grad / (v.sqrt() + self.eps)


def _length(x: Tensor) -> Tensor:
    return x.square().sum().sqrt()


class LARS(SGD):
    """SGD with a learning rate per layer, https://arxiv.org/abs/1708.03888

    A gradient g (of which `pre_wd` makes g + weight_decay * p first) is multiplied by `tcoef` times
    |p| / (|g| + weight_decay |p|), with the lengths of parameter and gradient, where neither is 0.
    Without `pre_wd` the parameter shrinks by lr * weight_decay by itself. The rest is `SGD`.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        momentum: float = 0.9,
        weight_decay: float = 1e-4,
        nesterov: bool = False,
        classic: bool = True,
        pre_wd: bool = True,
        tcoef: float = 0.001,
        **placing: Unpack[Placing],
    ) -> None:
        super().__init__(params, lr, momentum, weight_decay, nesterov, classic, **placing)
        self.pre_wd, self.tcoef = pre_wd, tcoef

    def _move(self, i: int, p: Tensor, grad: Tensor) -> Tensor:
        mine, other = _length(p), _length(grad)
        ratio = ((mine > 0) & (other > 0)).where(self.tcoef * mine / (other + self.wd * mine), 1)
        rate = _at(self.lr, p)
        if self.wd and self.pre_wd:
            grad = grad + p * self.wd
        kept = p if self.pre_wd else p * (1 - self.wd * rate)
        return kept - self._step(i, grad, rate * ratio)


class LAMB(AdamW):
    """Adam with a learning rate per layer, https://arxiv.org/abs/1904.00962

    The step of `AdamW`, weight decay included, is multiplied by |p| / |step|, with the lengths of
    parameter and step, where neither is 0. `adam` leaves that out, which gives AdamW.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        b1: float = 0.9,
        b2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        adam: bool = False,
        **placing: Unpack[Placing],
    ) -> None:
        super().__init__(params, lr, b1, b2, eps, weight_decay, **placing)
        self.adam = adam

    def _scaled(self, p: Tensor, step: Tensor) -> Tensor:
        if self.adam:
            return step
        mine, other = _length(p), _length(step)
        return step * ((mine > 0) & (other > 0)).where(mine / other, 1)


class Muon(SGD):
    """SGD with momentum whose steps are made orthogonal, https://kellerjordan.github.io/posts/muon/

    For parameters with two axes or more, of which all but the first count as one: the step is
    `Tensor.newton_schulz` of the step of SGD. The parameter shrinks by lr * weight_decay by itself.
    Others keep their step: give them to another optimizer.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        momentum: float = 0.95,
        weight_decay: float = 0.1,
        ns_steps: int = 5,
        ns_coefficients: Sequence[float] = (3.4445, -4.775, 2.0315),
        nesterov: bool = True,
        **placing: Unpack[Placing],
    ) -> None:
        super().__init__(params, lr, momentum, weight_decay, nesterov, **placing)
        at_least_zero(self, ns_steps=ns_steps)
        if len(ns_coefficients) != 3:
            raise DTypeError(
                f"Muon: {len(ns_coefficients)} ns_coefficients",
                hint="give those of x, x ** 3 and x ** 5",
            )
        self.ns_steps, self.ns_coefficients = ns_steps, tuple(ns_coefficients)

    def _move(self, i: int, p: Tensor, grad: Tensor) -> Tensor:
        rate = _at(self.lr, p)
        step = self._direction(i, grad)
        if p.ndim > 1 and p.numel():
            matrix = step.reshape(p.shape[0], -1)
            step = matrix.newton_schulz(self.ns_steps, self.ns_coefficients).reshape(p.shape)
        return p * (1 - self.wd * rate) - step * rate


class OptimizerGroup:
    """Several optimizers stepped together, for parameters with different settings."""

    def __init__(self, *optimizers: Optimizer) -> None:
        others = [o for o in optimizers if not isinstance(cast(object, o), Optimizer)]
        if others or not optimizers:
            raise DTypeError(
                f"OptimizerGroup of {type(others[0]).__name__ if others else 'nothing'}",
                hint="give optimizers: OptimizerGroup(one, two)",
            )
        self.optimizers = optimizers

    def zero_grad(self) -> None:
        """Forgets the gradients of all parameters."""
        for o in self.optimizers:
            o.zero_grad()

    def step(self) -> None:
        """Changes the parameters, in one run."""
        Tensor.realize(*self.schedule_step())

    def schedule_step(self) -> list[Tensor]:
        """What to realize for all of them."""
        return [t for o in self.optimizers for t in o.schedule_step()]
