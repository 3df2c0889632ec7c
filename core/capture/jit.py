"""`TinyJit`: runs a function's kernels again without running its Python.

The first call runs as usual, the second is captured, and from the third on the captured kernels run
with the new inputs in place of the old ones, and draw new random numbers. Never compiles anything
by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import (
    Any,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeAlias,
    TypeGuard,
    TypeVar,
    cast,
    overload,
)
from weakref import ref

from core.capture.captured import Replay
from core.capture.capturereport import KIND, NUMBER, captured_report
from core.dtype import DType, dtypes
from core.errors import RunError
from core.helpers import JIT, MEMORY_PLANNER, Context
from core.passes.schedule import ScheduleItem
from core.passes.schedule.kernels.kernel import ANOTHER
from core.realize import capturing
from core.runtime.device import Device
from core.tensor import Tensor
from core.tensor.calls.origin import here
from core.tensor.running.execution import own_memory
from core.tensor.running.realization import own_memory as own_memory_of
from core.tensor.running.realization import part_results, settle_replay, settle_state
from core.tensor.running.written import Writes, noting_writes
from core.tensor.state.base import TensorBase, live, tensor_of
from core.tensor.state.live import is_stored, memory_of
from core.tensor.state.storage import Storage
from core.uop.call.parts import parts_of
from core.uop.engine.observe import attached, context
from core.uop.facts.lengths import Lengths
from core.uop.facts.shapes import shown
from core.uop.node import DeviceName
from core.uop.ops import Ops
from core.uop.show import shape_text
from core.uop.uop import UOp

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Signature:
    """What the inputs of a captured call looked like: for each Tensor its place among the
    arguments, shape, lengths that are variables, unbound, dtype, device, the axis along which
    several devices share it and the first place that names the same memory; and every other
    argument as it is, variables unbound."""

    tensors: tuple[
        tuple[str, tuple[int, ...], Lengths[UOp], DType, DeviceName, int | None, str], ...
    ]
    others: tuple[tuple[str, Any], ...]


Returned: TypeAlias = Callable[[Mapping[str, Tensor], Mapping[UOp, UOp]], Any]
"""What a call returns, by its Tensor arguments by place, and new names for the memory of inputs."""


def to_store(value: Any, inputs: Collection[UOp]) -> Iterator[Tensor]:
    """The Tensors in what a captured call returns that wait and read more than `inputs`: state, or
    random numbers, which another call changes before anybody looks at them."""
    for _, x in arguments((value,), {}):
        if isinstance(x, Tensor) and not is_stored(x.uop):
            graph = x.uop.toposort()
            if any(u.op in (Ops.BUFFER, Ops.ASSIGN) and u not in inputs for u in graph):
                yield x


def store(values: Iterable[UOp]) -> None:
    """Computes values that live Tensors wait for."""
    if waiting := [tensor_of(Tensor, uop) for uop in values]:
        Tensor.realize(*waiting)


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
    behind its arguments, which replays know by the parts on each device; and its variables, bound.
    `values`: of the variables, in the last replay."""

    signature: Signature
    inputs: tuple[UOp, ...]
    first: Replay
    result: R | None
    returned: Returned | None
    last: Replay
    values: Mapping[str, int]
    settled: int = -1
    same: tuple[tuple[ref[Tensor], ...], tuple[UOp, ...], int] | None = None
    """Of the last call: its arguments, if they are Tensors and nothing else, their graphs, and the
    version of all graphs: a call of which all that holds is the same once more."""

    def is_same(self, args: Sequence[Any]) -> bool:
        """Whether a call with these arguments is the last one once more."""
        if self.same is None:
            return False
        given, graphs, version = self.same
        return (
            len(args) == len(given)
            and all(known() is x for known, x in zip(given, args, strict=True))
            and all(x.uop is u for x, u in zip(args, graphs, strict=True))
            and live.version() == version
        )


