"""`TinyJit`: runs a function's kernels again without running its Python.

The first call runs as usual, the second is captured, and from the third on the captured kernels run
with the new inputs in place of the old ones, and draw new random numbers. Never compiles anything
by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, ParamSpec, TypeVar

from core.dtype import DType
from core.errors import RunError
from core.passes.schedule import ScheduleItem
from core.realize import Step, capturing, run_now, run_schedule
from core.tensor import Tensor
from core.tensor.realization import settle, settle_state
from core.uop.ops import Ops
from core.uop.uop import UOp

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Signature:
    """What the inputs of a captured call looked like: shape, dtype and device of each Tensor by
    its place among the arguments, and every other argument as it is."""

    tensors: tuple[tuple[str, tuple[int, ...], DType, str], ...]
    others: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Captured(Generic[R]):
    """One captured call: its kernels and random draws in order, the memory of its inputs, and what
    it returned."""

    signature: Signature
    steps: tuple[Step, ...]
    inputs: tuple[UOp, ...]
    result: R


class TinyJit(Generic[P, R]):
    """Decorator for a function that computes and realizes Tensors from Tensor arguments.

    The function must realize what it returns, and must not look at values on the way. The Tensors
    that it returns are the same objects in each call: take their values before the next one. Random
    numbers are those that the function itself would draw, call after call. A TinyJit may call
    another: the outer one captures the kernels that the inner one runs.

    Raises RunError where a later call has other shapes, dtypes, devices or plain arguments, and
    where the function ran no kernel.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = function
        self.calls = 0
        self.captured: Captured[R] | None = None
        functools.update_wrapper(self, function)

    def reset(self) -> None:
        """Forgets what was captured."""
        self.calls, self.captured = 0, None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        args, kwargs = stored_tensors(args), stored_tensors(kwargs)
        found = dict(arguments(args, kwargs))
        tensors = {place: x for place, x in found.items() if isinstance(x, Tensor)}
        if tensors:
            Tensor.realize(*tensors.values())
        signature = Signature(
            tuple((p, x.shape, x.dtype, x.device) for p, x in tensors.items()),
            tuple((p, x) for p, x in found.items() if not isinstance(x, Tensor)),
        )
        inputs = tuple(x.uop.base for x in tensors.values())
        self.calls += 1
        if self.calls == 1:
            return self.function(*args, **kwargs)
        if self.captured is None:
            return self._capture(signature, inputs, *args, **kwargs)
        self._check(self.captured.signature, signature)
        old = dict(zip(self.captured.inputs, inputs, strict=True))
        steps = [
            replace(step, bufs=tuple(old.get(b, b) for b in step.bufs))
            if isinstance(step, ScheduleItem)
            else step
            for step in self.captured.steps
        ]
        settle(*touched(steps))
        items: list[ScheduleItem] = []
        for step in steps:
            if isinstance(step, ScheduleItem):
                items.append(step)
            else:
                run_schedule(items)
                items = []
                run_now(step)
        run_schedule(items)
        return self.captured.result

    def _capture(
        self, signature: Signature, inputs: tuple[UOp, ...], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        if len(set(inputs)) != len(inputs):
            raise RunError(
                f"{self._name} got the same memory in two arguments",
                hint="pass a Tensor once, or .contiguous() copies of it",
            )
        settle_state(inputs)  # what waits now must not be captured
        with capturing() as steps:
            result = self.function(*args, **kwargs)
        if not any(isinstance(step, ScheduleItem) for step in steps):
            raise RunError(
                f"{self._name} ran no kernel",
                hint="a function under TinyJit has to call .realize() on what it returns",
            )
        self.captured = Captured(signature, tuple(steps), inputs, result)
        return result

    def _check(self, old: Signature, new: Signature) -> None:
        for (place, *was), (where, *now) in zip(old.tensors, new.tensors, strict=False):
            if place != where or was != now:
                raise RunError(
                    f"{self._name} was captured with {place} {_words(was)}, now it is "
                    f"{_words(now)}",
                    hint="use one TinyJit per shape, dtype and device, or call .reset()",
                )
        if old.others != new.others or len(old.tensors) != len(new.tensors):
            raise RunError(
                f"{self._name} was captured with other arguments: "
                f"{_plain(old.others)}, now {_plain(new.others)}",
                hint="plain values are frozen into the capture: pass a Tensor, or call .reset()",
            )

    @property
    def _name(self) -> str:
        return f"TinyJit of {getattr(self.function, '__name__', 'a function')}"


def arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every argument with its place; the elements of lists and tuples one by one."""
    stack: list[tuple[str, Any]] = [(f"argument {i}", x) for i, x in enumerate(args)]
    stack += [(f"argument {name}", x) for name, x in sorted(kwargs.items())]
    stack.reverse()
    while stack:
        place, x = stack.pop()
        if isinstance(x, list | tuple):
            stack.extend((f"{place}[{i}]", x[i]) for i in reversed(range(len(x))))
        else:
            yield place, x


def stored_tensors(value: Any) -> Any:
    """`value` with each Tensor in it, however deep in lists, tuples and dicts, in memory of its own
    and row-major: what was captured for one input then holds for the next. A view of a part, or in
    another order, is copied: what the function assigns to it does not reach the caller's."""
    if isinstance(value, Tensor):
        own = value._own_memory()  # pyright: ignore[reportPrivateUsage]
        return value if own else value.clone()
    if isinstance(value, list | tuple):
        return type(value)(stored_tensors(x) for x in value)
    if isinstance(value, dict):
        return {name: stored_tensors(x) for name, x in value.items()}
    return value


def touched(steps: Sequence[Step]) -> tuple[set[UOp], set[UOp]]:
    """The BUFFERs that kernels and copies among `steps` only read, and those that they write."""
    written: set[UOp] = set()
    used: set[UOp] = set()
    for item in steps:
        if not isinstance(item, ScheduleItem):
            continue
        bufs = [b.src[0] if b.op is Ops.BUFFER_VIEW else b for b in item.bufs]
        used.update(bufs)
        written.update(bufs[: len(item.ast.src) if item.ast.op is Ops.SINK else 1])
    return used - written, written


def _words(kind: list[Any]) -> str:
    shape, dtype, device = kind
    return f"{shape} {dtype} on {device}"


def _plain(others: tuple[tuple[str, Any], ...]) -> str:
    return ", ".join(f"{place} = {x!r}" for place, x in others) or "none"
