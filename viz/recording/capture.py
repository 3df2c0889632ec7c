"""Captures the values that kernels are about to read, of kernels that the user has named; and those
of captured steps (viz/recording/capturedsteps.py).

Called before each launch, and copies memory before one of each kernel, the first one if nothing
else is said, from whatever device it is on. Memory that a kernel only writes is left out: it holds
nothing of the run yet. Never raises into the program, and never keeps part of a kernel's values:
what is too large is said in place of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from weakref import WeakKeyDictionary, WeakSet

from core.errors import TraceError, UopvizError
from core.launch.run import unwatch_launches, watch_launches
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.uop.kernels import read_arguments
from core.uop.uop import UOp
from viz.format.captured import MAX_BYTES
from viz.recording.capturedsteps import StepCapture
from viz.recording.reports import StepValues, Values

Tell = Callable[[Values | StepValues], None]


@dataclass(frozen=True)
class Wanted:
    """Kernels whose names match `names`, with the wildcards of a shell, before their launch number
    `launch`, counted from 1."""

    names: str
    launch: int = 1

    def __str__(self) -> str:
        return self.names if self.launch == 1 else f"{self.names}@{self.launch}"


def wanted(text: str) -> list[Wanted]:
    """What a text such as "E_*,r_32*@100" names: the first launch of some kernels, and launch 100
    of others. Raises TraceError for what is no number of a launch."""
    found: list[Wanted] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        names, at, launch = part.partition("@")
        if at and not (launch.isascii() and launch.isdigit() and 0 < int(launch) < 1 << 62):
            raise TraceError(
                f"{part!r} names no launch of a kernel",
                where="VIZ_CAPTURE",
                hint="for example r_32* or, before their 100th launch, r_32*@100",
            )
        found.append(Wanted(names, int(launch) if at else 1))
    return found


@dataclass
class _Waiting:
    """A kernel that has not been launched often enough yet."""

    name: str
    launch: int
    launches: int = 0


class Capture:
    """The values of kernels that one of `patterns` names, the first one that does; at most `room`
    bytes in all. `tell` gets them, on the thread that launches."""

    def __init__(self, patterns: Sequence[Wanted], room: int, tell: Tell) -> None:
        self.patterns = tuple(patterns)
        self._room = self._left = room
        self._tell = tell
        self._known: WeakSet[UOp] = WeakSet()
        self._seen: WeakSet[UOp] = WeakSet()
        self._waiting: WeakKeyDictionary[UOp, _Waiting] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self.kept = 0
        """Kernels whose values were kept."""
        self.left_out: list[str] = []
        """Of those whose were not, the names with why."""
        self.steps = StepCapture(self, tell)
        """What keeps values of captured steps, in the same room."""

    def start(self) -> None:
        """Begins to watch launches and replays."""
        watch_launches(self.before_launch)
        self.steps.start()

    def stop(self) -> None:
        """Ends it; calling it again does nothing."""
        unwatch_launches(self.before_launch)
        self.steps.stop()

    def left(self) -> int:
        """Bytes that values may still take."""
        return self._left

    def use(self, count: int) -> None:
        """Takes some of them."""
        self._left -= count

    def wanted(self, name: str) -> int:
        """Which launch of the kernel, or replay of the step, of this name is asked for; 0: none."""
        return next((p.launch for p in self.patterns if fnmatchcase(name, p.names)), 0)

    def know(self, ast: UOp) -> None:
        """The trace holds this kernel. Values of others, such as those that were compiled before
        the recording began, would be of no use."""
        self._known.add(ast)

    def forget(self) -> None:
        """A new process, whose trace holds no kernel yet."""
        self._lock = threading.Lock()
        self._known.clear()
        self._seen.clear()
        self._waiting.clear()
        self.left_out.clear()
        self._left, self.kept = self._room, 0
        self.steps.forget()

    @property
    def bytes(self) -> int:
        """What was kept of all kernels."""
        return self._room - self._left - self.steps.bytes

    def before_launch(
        self, ast: UOp, name: str, buffers: Sequence[Buffer], variables: Mapping[str, int]
    ) -> None:
        """Keeps what a kernel is about to read, before the launch that was asked for."""
        if ast in self._seen:
            return
        with self._lock:
            if ast in self._seen:
                return
            waiting = self._waiting.get(ast)
            if waiting is None:
                waiting = self._waiting[ast] = _Waiting(name, self.wanted(name))
            waiting.launches += 1
            if waiting.launches < waiting.launch:
                return
            self._seen.add(ast)
            del self._waiting[ast]
            if waiting.launch:
                self._capture(ast, waiting, buffers, variables)

    def _capture(
        self, ast: UOp, of: _Waiting, buffers: Sequence[Buffer], variables: Mapping[str, int]
    ) -> None:
        name = of.name
        if ast not in self._known:
            self.left_out.append(f"{name}: the trace does not hold this kernel")
            return
        wanted = {n: buffers[n] for n in sorted(read_arguments(ast))}
        size = sum(buffer.nbytes for buffer in wanted.values())
        why = self._why_not(size)
        arguments: dict[int, tuple[str, int, bytes]] = {}
        if not why:
            try:
                arguments = {
                    n: (buffer.dtype.name, buffer.size, _content(buffer))
                    for n, buffer in wanted.items()
                }
            except (UopvizError, MemoryError) as error:  # the program itself may still go on
                why = f"they could not be copied from {buffers[0].device} ({error})"[:200]
        if why:
            self.left_out.append(f"{name}: {why}")
        else:
            self._left -= size
            self.kept += 1
        device = buffers[0].device
        self._tell(Values(ast, name, device, of.launch, arguments, dict(variables), why))

    def _why_not(self, size: int) -> str:
        if size > MAX_BYTES:
            return f"they take {bytes_text(size)}, of at most {bytes_text(MAX_BYTES)} of a kernel"
        if size > self._left:
            return (
                f"they take {bytes_text(size)}, and {bytes_text(self._left)} of "
                f"{bytes_text(self._room)} were left (VIZ_CAPTURE_MB)"
            )
        return ""

    def said(self) -> list[str]:
        """Sentences about what was captured, for the end of the run."""
        late = [
            f"{one.name}: it was launched {times(one.launches)}, and launch {one.launch:,} was "
            "asked for"
            for one in self._waiting.values()
        ]
        steps = self.steps
        missing = [*self.left_out, *late, *steps.left_out, *steps.late()]
        if not self.kept and not steps.kept and not missing:
            names = " or ".join(pattern.names for pattern in self.patterns)
            return [f"no kernel was launched that is called {names}"]
        said: list[str] = []
        if self.kept:
            count = "1 kernel" if self.kept == 1 else f"{self.kept:,} kernels"
            said.append(f"the trace holds the values that {count} read: {bytes_text(self.bytes)}")
        if steps.kept:
            count = "1 captured step" if steps.kept == 1 else f"{steps.kept:,} captured steps"
            said.append(f"the trace holds the values of {count}: {bytes_text(steps.bytes)}")
        return said + [f"values of {one}" for one in missing]


def times(count: int) -> str:
    """A number of times in words."""
    return "once" if count == 1 else f"{count:,} times"


def bytes_text(count: int) -> str:
    """A number of bytes in words."""
    return f"{count:,} bytes" if count < 100_000 else f"{count / 1e6:,.1f} MB"


def _content(buffer: Buffer) -> bytes:
    found = bytearray(buffer.nbytes)
    if found:
        Device[buffer.device].synchronize()
        buffer.copyout(memoryview(found))
    return bytes(found)