class TinyJit(Generic[P, R]):
    """Decorator for a function that computes and realizes Tensors from Tensor arguments.

    The function must realize what it returns, and must not look at values on the way. What it
    writes (`x[i] = v`, `x.assign`, `x += y`) is captured, realized or not; a Tensor that an
    attribute or a global names anew is not, as no Python runs. The Tensors
    that it returns are the same objects in each call: take their values before the next one. An
    argument that it returns is that of each call. Random
    numbers are those that the function itself would draw, call after call. A TinyJit may call
    another: the outer one captures the kernels that the inner one runs. Arguments that are the same
    Tensor in the captured call have to be one in later calls, and those that are not must not.

    On a method it captures once for each object. `prune`: what depends on no argument is computed
    in the captured call alone, as long as that made the memory for it. JIT=0 switches all off.

    Raises RunError where a later call has other shapes, dtypes, devices or plain arguments, or an
    argument that the function also uses by itself and one of them is written, and where the
    function ran no kernel, looks at a value, writes to an outer Tensor that has no memory, or is
    none.
    """

    @overload
    def __new__(cls, function: None = None, prune: bool = False) -> _Decorator: ...
    @overload
    def __new__(cls, function: Callable[P, R], prune: bool = False) -> TinyJit[P, R]: ...
    def __new__(cls, function: Callable[P, R] | None = None, prune: bool = False) -> Any:
        """With `prune` alone: the decorator."""
        if function is None:
            return functools.partial(cls, prune=prune)
        return super().__new__(cls)

    def __init__(self, function: Callable[P, R] | None = None, prune: bool = False) -> None:
        if function is None or not callable(function):
            raise RunError(f"TinyJit of {function!r}", hint="it decorates a function")
        self.function, self.prune = function, prune
        self.calls = 0
        self.captured: Captured[R] | None = None
        self._state: Writes | None = None
        """What the first call wrote."""
        self._methods: dict[int, tuple[ref[object], TinyJit[..., Any]]] = {}
        """Of each object whose method this is, by id."""
        functools.update_wrapper(self, function)

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Method[R]: ...
    def __get__(self, instance: object, owner: type | None = None) -> Self | Method[R]:
        """The method of one object, which captures by itself, and goes with the object."""
        if instance is None:
            return self
        known = self._methods.get(id(instance))
        if known is None or known[0]() is not instance:
            try:
                seen = ref(instance, functools.partial(_forget, self._methods, id(instance)))
            except TypeError:
                raise RunError(
                    f"{self._name} as a method of {type(instance).__name__}",
                    hint="nothing can refer weakly to such an object: add __weakref__ to __slots__",
                ) from None
            made = TinyJit[..., Any](_method_of(self.function, seen), self.prune)
            known = self._methods[id(instance)] = seen, made
        return Method(known[1], instance)

    def reset(self) -> None:
        """Forgets what was captured."""
        self.calls, self.captured, self._state = 0, None, None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if not JIT:
            return self.function(*args, **kwargs)
        if not kwargs and (known := self.captured) is not None and known.is_same(args):
            self.calls += 1
            known.last.run()
            return cast(R, known.result)
        args, kwargs = stored_tensors(args), stored_tensors(kwargs)
        found = dict(arguments(args, kwargs))
        tensors = {place: x for place, x in found.items() if isinstance(x, Tensor)}
        if tensors:
            Tensor.realize(*tensors.values())
        named: dict[UOp, str] = {}
        signature = Signature(
            tuple(
                (
                    p,
                    x.shape,
                    tuple((axis, n.unbound()) for axis, n in x.uop.lengths),
                    x.dtype,
                    x.device,
                    x.axis,
                    named.setdefault(memory_of(x.uop), p),
                )
                for p, x in tensors.items()
            ),
            tuple(
                (p, x.unbound() if _is_uop(x) else x)
                for p, x in found.items()
                if not isinstance(x, Tensor)
            ),
        )
        lengths = (n for x in tensors.values() for _, n in x.uop.lengths)
        bound = self._bound((*found.values(), *lengths))
        inputs = tuple(named)
        self.calls += 1
        if self.calls == 1:
            with noting_writes() as self._state:
                return self.function(*args, **kwargs)
        if self.captured is None:
            places = {id(x): place for place, x in tensors.items()}
            return self._capture(signature, inputs, bound, places, *args, **kwargs)
        self._check(self.captured.signature, signature)
        captured, version = self.captured, live.version()
        memory, values = _memory(inputs), {name: b.val for name, b in bound.items()}
        if memory != captured.last.inputs or values != captured.values:
            if captured.first.clashes(memory):
                raise RunError(
                    f"{self._name} got memory in an argument that it also uses by itself",
                    hint="pass a copy: x.clone()",
                )
            captured.last = captured.first.on(memory, values, captured.last)
            captured.values, captured.settled = values, -1
        if captured.settled != version:  # else nothing can wait for this memory since
            settle_replay(captured.last.read, captured.last.written)
            captured.settled = version
        captured.last.run()
        if captured.returned is None:
            captured.same = None
            if not kwargs and len(tensors) == len(args):
                given = tuple(tensors.values())
                captured.same = tuple(map(ref, given)), tuple(x.uop for x in given), version
            return cast(R, captured.result)
        new = dict(zip(captured.inputs, (*inputs, *bound.values()), strict=True))
        return captured.returned(tensors, new)

    def _bound(self, given: Iterable[Any]) -> dict[str, UOp]:
        """The bound variables among the arguments, by name. Raises RunError for two values."""
        found: dict[str, UOp] = {}
        for x in given:
            for b in sorted(x.vars(), key=lambda u: u.arg or u.src[0].arg) if _is_uop(x) else ():
                if b.op is Ops.BIND and found.setdefault(b.src[0].arg[0], b) is not b:
                    raise RunError(
                        f"{self._name} got two values of the variable {b.src[0].arg[0]}",
                        hint="give it one value, or use two variables",
                    )
        return dict(sorted(found.items()))

    def _capture(
        self,
        signature: Signature,
        inputs: tuple[UOp, ...],
        bound: Mapping[str, UOp],
        places: Mapping[int, str],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        settle_state(inputs)  # what waits now must not be captured
        if self._state is not None:
            state, self._state = self._state.unstored(), None
            for storage in state:
                own_memory_of(storage)
            store(storage.uop for storage in state)
        older = live.snapshot()

        def unplaced(storage: Storage[TensorBase]) -> None:
            seen = (place.tensor() for place in storage.places)
            if any(t is not None and older.get(id(t)) is t for t in seen):
                raise RunError(
                    f"{self._name} writes to a Tensor that has no memory of its own",
                    here(),
                    "later calls could not find its value: x = x.contiguous().realize() before "
                    "the first call",
                )

        before = UOp.new_buffer(Device.DEFAULT, 0, dtypes.void)
        planner = 0 if self.prune else MEMORY_PLANNER.value  # which would use memory twice
        with capturing(frozen_by=self._name) as steps, Context(MEMORY_PLANNER=planner):
            with noting_writes(unplaced) as writes:
                result = self.function(*args, **kwargs)
            store([*writes.waiting(), *(x.uop for x in to_store(result, inputs))])
            results = dict(arguments((result,), {}))
            part_results((x for x in results.values() if isinstance(x, Tensor)), inputs)
        if not any(isinstance(step, ScheduleItem) for step in steps):
            raise RunError(
                f"{self._name} ran no kernel",
                hint="a function under TinyJit has to call .realize() on what it returns",
            )
        for name in {n for s in steps if isinstance(s, ScheduleItem) for n in s.variables}:
            base, several, _ = name.partition(ANOTHER)
            if several and base in bound:
                raise RunError(
                    f"{self._name} got {base} as an argument and binds it to another value, in one "
                    "kernel",
                    hint="use two variables",
                )
        first = Replay.of(steps, _memory(inputs))
        if self.prune:
            first = first.pruned(before)
        first.name = self._name
        replaced = (*inputs, *bound.values())
        if (observer := attached()) is not None:
            with context(f"captured {self._name}", "schedule"):
                number = {NUMBER: str(first.number)}
                observer.artifact(KIND, "", *captured_report(first), number)
        make = returned(result, places, replaced)
        kept = result if make is None else None
        values = {name: b.val for name, b in bound.items()}
        self.captured = Captured(signature, replaced, first, kept, make, first, values)
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


class Method(Generic[R]):
    """A TinyJit as a method of one object."""

    def __init__(self, jit: TinyJit[..., R], instance: object) -> None:
        self.jit, self.__self__ = jit, instance

    def __call__(self, *args: Any, **kwargs: Any) -> R:
        return self.jit(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.jit, name)


class _Decorator(Protocol):
    """What makes a TinyJit of a function."""

    def __call__(self, function: Callable[P, R]) -> TinyJit[P, R]: ...


def _method_of(function: Callable[..., Any], instance: ref[object]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(instance(), *args, **kwargs)

    return call


def _forget(methods: dict[int, Any], key: int, seen: ref[object]) -> None:
    if (known := methods.get(key)) is not None and known[0] is seen:
        del methods[key]


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
        own = own_memory(value)
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


def _is_uop(x: Any) -> TypeGuard[UOp]:
    return isinstance(x, UOp)


def _memory(inputs: Iterable[UOp]) -> tuple[UOp, ...]:
    """The BUFFERs on one device each that BUFFERs are."""
    return tuple(part for buffer in inputs for part in parts_of(buffer))


def _words(place: str, kind: list[Any]) -> str:
    shape, lengths, dtype, device, axis, first = kind
    cut = "" if axis is None else f" cut along axis {axis}"
    same = "" if first == place else f", the same Tensor as {first}"
    return f"{shape_text(shape, lengths)} {dtype} on {shown(device)}{cut}{same}"


def _plain(others: tuple[tuple[str, Any], ...]) -> str:
    return ", ".join(f"{place} = {_shown(x)}" for place, x in others) or "none"


def _shown(x: Any) -> str:
    return x.render() if _is_uop(x) else repr(x)
