"""Runs a schedule: compiles each kernel once, allocates its outputs, launches, tells observers.

Never schedules and never decides what is computed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final, Protocol

from core.beam import tuned
from core.compile import compile_kernel
from core.errors import RunError, UopvizError
from core.helpers import DEBUG
from core.kernelname import kernel_name
from core.passes.optimize import settings
from core.runtime.awaited import after, awaited, before, expect_rest
from core.runtime.base import Runner
from core.runtime.buffer import Buffer, buffer_of
from core.runtime.counters import GlobalCounters
from core.runtime.device import Device
from core.target import Target
from core.toolchain.program import Program
from core.uop import Ops, UOp
from core.uop.call.givenkernel import check_ast
from core.uop.engine.observe import Observer, attached
from core.uop.patterns.policy import in_force


class Item(Protocol):
    """What `run_schedule` needs of a ScheduleItem."""

    @property
    def ast(self) -> UOp:
        """A kernel's SINK, or a COPY."""
        ...

    @property
    def bufs(self) -> tuple[UOp, ...]:
        """The BUFFER behind each argument, by number; of a COPY, (to, from)."""
        ...

    @property
    def metadata(self) -> tuple[str, ...]:
        """The user's lines and calls that asked for it."""
        ...

    @property
    def variables(self) -> Mapping[str, int]:
        """The values bound to the AST's variables."""
        ...


class Kernel:
    """A kernel ready to run on one device."""

    __slots__ = ("bytes", "flops", "name", "runner")

    def __init__(self, name: str, runner: Runner, bytes_: int, flops: int) -> None:
        self.name, self.runner, self.bytes, self.flops = name, runner, bytes_, flops


def kernel_for(ast: UOp, device: str) -> Kernel:
    """The kernel of an AST on a device, compiled and loaded at the first call (and at every call
    while a policy is in force)."""
    check_ast(ast, "kernel_for")
    if in_force() is not None:
        return _kernel(ast, device, lambda ast, target, _: compile_kernel(ast, target))
    return _kept(ast, device, settings())


@lru_cache(maxsize=8192)
def _kept(ast: UOp, device: str, setting: tuple[int | str, ...]) -> Kernel:
    return _kernel(ast, device, partial(_compiled, setting))


@lru_cache(maxsize=64)
def _compiled(_: tuple[int | str, ...], ast: UOp, target: Target, report: str) -> Program:
    """A program for devices of a kind, kept while the next ones of them are likely to want it: what
    several devices do, they do soon after each other, and a program is large."""
    return compile_kernel(ast, target, report=report)


def _kernel(ast: UOp, device: str, compiled: Callable[[UOp, Target, str], Program]) -> Kernel:
    found = Device[device]
    if found.target is None:
        name = kernel_name(ast)
        return Kernel(name, found.load_ast(ast, name), 0, 0)
    ast, report = tuned(ast, device, found.target)
    program = compiled(ast, found.target, report)
    if DEBUG and report:
        print(f"{device:>10} {program.name:<32} {report.splitlines()[0]}")
    if DEBUG.value >= 2:
        print(program.source.text)
    try:
        runner = found.load(program)
    except UopvizError as error:
        observer = attached()
        if observer is not None:
            observer.unloadable(ast, error)
        raise
    return Kernel(program.name, runner, program.bytes, program.flops)


_nothing: Final[Mapping[str, int]] = {}
BeforeLaunch = Callable[[UOp, str, Sequence[Buffer], Mapping[str, int]], None]
"""Is called with the AST of a kernel, its name, the memory of its arguments and the values of its
variables."""


class _Watching:
    """Who is called before launches: replaced as a whole, so that reading needs no lock."""

    calls: tuple[BeforeLaunch, ...] = ()
    lock = threading.Lock()


def watch_launches(call: BeforeLaunch) -> None:
    """`call` is called before each launch that is reported to observers, in all threads, while the
    memory holds what the kernel is about to read. It must not change that, nor raise."""
    with _Watching.lock:
        _Watching.calls = (*_Watching.calls, call)


def unwatch_launches(call: BeforeLaunch) -> None:
    """Ends `watch_launches`; nothing where it was not called."""
    with _Watching.lock:
        _Watching.calls = tuple(c for c in _Watching.calls if c != call)


def run_schedule(items: Sequence[Item], variables: Mapping[str, int] = _nothing) -> None:
    """Runs the items in order. Buffers that have no memory yet get it. `variables` go before those
    of an item.

    Raises RunError for memory that cannot be had, and for an item that reads what no item has
    written yet, or what compiling raises.
    """
    item, watched = None, bool(awaited)
    try:
        for item in items:
            if watched:
                before(item)
            observer = attached()
            if item.ast.op is Ops.COPY:
                _copy(item, observer)
            else:
                bound = {**item.variables, **variables} if variables else item.variables
                _launch(item, bound, observer)
            if watched:
                after(item)
    except BaseException as error:
        if item is not None:
            expect_rest(items, item, error)
        raise


def _launch(item: Item, variables: Mapping[str, int], observer: Observer | None) -> None:
    buffers = [buffer_of(u) for u in item.bufs]
    device = buffers[0].device
    kernel = kernel_for(item.ast, device)
    for buffer in buffers:
        buffer.allocate(kernel.name, item.metadata)
    GlobalCounters.launched(1, kernel.flops, kernel.bytes)
    if observer is None and not DEBUG:
        kernel.runner(buffers, variables)
        return
    for call in _Watching.calls:
        call(item.ast, kernel.name, buffers, variables)
    start = time.perf_counter_ns()
    seconds = kernel.runner(buffers, variables, wait=True)
    took = time.perf_counter_ns() - start if seconds is None else int(seconds * 1e9)
    GlobalCounters.time_sum_s += took / 1e9
    _told(kernel.name, device, took, start, kernel.bytes, kernel.flops, observer)


def _copy(item: Item, observer: Observer | None) -> None:
    if len(item.bufs) != 2:
        raise RunError(f"a copy between {len(item.bufs)} buffers", hint="give (to, from)")
    target, source = map(buffer_of, item.bufs)
    name = f"copy {source.device} to {target.device}"
    for buffer in (target, source):
        buffer.allocate(name, item.metadata)
    if observer is None and not DEBUG:
        copy_buffer(target, source)
        return
    for buffer in (source, target):  # what they did before is not the copy's time
        Device[buffer.device].synchronize()
    start = time.perf_counter_ns()
    copy_buffer(target, source)
    Device[target.device].synchronize()
    took = time.perf_counter_ns() - start
    _told(name, target.device, took, start, source.nbytes, 0, observer)


def copy_buffer(target: Buffer, source: Buffer) -> None:
    """The bytes of `source` into `target`, once what the source's device was asked for is done.
    Waits for that only where the devices cannot see to it among themselves. Raises RunError for
    different sizes."""
    if not Device[target.device].allocator.follows(Device[source.device].allocator):
        Device[source.device].synchronize()
    target.copy_from(source)


def _told(
    name: str, device: str, ns: int, start: int, nbytes: int, flops: int, observer: Observer | None
) -> None:
    if DEBUG:
        speed = f"{flops / max(ns, 1):8.2f} GFLOP/s {nbytes / max(ns, 1):8.2f} GB/s"
        print(f"{device:>10} {name:<32} {ns / 1000:10.1f} us {speed}")
    if observer is not None:
        observer.launch(name, device, ns, start, nbytes)
