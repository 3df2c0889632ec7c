"""`Kernel`: a kernel written with tiles. Python runs once and builds the graph.

The graph is that of loops and single elements: it enters the pipeline after `lower`, and nothing
chooses optimisations for it. The same program always builds the same graph. Never compiles or runs
anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Literal, Self

from core.dtype import AddrSpace, DType, DTypeLike, dtypes, to_dtype
from core.errors import CompileError, DTypeError, ShapeError
from core.helpers import ALLOW_TF32, prod
from core.target import Target, target_named
from core.tile.calls import call
from core.tile.checks import check_length, shape_of
from core.tile.group import Group, group_of
from core.tile.memory.asynchronous import copies
from core.tile.memory.layout import LAYOUTS, Choice, Layout, lanes_of
from core.tile.memory.swizzle import Swizzle
from core.tile.order import Order
from core.tile.sizes import A_SIZE, Size, is_size, most, shown
from core.tile.team import Building, index
from core.tile.tiles import GL, RT, RV, ST, SV, Each
from core.uop.engine.asking import asked_for_kernel, begin_work
from core.uop.kernelinfo import KERNEL_NAME, AxisType, KernelInfo
from core.uop.ops import Ops
from core.uop.uop import UOp

MOST_WARPS = 32
"""Where one thread does the work of all warps."""
_AXES = {"row": "m", "column": "n"}
Kind = Literal["reduce", "loop", "upcast"]
"""Of a loop: its iterations add to what earlier ones left, or are independent, or are written out
one after the other."""
_KINDS: dict[str, AxisType] = {"reduce": AxisType.REDUCE, "loop": AxisType.LOOP}


class Loop:
    """`for i in ker.range(n)`: its body is run once in Python and `n` times in the kernel. Raises
    CompileError where it is left by break."""

    def __init__(self, kernel: Building, count: Size, kind: AxisType) -> None:
        self._kernel, self._count, self._kind = kernel, count, kind
        self._loop: UOp | None = None
        self._done = False

    def __iter__(self) -> Self:
        return self

    @call
    def __next__(self) -> UOp:
        order = self._kernel.order
        if self._done:
            if self._loop is not None:
                if order.loops[-1:] != (self._loop,):
                    raise CompileError(
                        "a loop inside this one was left by break or return",
                        hint="kernels have no such jumps: shorten the range, or choose by map",
                    )
                order.close()
                self._loop = None
            raise StopIteration
        self._done = True
        if self._count == 1:
            return index(0)
        if self._count == 0:
            raise StopIteration
        self._loop = self._kernel.range(self._count, self._kind)
        order.open(self._loop)
        return self._loop


class Kernel:
    """A kernel of `grid` work groups (x, y, z) with `warps` warps each, for a target.

    `gx`, `gy`, `gz` number the work group, `warp_id` the warp in it, `lane` the thread in its warp.
    Used as a context manager: at the end of the block, `ast` is the kernel. `tf32` allows matrix
    instructions that round float32 to 19 bits (default: the setting ALLOW_TF32).

    A size of the grid may be made of variables, which are given at launch.

    Raises ShapeError for a grid or a number of warps that the target does not have, CompileError
    for a name that is none.
    """

    @call
    def __init__(
        self,
        name: str,
        grid: Sequence[Size] = (1,),
        warps: int = 1,
        target: Target | str = "sm_80",
        tf32: bool | None = None,
    ) -> None:
        if not KERNEL_NAME.fullmatch(name):
            raise CompileError(
                f"a kernel named {name!r}",
                hint="a letter, then up to 127 letters, digits and _, as every language takes it",
            )
        self.name = name
        self._work = begin_work()
        self.target = target if isinstance(target, Target) else target_named(target)
        sizes = _grid(grid, self.target)
        _check_warps(warps, self.target)
        self.warps = warps
        wave, gpu = lanes_of(self.target), self.target.has_local
        choice = Choice(self.target, bool(ALLOW_TF32) if tf32 is None else tf32)
        zero = index(0)
        self._kernel = Building(self.target, choice, Order(), warps, zero, zero)
        kind = AxisType.GLOBAL if gpu else AxisType.LOOP
        outer = [self._parallel(n, kind) for n in reversed(sizes)][::-1]
        self.gx, self.gy, self.gz = outer
        self.warp_id = self._kernel.warp = self._parallel(warps, AxisType.LOCAL)
        self.lane = self._kernel.lane = self._parallel(wave, AxisType.WARP)
        inner = self.warp_id, self.lane
        self._outer = [r for r in (*outer, *(inner if gpu else ())) if r.op is Ops.RANGE]
        if not gpu:
            self._kernel.order = Order(inner, self._kernel.number)
            self._kernel.order.outer = tuple(self._outer)
        self._globals: list[GL] = []
        self._finished: UOp | None = None
        self.warp = Group(self._kernel, 1)
        self.group = Group(self._kernel, warps)

    def _parallel(self, n: Size, kind: AxisType) -> UOp:
        return index(0) if n == 1 else self._kernel.range(n, kind)

    @property
    @call
    def warpgroup(self) -> Group:
        """Groups of four warps. Raises ShapeError where four do not divide the kernel's."""
        return group_of(self._kernel, 4)

    def __enter__(self) -> Self:
        return self

    @call
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        elif self._work is not None:
            self._work.end()

    # memory

    @call
    def gl(self, dtype: DTypeLike, shape: Sequence[Size]) -> GL:
        """The next argument of the kernel, as a row-major array of up to four axes; an axis may be
        made of variables. Raises ShapeError for other shapes."""
        if not _are_sizes(shape, 4):
            raise ShapeError(
                f"a global view of shape {shown(shape)}",
                hint=f"one to four axes (batch, depth, rows, columns), each {A_SIZE}",
            )
        kind = _dtype(dtype)
        b, d, r, c = (*(1 for _ in range(4 - len(shape))), *shape)
        size = prod(most(n) for n in shape)
        memory = self._kernel.memory(kind, size, AddrSpace.GLOBAL)
        self._globals.append(GL(memory, kind, (b, d, r, c)))
        return self._globals[-1]

    @call
    def st(
        self, dtype: DTypeLike, shape: tuple[int, int], stages: int = 1, swizzle: bool = True
    ) -> ST:
        """A tile in shared memory, or `stages` of them that are used in turn: `tile[i % 2]`. With
        `swizzle`, its elements lie so that fragments are read without bank conflicts.

        Raises ShapeError for a shape that is none, CompileError where memory is exceeded."""
        rows, columns = shape_of(shape, "a shared tile")
        if type(stages) is not int or stages < 1:
            raise ShapeError(f"a shared tile with {stages!r} stages", hint="1 or more")
        kind, zero = _dtype(dtype), index(0)
        memory = self._kernel.memory(kind, rows * columns, AddrSpace.LOCAL, stages)
        places = Swizzle(columns, kind.itemsize, swizzle)
        self._kernel.holds(memory, "ST", rows, columns, swizzled=swizzle)
        stage = zero if stages > 1 else None
        return ST(memory, kind, rows, columns, places, stage, zero, zero, zero)

    @call
    def sv(self, dtype: DTypeLike, length: int) -> SV:
        """A vector in shared memory."""
        kind, (_, length) = _dtype(dtype), shape_of((1, length), "a shared vector")
        memory = self._kernel.memory(kind, length, AddrSpace.LOCAL)
        self._kernel.holds(memory, "SV", 1, length)
        return SV(memory, kind, length)

    @call
    def rt(self, dtype: DTypeLike, shape: tuple[int, int], layout: str = "row") -> RT:
        """A tile in the registers of each warp. Layout "row" is that of operand A of the target's
        matrix instruction for the dtype, "col" that of operand B, "acc" that of the product.

        Raises ShapeError for a shape that no base tiles of the layout make up, DTypeError for an
        unknown layout."""
        rows, columns = shape_of(shape, "a register tile")
        if layout not in LAYOUTS:
            raise DTypeError(f"layout {layout!r}", hint="one of " + ", ".join(LAYOUTS))
        kind = _dtype(dtype)
        base = self._kernel.choice.base(layout, kind, (rows, columns))
        m, n = base.size("m"), base.size("n")
        if rows % m or columns % n:
            raise ShapeError(
                f"a register tile of {rows} x {columns}, {kind} in layout {layout!r}",
                hint=f"on {self.target.name} its sides are multiples of {m} x {n}",
            )
        return self._kernel.tile(kind, Layout(layout, rows, columns, base))

    @call
    def rv(self, dtype: DTypeLike, like: RT, each: Each = "row") -> RV:
        """A vector in registers with an element for each row (or column) of the tile `like`, in the
        lanes that hold that row. Raises ShapeError for another `each`, and for `like` that is no
        register tile."""
        if not isinstance(like, RT):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ShapeError(
                f"a vector like {type(like).__name__}",
                hint="like is a register tile, ker.rt(...): the vector lies as its rows or columns",
            )
        if each not in _AXES:
            raise ShapeError(f"a vector for each {each!r}", hint="each is 'row' or 'column'")
        layout = like.layout.along("m" if each == "row" else "n")
        kind = _dtype(dtype)
        memory = self._kernel.memory(kind, layout.count, AddrSpace.REG)
        self._kernel.holds(memory, "RV", layout.rows, layout.columns, layout=layout)
        return RV(memory, kind, layout, "m" if each == "row" else "n")

    # control

    @call
    def range(self, count: Size, kind: Kind = "reduce") -> Iterator[UOp]:
        """A loop over 0 .. count - 1: the body of the `for` is run once and builds one iteration.
        `kind` is "loop" where iterations are independent, as the explorer then shows; of "upcast",
        the body is run, and written out, `count` times.

        `count` is a number or a node that is the same for all threads of a work group; ShapeError
        for anything else."""
        if not _is_count(count):
            raise ShapeError(
                f"a loop of {shown([count])[1:-2]}",
                hint="a number of iterations, 0 or more: an int, or a node that is one integer",
            )
        if isinstance(count, UOp):
            check_length(count)
        if kind == "upcast":
            if isinstance(count, UOp):
                raise ShapeError(
                    f"a loop of {count.render()} that is written out",
                    hint='its length has to be an int: leave out kind="upcast"',
                )
            return iter([index(i) for i in range(count)])
        if kind not in _KINDS:
            raise ShapeError(
                f"a loop of kind {kind!r}", hint='one of "reduce", "loop" and "upcast"'
            )
        return Loop(self._kernel, count, _KINDS[kind])

    @property
    def shared_left(self) -> int:
        """Bytes of shared memory that a work group may still have for tiles."""
        return self.target.shared_bytes - self._kernel.shared_bytes

    def copies(self, dst: ST, src: GL) -> bool:
        """Whether the target loads this shared tile from this view asynchronously: where it does
        not, or only at once, nothing is gained by asking for it."""
        return bool(self.target.async_bytes) and copies(dst, src)

    @call
    def commit(self) -> None:
        """The asynchronous loads since the last group are a group; so are, without it, those before
        a wait, before a loop, and in an iteration."""
        self._kernel.order.commit()

    @call
    def wait(self, behind: int = 0) -> None:
        """Until all asynchronous loads have arrived, but those of the last `behind` groups. What
        has arrived may be read; the barrier that this takes is made where it is read. Raises
        ShapeError for a number below 0."""
        if type(behind) is not int or behind < 0:
            raise ShapeError(
                f"a wait for all but {behind!r} groups",
                hint="how many of the last groups of asynchronous loads may still be on their way",
            )
        self._kernel.order.wait(behind)

    @call
    def finish(self) -> UOp:
        """Ends the kernel; `ast`. Raises CompileError where a loop is open or nothing is stored."""
        order = self._kernel.order
        if self._finished is not None:
            return self._finished
        if order.loops:
            raise CompileError(
                "a loop was left by break or return",
                hint="kernels have no such jumps: shorten the range, or choose by map",
            )
        stored = [e for gl in self._globals if gl.memory.written for e in gl.memory.writes]
        if not stored:
            raise CompileError(
                f"kernel {self.name} stores nothing",
                hint="store a tile to a window of a global view: ker.group.store(out[0, 0], tile)",
            )
        root = UOp.group(*dict.fromkeys([*stored, *order.finish()])).end(*self._outer)
        order.ended = True
        self._finished = UOp.sink(root, arg=KernelInfo(self.name, (), tuple(self._kernel.tiles)))
        if self._work is not None:
            self._work.end()
            asked_for_kernel(self._finished, self._work.work.own)
        return self._finished

    @property
    @call
    def ast(self) -> UOp:
        """The kernel: a SINK of loops. Raises CompileError before it is finished."""
        if self._finished is None:
            raise CompileError(
                f"kernel {self.name} is not finished",
                hint="it is at the end of its with block, or after ker.finish()",
            )
        return self._finished


