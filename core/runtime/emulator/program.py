"""What a front end hands to the machine: a kernel as a few kinds of instructions over numbered
registers.

A front end turns text into a `Code`; everything that a language leaves to its tables (types,
conversions, rounding) is in the functions of `Compute`. The machine finds basic blocks, places of
reconvergence and register lifetimes itself. Plain data; nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeAlias

import numpy as np

from core.runtime.numeric import Array

SHARED_WINDOW: Final = 1 << 56
"""Where shared memory begins as generic addresses see it."""
LOCAL_WINDOW: Final = 2 << 56
"""Where the memory of one thread begins as generic addresses see it."""
DATA_WINDOW: Final = 3 << 56
"""Where the text's own variables in global memory may begin; front ends place them from here on."""

Dim: TypeAlias = tuple[int, int, int]
"""x, y, z."""


class Space(Enum):
    """Where an address leads. Addresses of SHARED, LOCAL, PARAM and CONSTANT begin at 0; those of
    GLOBAL are the devices'; GENERIC ones are GLOBAL or in one of the windows."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    PARAM = "param"
    CONSTANT = "const"
    GENERIC = "generic"


@dataclass(frozen=True, slots=True)
class Reg:
    """A register as an instruction reads or writes it: `kind` is the NumPy dtype of its elements
    there. All uses of a `number` have one itemsize; one that was last written as another dtype of
    that size is read by its bits. Predicates and i1 are np.bool_."""

    number: int
    kind: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Const:
    """A constant: an array of shape (1,)."""

    value: Array


@dataclass(frozen=True, slots=True)
class Special:
    """A value that the machine knows, as uint32: "tid.x" (y, z), "ctaid.x", "ntid.x", "nctaid.x"
    (threads and blocks of CUDA's names: work items and work groups), "laneid" (in the warp),
    "warpid" (in the block), "nwarpid", "warpsize"."""

    name: str


Operand: TypeAlias = Reg | Const | Special


@dataclass(frozen=True, slots=True)
class Guard:
    """A thread takes part where the predicate register is true (`wanted`), or where it is false."""

    number: int
    wanted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """`line` is that of the text, from 1. `name` is what people call the instruction, and what
    counters group by. Threads whose `guard` does not hold skip it."""

    line: int
    name: str
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Precondition:
    """`broken(*operands)` is true where the language leaves open what an instruction does: it takes
    what the instruction's function takes, and gives an array of bool. `what` says in words what
    such a thread did: "a division by zero"."""

    what: str
    broken: Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute(Instruction):
    """results = function(*operands): arithmetic, moves, conversions, comparisons, parallel copies.

    The function takes one array per operand, each of shape (lanes,) or, where all lanes agree,
    (1,), and works element by element as NumPy broadcasts. It returns one array (one result) or a
    tuple of arrays, of the itemsize of their registers; arguments or views of them too. It must not
    change its arguments and must not raise: lanes that are not active have arbitrary values.
    NumPy's float errors are off. An active lane that breaks one of `preconditions` is a fault.
    """

    function: Callable[..., Any]
    operands: tuple[Operand, ...] = ()
    results: tuple[Reg, ...] = ()
    preconditions: tuple[Precondition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Load(Instruction):
    """results[i] = extend(memory[address + offset + i * item.itemsize]), elements of dtype `item`.

    The address is an unsigned register (uint32 or uint64) or a constant. The whole access must be
    aligned to `align` bytes (0: to its own size). `extend` converts an array of elements to the
    registers' kind; None: the same size.
    """

    space: Space
    address: Operand
    offset: int
    item: np.dtype[Any]
    results: tuple[Reg, ...]
    extend: Callable[[Array], Array] | None = None
    align: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Store(Instruction):
    """memory[address + offset + i * item.itemsize] = narrow(values[i]); as `Load`."""

    space: Space
    address: Operand
    offset: int
    item: np.dtype[Any]
    values: tuple[Operand, ...]
    narrow: Callable[[Array], Array] | None = None
    align: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(Instruction):
    """`nbytes` (a multiple of 4) from global memory, at `source` + `source_offset`, to shared
    memory, at `target` + `target_offset`: at some time before the thread's `Wait` for their group
    ends. Of the first `taken` bytes (None: of all); those behind become 0. Both addresses must be
    aligned to `nbytes`."""

    nbytes: int
    target: Operand
    target_offset: int
    source: Operand
    source_offset: int
    taken: Operand | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit(Instruction):
    """The copies of a thread since its last `Commit` are a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait(Instruction):
    """Until the copies of all of a thread's groups but the last `behind` have arrived; `commits`:
    after a `Commit`."""

    behind: int
    commits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Warp(Instruction):
    """A collective of each warp: shuffles, votes, matrix products.

    `function(active, *operands)` takes arrays of shape (warps, width): `active` says which threads
    take part, others have arbitrary values. It returns as `Compute`'s does, of that shape.
    With `whole`, every thread of a warp must take part where one does.
    """

    function: Callable[..., Any]
    operands: tuple[Operand, ...]
    results: tuple[Reg, ...]
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixLoad(Instruction):
    """Loads matrices of 8 x 8 elements of 16 bits from shared memory, one for each result, by all
    threads of a warp: thread 8 i + r has the address, plus `offset`, of row r of matrix i, aligned
    to 16 bytes. Thread 4 r + c gets the elements in row r and columns 2 c and 2 c + 1, as uint32;
    `transposed`: in rows 2 c and 2 c + 1 of column r."""

    address: Operand
    offset: int
    results: tuple[Reg, ...]
    transposed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier(Instruction):
    """All living threads of a block wait for each other, and see each other's writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch(Instruction):
    """Threads whose guard holds go on at instruction `target`, others at the next one. `target` may
    be the number of instructions: the end."""

    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit(Instruction):
    """Threads whose guard holds end. So do those that run past the last instruction."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel argument in PARAM memory, `offset` bytes in. `pointer`: it is an address."""

    name: str
    offset: int
    nbytes: int
    pointer: bool = False


@dataclass(frozen=True, slots=True)
class Data:
    """A variable of the text in GLOBAL memory, with its first content. `address` is in
    DATA_WINDOW."""

    name: str
    address: int
    content: bytes
    writable: bool = False


@dataclass(frozen=True, eq=False)
class Code:
    """A kernel in the machine's form. `registers[n]` is what people call register n.

    `shared_bytes` of one block and `local_bytes` of one thread, laid out by the front end;
    `shared_names` and `local_names` say which variable begins where. `threads` is the block's size,
    where the text fixes it. `width` is a warp's.
    """

    name: str
    text: str
    language: str
    instructions: tuple[Instruction, ...]
    registers: tuple[str, ...]
    parameters: tuple[Parameter, ...] = ()
    shared_bytes: int = 0
    local_bytes: int = 0
    shared_names: Mapping[int, str] = field(default_factory=dict[int, str])
    local_names: Mapping[int, str] = field(default_factory=dict[int, str])
    constants: bytes = b""
    data: tuple[Data, ...] = ()
    threads: Dim | None = None
    width: int = 32

    def line(self, number: int) -> str:
        """The text of a line, from 1."""
        lines = self.text.splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def operands_of(copy: Copy) -> tuple[Operand, ...]:
    """What a copy reads: its addresses, and how many bytes it takes."""
    found = (copy.target, copy.source)
    return found if copy.taken is None else (*found, copy.taken)


def reads(instruction: Instruction) -> tuple[int, ...]:
    """The numbers of the registers that an instruction reads, its guard's included."""
    match instruction:
        case Compute() | Warp():
            used = instruction.operands
        case Load() | MatrixLoad():
            used = (instruction.address,)
        case Store():
            used = (instruction.address, *instruction.values)
        case Copy():
            used = operands_of(instruction)
        case _:
            used = ()
    found = [o.number for o in used if isinstance(o, Reg)]
    if instruction.guard is not None:
        found.append(instruction.guard.number)
    return tuple(dict.fromkeys(found))


def writes(instruction: Instruction) -> tuple[int, ...]:
    """The numbers of the registers that an instruction writes."""
    if isinstance(instruction, Compute | Warp | Load | MatrixLoad):
        return tuple(r.number for r in instruction.results)
    return ()
