"""`TinyJit`: runs a function's kernels again without running its Python.

The first call runs as usual, the second is captured, and from the third on the captured kernels run
with the new inputs in place of the old ones, and draw new random numbers. Never compiles anything
by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, cast

from core.dtype import DType
from core.errors import RunError
from core.passes.schedule import ScheduleItem
from core.realize import Step, capturing, run_batch, run_now
from core.runtime.batch import Batch
from core.tensor import Tensor
from core.tensor.base import live
from core.tensor.realization import settle_replay, settle_state
from core.uop.kernels import output_count
from core.uop.node import DeviceName
from core.uop.ops import Ops
from core.uop.parts import parts_of
from core.uop.shapes import shown
from core.uop.uop import UOp

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Signature:
    """What the inputs of a captured call looked like: for each Tensor its place among the
    arguments, shape, dtype, device, the axis along which several devices share it and the first
    place that names the same memory; and every other argument as it is."""

    tensors: tuple[tuple[str, tuple[int, ...], DType, DeviceName, int | None, str], ...]
    others: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Replay:
    """Kernels and random draws in order, with the memory of the inputs that they are for; the
    BUFFERs that they only read, and those that they write."""

    steps: tuple[Step, ...]
    inputs: tuple[UOp, ...]
    read: frozenset[UOp]
    written: frozenset[UOp]

    @classmethod
    def of(cls, steps: Sequence[Step], inputs: tuple[UOp, ...]) -> Replay:
        """Works out what the steps read and write."""
        read, written = touched(steps)
        return cls(tuple(steps), inputs, read, written)

    def clashes(self, inputs: tuple[UOp, ...]) -> bool:
        """Whether other inputs are memory that the steps use anyway, and one of the two is written:
        the order of the steps, and what each copies first, is not made for that."""
        own = (self.read | self.written).difference(self.inputs)
        return any(
            new in own and (new in self.written or old in self.written)
            for old, new in zip(self.inputs, inputs, strict=True)
        )

    def on(self, inputs: tuple[UOp, ...]) -> Replay:
        """The same for other inputs."""
        new = dict(zip(self.inputs, inputs, strict=True))
        steps = tuple(
            replace(step, bufs=tuple(_renamed(b, new) for b in step.bufs))
            if isinstance(step, ScheduleItem)
            else step
            for step in self.steps
        )
        read, written = (frozenset(new.get(b, b) for b in s) for s in (self.read, self.written))
        return Replay(steps, inputs, read - written, written)

    @functools.cached_property
    def parts(self) -> tuple[Batch | Callable[[], None], ...]:
        """The steps, kernels and copies that follow each other together."""
        found: list[Batch | Callable[[], None]] = []
        for kernels, group in groupby(self.steps, lambda step: isinstance(step, ScheduleItem)):
            steps = list(group)
            found += [Batch(cast("list[ScheduleItem]", steps))] if kernels else cast("Any", steps)
        return tuple(found)

    def run(self) -> None:
        """Runs the steps. What waits to use their memory has been settled before."""
        for part in self.parts:
            if isinstance(part, Batch):
                run_batch(part)
            else:
                run_now(part)


Returned: TypeAlias = Callable[[Mapping[str, Tensor], Mapping[UOp, UOp]], Any]
"""What a call returns, by its Tensor arguments by place, and new names for the memory of inputs."""


def returned(value: Any, places: Mapping[int, str], inputs: Collection[UOp]) -> Returned | None:
    """How later calls make what the captured one returned; None where it is the same object. An
    argument is that call's own argument, and a value that depends on inputs depends on the new.

    `places`: the places of the captured call's Tensor arguments, by `id`.
    """
    if isinstance(value, Tensor):
        uop = value.uop
        if (place := places.get(id(value))) is not None:
            return lambda tensors, new: tensors[place]
        if any(u in inputs for u in uop.toposort()):
            return lambda tensors, new: Tensor(uop.substitute(new))
        return None
    if not isinstance(value, list | tuple | dict):
        return None
    container: Any = value
    inside: Iterable[Any] = container.values() if isinstance(container, dict) else container
    parts = [(x, returned(x, places, inputs)) for x in inside]
    if all(make is None for _, make in parts):
        return None

    def made(tensors: Mapping[str, Tensor], new: Mapping[UOp, UOp]) -> Any:
        return like(container, [x if make is None else make(tensors, new) for x, make in parts])

    return made


@dataclass
class Captured(Generic[R]):
    """One captured call and what it returned, or how later calls make it; the last replay of it,
    and the version of all live graphs before which its memory was settled. `inputs`: the memory
    behind its arguments, which replays know by the parts on each device."""

    signature: Signature
    inputs: tuple[UOp, ...]
    first: Replay
    result: R | None
    returned: Returned | None
    last: Replay
    settled: int = -1


class TinyJit(Generic[P, R]):
    """Decorator for a function that computes and realizes Tensors from Tensor arguments.

    The function must realize what it returns, and must not look at values on the way. The Tensors
    that it returns are the same objects in each call: take their values before the next one. An
    argument that it returns is that of each call. Random
    numbers are those that the function itself would draw, call after call. A TinyJit may call
    another: the outer one captures the kernels that the inner one runs. Arguments that are the same
    Tensor in the captured call have to be one in later calls, and those that are not must not.

    Raises RunError where a later call has other shapes, dtypes, devices or plain arguments, or an
    argument that the function also uses by itself and one of them is written, and where the
    function ran no kernel, looks at a value, or is none.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        if not callable(function):
            raise RunError(f"TinyJit of {function!r}", hint="it decorates a function")
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
        named: dict[UOp, str] = {}
        signature = Signature(
            tuple(
                (p, x.shape, x.dtype, x.device, x.axis, named.setdefault(x.uop.base, p))
                for p, x in tensors.items()
            ),
            tuple((p, x) for p, x in found.items() if not isinstance(x, Tensor)),
        )
        inputs = tuple(named)
        self.calls += 1
        if self.calls == 1:
            return self.function(*args, **kwargs)
        if self.captured is None:
            places = {id(x): place for place, x in tensors.items()}
            return self._capture(signature, inputs, places, *args, **kwargs)
        self._check(self.captured.signature, signature)
        captured, version = self.captured, live.version()
        memory = _memory(inputs)
        if memory != captured.last.inputs:
            if captured.first.clashes(memory):
                raise RunError(
                    f"{self._name} got memory in an argument that it also uses by itself",
                    hint="pass a copy: x.clone()",
                )
            captured.last = captured.first.on(memory)
            captured.settled = -1
        if captured.settled != version:  # else nobody can wait for this memory since
            settle_replay(captured.last.read, captured.last.written)
            captured.settled = version
        captured.last.run()
        if captured.returned is None:
            return cast(R, captured.result)
        return captured.returned(tensors, dict(zip(captured.inputs, inputs, strict=True)))

    def _capture(
        self,
        signature: Signature,
        inputs: tuple[UOp, ...],
        places: Mapping[int, str],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        settle_state(inputs)  # what waits now must not be captured
        with capturing(frozen_by=self._name) as steps:
            result = self.function(*args, **kwargs)
        if not any(isinstance(step, ScheduleItem) for step in steps):
            raise RunError(
                f"{self._name} ran no kernel",
                hint="a function under TinyJit has to call .realize() on what it returns",
            )
        first = Replay.of(steps, _memory(inputs))
        make = returned(result, places, inputs)
        kept = result if make is None else None
        self.captured = Captured(signature, inputs, first, kept, make, first)
        return result

    def _check(self, old: Signature, new: Signature) -> None:
        for (place, *was), (where, *now) in zip(old.tensors, new.tensors, strict=False):
            if place != where or was != now:
                raise RunError(
                    f"{self._name} was captured with {place} {_words(place, was)}, now it is "
                    f"{_words(where, now)}",
                    hint="use one TinyJit per shape, dtype, device and arguments that are the same"
                    " Tensor, or call .reset()",
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
    """Every argument with its place; those in lists, tuples and dicts one by one."""
    stack: list[tuple[str, Any]] = [(f"argument {i}", x) for i, x in enumerate(args)]
    stack += [(f"argument {name}", x) for name, x in sorted(kwargs.items())]
    stack.reverse()
    while stack:
        place, x = stack.pop()
        if isinstance(x, list | tuple):
            stack.extend((f"{place}[{i}]", x[i]) for i in reversed(range(len(x))))
        elif isinstance(x, dict):
            stack.extend((f"{place}[{key!r}]", x[key]) for key in reversed(x))
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
        return like(value, map(stored_tensors, value))
    if isinstance(value, dict):
        return like(value, map(stored_tensors, value.values()))
    return value


def like(container: Any, elements: Iterable[Any]) -> Any:
    """A container of the same type with other elements in the same places: a list, a tuple, a named
    one, or a dict with the same keys."""
    if isinstance(container, dict):
        made = copy(cast("dict[Any, Any]", container))
        made.update(zip(made, list(elements), strict=True))
        return made
    if hasattr(container, "_make"):  # collections.namedtuple, typing.NamedTuple
        return container._make(elements)
    if isinstance(container, list):
        made_list = copy(cast("list[Any]", container))
        made_list[:] = elements
        return made_list
    return type(container)(elements)


def _memory(inputs: Iterable[UOp]) -> tuple[UOp, ...]:
    """The BUFFERs on one device each that BUFFERs are."""
    return tuple(part for buffer in inputs for part in parts_of(buffer))


def _renamed(memory: UOp, new: Mapping[UOp, UOp]) -> UOp:
    """A BUFFER, or BUFFER_VIEW of one, with new names for BUFFERs."""
    if memory.op is Ops.BUFFER_VIEW and memory.src[0] in new:
        return memory.rebuild((new[memory.src[0]],))
    return new.get(memory, memory)


def touched(steps: Sequence[Step]) -> tuple[frozenset[UOp], frozenset[UOp]]:
    """The BUFFERs that kernels and copies among `steps` only read, and those that they write."""
    written: set[UOp] = set()
    used: set[UOp] = set()
    for item in steps:
        if not isinstance(item, ScheduleItem):
            continue
        bufs = [b.src[0] if b.op is Ops.BUFFER_VIEW else b for b in item.bufs]
        used.update(bufs)
        written.update(bufs[: output_count(item.ast)])
    return frozenset(used - written), frozenset(written)


def _words(place: str, kind: list[Any]) -> str:
    shape, dtype, device, axis, first = kind
    cut = "" if axis is None else f" cut along axis {axis}"
    same = "" if first == place else f", the same Tensor as {first}"
    return f"{shape} {dtype} on {shown(device)}{cut}{same}"


def _plain(others: tuple[tuple[str, Any], ...]) -> str:
    return ", ".join(f"{place} = {_shown(x)}" for place, x in others) or "none"


def _shown(x: Any) -> str:
    if isinstance(x, UOp) and x.op is Ops.BIND:
        return f"{x.src[0].arg[0]} bound to {x.src[1].arg}"
    return repr(x)
