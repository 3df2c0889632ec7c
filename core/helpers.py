"""Small functions that every layer uses, and the one typed table of environment variables.

Knows nothing of graphs, tensors or devices.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ContextDecorator, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import ClassVar, Final, TextIO, TypeVar

from core.errors import EnvError

T = TypeVar("T")


def prod(values: Iterable[int]) -> int:
    """The product; 1 for nothing."""
    return functools.reduce(operator.mul, values, 1)


def ceildiv(a: int, b: int) -> int:
    """a / b rounded up."""
    return -(-a // b)


def argsort(order: Iterable[int]) -> tuple[int, ...]:
    """The inverse of a permutation."""
    items = tuple(order)
    return tuple(sorted(range(len(items)), key=items.__getitem__))


def flatten(lists: Iterable[Iterable[T]]) -> list[T]:
    """One list of all elements, in order."""
    return [x for inner in lists for x in inner]


@functools.cache
def notice(text: str) -> None:
    """Says on standard error, once in a process, what the user should know and no error ends."""
    _say(f"uopviz: {text}")


def wrong_setting(what: str, hint: str) -> EnvError:
    """The error for an environment variable that is wrong. If it is not caught, the program ends
    with its text alone: the code that read the variable says nothing to who has set it."""
    if not isinstance(sys.excepthook, _BriefSettings):
        sys.excepthook = _BriefSettings(sys.excepthook)
    error = EnvError(what, hint=hint)
    error.from_environment = True
    return error


def _say(text: object) -> None:
    """A line on standard error, where there is one: for `print`, None is standard output."""
    stream: TextIO | None = sys.stderr
    if stream is not None:
        with suppress(OSError, ValueError):  # it may be closed
            print(text, file=stream)


class _BriefSettings:
    """An excepthook that prints what the environment has wrong without a traceback."""

    def __init__(self, other: Callable[..., object]) -> None:
        self._other = other

    def __call__(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if isinstance(error, EnvError) and error.from_environment:
            _say(error)
        else:
            self._other(kind, error, trace)


@dataclass
class Flag:
    """One environment variable that takes an integer. `flag.value` is what is in force now."""

    name: str
    default: int
    doc: str
    low: int = 0
    high: int = 1
    value: int = field(init=False)

    def __post_init__(self) -> None:
        self.value = self.default
        if self.name in os.environ:
            try:
                self.value = self.parse(os.environ[self.name])
            except EnvError as error:
                raise wrong_setting(error.what, error.hint) from None
        Flag.table[self.name] = self

    table: ClassVar[dict[str, Flag]] = {}

    def parse(self, text: str) -> int:
        """The value of `text`. Raises EnvError where it is not an integer between low and high."""
        try:
            value = int(text)
        except ValueError:
            value = self.high + 1
        if not self.low <= value <= self.high:
            raise EnvError(
                f"{self.name}={text!r} is not a value that {self.name} takes",
                hint=f"{self.name} takes an integer {self.low}..{self.high}: {self.doc}",
            )
        return value

    def __bool__(self) -> bool:
        return bool(self.value)


@dataclass
class Text:
    """One environment variable that takes text; `value` is its text, or the default."""

    name: str
    default: str
    doc: str
    in_block: str | None = field(default=None, init=False)
    """The text that a Context has set."""

    def __post_init__(self) -> None:
        Text.table[self.name] = self

    table: ClassVar[dict[str, Text]] = {}

    @property
    def value(self) -> str:
        """Read at each use, so that a program may set it."""
        if self.in_block is not None:
            return self.in_block
        return os.environ.get(self.name, self.default)


VIZ: Final = Flag("VIZ", 0, "1 records the run and serves it, -1 records only", low=-1)
VIZ_TRACE: Final = Text("VIZ_TRACE", "", "where the trace goes; default: the user's cache")
DEV: Final = Text("DEV", "CPU", "the default device")
CPU: Final = Text(
    "CPU",
    "native",
    "the processor that CPU kernels are compiled for: native, or a CPU target such as x86-64-v2; "
    "then features to disable, as in native,-avx512f,-f16c",
)
TRAINING: Final = Flag("TRAINING", 0, "1: dropout and batch norm behave as in training")
DEBUG: Final = Flag("DEBUG", 0, "1 prints each kernel as it runs, 2 its source too", high=4)
NOOPT: Final = Flag("NOOPT", 0, "1 applies no kernel optimisations")
BEAM: Final = Flag(
    "BEAM",
    0,
    "the width of a beam search for the optimisations of each kernel, on the device that runs it; "
    "0: the cost model chooses them",
    high=64,
)
BEAM_SECONDS: Final = Flag(
    "BEAM_SECONDS", 60, "what the search for one kernel may take", low=1, high=86_400
)
TC: Final = Flag(
    "TC",
    1,
    "0 uses no tensor cores, 2 splits loops as for them and multiplies lane by lane",
    high=2,
)
TC_OPT: Final = Flag(
    "TC_OPT",
    2,
    "tensor cores multiply 0: loads of sizes that divide, 1: also other values, 2: also other "
    "sizes, padded",
    high=2,
)
ALLOW_TF32: Final = Flag(
    "ALLOW_TF32", 0, "1: tensor cores may multiply float32 by its leading 19 bits"
)
FLASH_ATTENTION: Final = Flag(
    "FLASH_ATTENTION", 1, "0: attention is a composition on every device, and stores its scores"
)
UNSAFE_DISABLE_MASK: Final = Flag(
    "UNSAFE_DISABLE_MASK",
    0,
    "1 compiles loads and stores without their masks, to see what these cost: results are wrong, "
    "and memory beside that of Tensors is read and written",
)
IMAGE: Final = Flag(
    "IMAGE",
    0,
    "1 keeps operands of matrix products and convolutions in images, 2 results, too",
    high=2,
)
SPEC: Final = Flag("SPEC", 0, "1 verifies every graph after each pass")
LAZY: Final = Flag("LAZY", 1, "0 computes the result of each operation on a Tensor at once")
OPT: Final = Flag("OPT", 3, "level of the Tensor graph's rules: 0 none .. 3 all", high=3)
DONT_GROUP_REDUCES: Final = Flag(
    "DONT_GROUP_REDUCES", 0, "1 stores every reduce before anything is computed from it"
)
DONT_REALIZE_EXPAND: Final = Flag(
    "DONT_REALIZE_EXPAND", 0, "1 computes costly values again wherever they are repeated"
)
PUSH_CONTIGUOUS: Final = Flag(
    "PUSH_CONTIGUOUS", 0, "1 lets arithmetic on a contiguous() value take it as it was before that"
)
ASSUME_FINITE: Final = Flag(
    "ASSUME_FINITE",
    0,
    "1 takes floats for finite where a sum of them counts some: a product with a one-hot matrix is "
    "a load, and NaN or infinity elsewhere has no effect",
)
FUSE_CONV_BW: Final = Flag(
    "FUSE_CONV_BW",
    0,
    "1 computes the gradient of a convolution's input in one kernel: fewer, but slower on CPUs",
)
GRAPH: Final = Flag(
    "GRAPH",
    0,
    "1 writes the kernels of each schedule as a DOT file, 2 with their ASTs, 3 with the graph of "
    "Tensors that they were made of",
    high=3,
)
MEMORY_PLANNER: Final = Flag("MEMORY_PLANNER", 1, "0 gives each intermediate its own memory")
SPLIT_REDUCE: Final = Flag(
    "SPLIT_REDUCE", 32768, "reduces at least this long may be split; 0: never", high=1 << 31
)
SPLIT_REDUCE_PARTS: Final = Flag(
    "SPLIT_REDUCE_PARTS", 256, "the most parts that a reduce is split into", low=8, high=1 << 16
)
SPLIT_REDUCE_SIZE: Final = Flag(
    "SPLIT_REDUCE_SIZE",
    1 << 22,
    "the most elements of all parts of a reduce that is split",
    low=1,
    high=1 << 31,
)
MAX_BUFFERS: Final = Flag(
    "MAX_BUFFERS",
    120,
    "buffers that one kernel may use: as many as the parameters of every GPU hold, or fewer",
    low=4,
    high=120,
)
RING: Final = Flag(
    "RING",
    1,
    "how values of several devices are combined: 0 each copies all, 2 chunks go around a ring, 1 "
    "the ring for large values on three or more devices",
    high=2,
)
REWRITE_LIMIT: Final = Flag(
    "REWRITE_LIMIT",
    10_000,
    "rewrites that may wait for each other, beside 4 per node of the graph",
    low=1,
    high=1 << 31,
)
JIT: Final = Flag(
    "JIT",
    1,
    "0: functions under TinyJit run as they are; 2: what they captured runs step by step, not as "
    "one graph where the device has such",
    high=2,
)
CPU_MACHINE: Final = Text(
    "CPU_MACHINE",
    "",
    "figures of the processor that opts are chosen for, such as cores=8,l2=1M; usual: of a usual "
    "one of the target, whatever this one is, but for figures that follow: usual,cores=8",
)
CPU_THREADS: Final = Flag("CPU_THREADS", 0, "cores for CPU kernels; 0: all", high=4096)

COMPILING: Final = (
    *(NOOPT, TC, TC_OPT, ALLOW_TF32, CPU_THREADS, ASSUME_FINITE, UNSAFE_DISABLE_MASK),
)
"""The flags that the code of a kernel depends on, besides its AST and target."""

EMULATOR_CHECKS: Final = Flag(
    "EMULATOR_CHECKS",
    2,
    "what emulated devices check besides bounds, alignment and barriers: 1 reads of registers, "
    "shared and local memory before they are written, and races; 2 those of global memory too",
    high=2,
)


class Context(ContextDecorator):
    """Sets flags for a block: `with Context(TRAINING=1): ...`; CPU_MACHINE takes a text. Raises
    EnvError for unknown ones."""

    def __init__(self, **values: int | str) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: dict[str, str] = {}
        for name, value in values.items():
            if name == CPU_MACHINE.name:
                self._texts[name] = str(value)
            elif name in Flag.table:
                given = str(int(value) if isinstance(value, bool) else value)
                self._numbers[name] = Flag.table[name].parse(given)
            else:
                raise EnvError(
                    f"there is no flag called {name}",
                    hint="flags are " + ", ".join(sorted((*Flag.table, CPU_MACHINE.name))),
                )
        self._saved: list[tuple[dict[str, int], dict[str, str | None]]] = []

    def __enter__(self) -> None:
        numbers = {name: Flag.table[name].value for name in self._numbers}
        self._saved.append((numbers, {name: Text.table[name].in_block for name in self._texts}))
        self._set(self._numbers, self._texts)

    def __exit__(self, *_: object) -> None:
        self._set(*self._saved.pop())

    def _set(self, numbers: Mapping[str, int], texts: Mapping[str, str | None]) -> None:
        for name, value in numbers.items():
            Flag.table[name].value = value
        for name, text in texts.items():
            Text.table[name].in_block = text
