"""Learning rates that change with the steps of training: each a formula of the number of steps.

A schedule sets the Tensor `lr` of its optimizer, so that nothing is compiled again. It is computed
anew for each step, not from the rate before: no error adds up. Names and arguments are PyTorch's.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from numbers import Real
from typing import cast

from core.errors import DTypeError
from core.nn.optim import Optimizer
from core.nn.settings import at_least_zero, between, positive
from core.tensor import Tensor


class LRScheduler(ABC):
    """A learning rate after so many calls of `step`: `rate(steps)`, with `base`, the rate that the
    optimizer had."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(cast(object, optimizer), Optimizer):
            raise DTypeError(
                f"{type(self).__name__} of {type(optimizer).__name__}",
                hint="give an optimizer; those of a group have a schedule each",
            )
        self.optimizer = optimizer
        self.base = float(optimizer.lr.item())
        self.last_epoch = last_epoch
        self.last = self.base
        self.step()

    @abstractmethod
    def rate(self, steps: int) -> float:
        """The learning rate after so many steps."""

    def step(self) -> None:
        """The rate of the next step."""
        self.last_epoch += 1
        self._set(self.rate(self.last_epoch))

    def _set(self, rate: float) -> None:
        if not isinstance(cast(object, rate), Real) or not math.isfinite(rate):
            raise DTypeError(
                f"{type(self).__name__}: the rate after {self.last_epoch} steps is {rate!r}",
                hint="a learning rate is a finite number",
            )
        self.last = rate
        self.optimizer.lr.assign([rate]).realize()

    def get_last_lr(self) -> list[float]:
        """The rate that is set, as PyTorch gives it: of one group."""
        return [self.last]


class LambdaLR(LRScheduler):
    """base * lr_lambda(steps)"""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float], last_epoch: int = -1
    ) -> None:
        self.factor = lr_lambda
        super().__init__(optimizer, last_epoch)

    def rate(self, steps: int) -> float:
        factor = self.factor(steps)
        # a value that is no number is reported unchanged
        return self.base * factor if isinstance(cast(object, factor), Real) else factor


class StepLR(LRScheduler):
    """base * gamma ** (steps // step_size)"""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        positive(self, step_size=step_size)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, steps: int) -> float:
        return self.base * self.gamma ** (steps // self.step_size)


class MultiStepLR(LRScheduler):
    """base * gamma ** (how many of the milestones have been reached)"""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, steps: int) -> float:
        return self.base * self.gamma ** sum(at <= steps for at in self.milestones)


class ConstantLR(LRScheduler):
    """base * factor for `total_iters` steps, then base"""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        between(self, 0, 1, factor=factor)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, steps: int) -> float:
        return self.base * (self.factor if steps < self.total_iters else 1)


class LinearLR(LRScheduler):
    """base times what goes from `start_factor` to `end_factor` in `total_iters` steps"""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        positive(self, total_iters=total_iters)
        between(self, 0, 1, start_factor=start_factor, end_factor=end_factor)
        self.start, self.end, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, steps: int) -> float:
        share = min(steps, self.total_iters) / self.total_iters
        return self.base * (self.start + (self.end - self.start) * share)


class ExponentialLR(LRScheduler):
    """base * gamma ** steps"""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, steps: int) -> float:
        return self.base * self.gamma**steps


class PolynomialLR(LRScheduler):
    """base * (1 - steps / total_iters) ** power, then 0"""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        positive(self, total_iters=total_iters)
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def rate(self, steps: int) -> float:
        return self.base * (1 - min(steps, self.total_iters) / self.total_iters) ** self.power


class CosineAnnealingLR(LRScheduler):
    """From base to `eta_min` in `T_max` steps along a cosine, and back,
    https://arxiv.org/abs/1608.03983"""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        positive(self, T_max=T_max)
        self.half, self.least = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, steps: int) -> float:
        return _cosine(self.base, self.least, steps / self.half)


class CosineAnnealingWarmRestarts(LRScheduler):
    """From base to `eta_min` along a cosine, again and again: in `T_0` steps, then in `T_mult`
    times as many each time, https://arxiv.org/abs/1608.03983"""

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        positive(self, T_0=T_0, T_mult=T_mult)
        self.first, self.times, self.least = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, steps: int) -> float:
        length = self.first
        while steps >= length:
            steps -= length
            length *= self.times
        return _cosine(self.base, self.least, steps / length)


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` whenever a figure that is given to `step` has not become better for
    more than `patience` steps; then it waits for `cooldown` more. `mode` "min" or "max" says what
    is better, `threshold` by how much of it (`threshold_mode` "rel") or by what ("abs")."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise DTypeError(
                f"ReduceLROnPlateau with mode {mode!r} and threshold_mode {threshold_mode!r}",
                hint='mode is "min" or "max", threshold_mode "rel" or "abs"',
            )
        between(self, 0, 1, factor=factor)
        at_least_zero(self, patience=patience, cooldown=cooldown, min_lr=min_lr, eps=eps)
        self.sign = 1 if mode == "min" else -1
        self.factor, self.patience, self.cooldown = factor, patience, cooldown
        self.threshold, self.relative = threshold, threshold_mode == "rel"
        self.least, self.eps = min_lr, eps
        self.best, self.bad, self.waiting = math.inf * self.sign, 0, 0
        super().__init__(optimizer)

    def rate(self, steps: int) -> float:
        return self.last

    def step(self, metrics: float | Tensor | None = None) -> None:
        """Looks at a figure of the last steps."""
        self.last_epoch += 1
        if metrics is None:
            return
        figure = metrics.item() if isinstance(metrics, Tensor) else float(metrics)
        margin = abs(self.best) * self.threshold if self.relative else self.threshold
        edge = self.best - self.sign * margin if math.isfinite(self.best) else self.best
        better = figure * self.sign < edge * self.sign
        self.best, self.bad = (figure, 0) if better else (self.best, self.bad + 1)
        if self.waiting:
            self.waiting, self.bad = self.waiting - 1, 0
        if self.bad > self.patience:
            new = max(self.last * self.factor, self.least)
            if self.last - new > self.eps:
                self._set(new)
            self.waiting, self.bad = self.cooldown, 0


def _cosine(most: float, least: float, share: float) -> float:
    return least + (most - least) * (1 + math.cos(math.pi * share)) / 2