def _dtype(dtype: DTypeLike) -> DType:
    found = to_dtype(dtype)
    if found not in dtypes.all:
        raise DTypeError(f"a tile of {found}", hint="elements are numbers or bool")
    return found


def _are_sizes(values: Sequence[object], most: int) -> bool:
    """Whether they are one to `most` sizes."""
    some = isinstance(values, tuple | list) and 1 <= len(values) <= most
    return some and all(map(is_size, values))


def _is_count(value: object) -> bool:
    if isinstance(value, UOp):
        return dtypes.is_int(value.dtype) and value.dtype.count == 1
    return type(value) is int and value >= 0


def _grid(grid: Sequence[Size], target: Target) -> tuple[Size, Size, Size]:
    limits = target.global_max or (1 << 31,) * 3
    whole = _are_sizes(grid, 3)
    if not whole or any(most(n) > limit for n, limit in zip(grid, limits, strict=False)):
        raise ShapeError(
            f"a grid of {shown(grid)}",
            hint=f"one to three sizes, on {target.name} at most {limits}, each {A_SIZE}",
        )
    x, y, z = (*grid, *(1 for _ in range(3 - len(grid))))
    return x, y, z


def _check_warps(warps: int, target: Target) -> None:
    most = max(1, target.threads_max // target.wave) if target.has_local else MOST_WARPS
    if type(warps) is not int or not 1 <= warps <= most:
        raise ShapeError(
            f"{warps!r} warps in a work group",
            hint=f"1 to {most} on {target.name}, whose warps have {target.wave} threads",
        )
