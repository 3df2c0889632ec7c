"""Kernelize: what has to be stored becomes memory after a KERNEL that fills it.

`contiguous(x)` and `assign(t, x)` become `AFTER(buffer, KERNEL(ast, arguments...))`, a copy becomes
a KERNEL around a COPY. KERNEL's first source is the AST, then come the memory behind
DEFINE_GLOBAL 0, 1, ... and the BINDs of its variables. Afterwards the graph between buffers
consists of kernels alone. Never decides what is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.errors import ScheduleError
from core.passes.schedule.copies import bitcast_memory, copy_of_view
from core.passes.schedule.kernels.kernel import Arguments, kernel_ast
from core.passes.schedule.kernels.selfreads import reads_elsewhere
from core.passes.schedule.kernels.views import drop_view, merge_views, movement_to_view
from core.passes.schedule.multi import Outputs
from core.passes.schedule.simplify.simplify_tensors import contiguous_of_stored
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.call.kernelcall import inputs_of_call, outputs_of_call
from core.uop.engine.asking import working
from core.uop.engine.origin import calls_of, lines_in
from core.uop.facts.lengths import Lengths
from core.uop.facts.uses import Work
from core.uop.kernelinfo import KernelInfo
from core.uop.kernels import is_lowered
from core.uop.node import DeviceName
from core.uop.uop import keeps_uses, line_of


def between_kernels(u: UOp) -> bool:
    """Whether a node is none of a kernel, whose AST is done."""
    return u.op is not Ops.SINK or not (is_lowered(u) or all(s.op is Ops.STORE for s in u.src))


Order = dict[UOp, None]
"""The nodes of a graph, sources first."""
LEAVES = frozenset({Ops.BUFFER, Ops.BUFFER_VIEW, Ops.AFTER})


def buffer_of(memory: UOp) -> UOp:
    """The BUFFER, or BUFFER_VIEW of it, whatever was stored in it before."""
    if memory.op is Ops.BUFFER_VIEW:
        return memory.rebuild((buffer_of(memory.src[0]),))
    while memory.op is Ops.AFTER:
        memory = memory.src[0]
    return memory


def version_of(memory: UOp) -> UOp:
    """The BUFFER, or buffer AFTER a kernel, that a part is of."""
    return memory.src[0] if memory.op is Ops.BUFFER_VIEW else memory


@dataclass
class Kernels:
    """What the passes note down: the outputs on several devices; the values that are to be computed
    by one kernel each; the user's calls behind each kernel and, while an observer is attached, his
    lines behind its nodes, both by its AST and first output; the memory that was made; the lengths
    of each output's axes, where any is a variable; and the memory after each kernel written by
    hand."""

    outputs: Outputs = field(default_factory=Outputs)
    fused: list[UOp] = field(default_factory=lambda: list[UOp]())
    origins: dict[tuple[UOp, UOp], tuple[str, ...]] = field(
        default_factory=lambda: dict[tuple[UOp, UOp], tuple[str, ...]]()
    )
    lines: dict[tuple[UOp, UOp], Mapping[UOp, str]] = field(
        default_factory=lambda: dict[tuple[UOp, UOp], Mapping[UOp, str]]()
    )
    fresh: list[UOp] = field(default_factory=lambda: list[UOp]())
    lengths: list[Lengths[UOp]] = field(default_factory=lambda: list[Lengths[UOp]]())
    calls: dict[UOp, tuple[UOp, ...]] = field(default_factory=lambda: dict[UOp, tuple[UOp, ...]]())
    _sorted: dict[UOp, Order] = field(default_factory=lambda: dict[UOp, Order]())

    def order_of(self, graph: UOp) -> Order:
        """`graph.toposort()`, worked out once while passes leave the graph as it is."""
        if graph not in self._sorted:
            self._sorted.clear()
            self._sorted[graph] = graph.toposort()
        return self._sorted[graph]

    def new_buffer(self, like: UOp) -> UOp:
        """Memory for the values of `like`. Raises ScheduleError for a value without a device."""
        device = like.one_device
        if device is None:
            raise ScheduleError(
                "a value to be stored has no device",
                where=like.origin or "",
                hint="constants name their device: UOp.full(shape, value, dtype, device)",
            )
        buffer = UOp.new_buffer(device, like.size, like.dtype)
        self.fresh.append(buffer)
        return buffer

    def kernel(
        self,
        ast: UOp,
        sources: Iterable[UOp],
        origins: Iterable[str],
        work: Work[UOp] | None = None,
    ) -> UOp:
        """A KERNEL on the memory `sources`, BINDs last; its AST was built in `work`."""
        made = UOp(Ops.KERNEL, src=(ast, *sources), arg=KernelInfo())
        key = ast, buffer_of(made.src[1])
        self.origins[key] = tuple(dict.fromkeys(origins))
        if work is not None:
            self.lines[key] = {u: work.line(u) or "" for u in ast.toposort()}
        return made

    def origins_of(self, kernel: UOp) -> tuple[str, ...]:
        """The user's lines and calls that asked for what a kernel computes, without repetition."""
        return self.origins.get((kernel.src[0], buffer_of(kernel.src[1])), ())

    def lines_of(self, kernel: UOp) -> Mapping[UOp, str]:
        """The user's lines behind each node of a kernel's AST."""
        return self.lines.get((kernel.src[0], buffer_of(kernel.src[1])), {})

    def run(self, memory: UOp, st: ShapeTracker, value: UOp, asked: UOp) -> UOp:
        """`memory` after a kernel stored `value` in it, as the node `asked` wants it.

        A value that reads `memory` elsewhere than where it is stored goes to new memory first.
        """
        with working() as work:
            ast, found = kernel_ast([(memory, st, value)])
        if _reads_what_it_overwrites(ast.src[0], found):
            first = self.run(
                self.new_buffer(asked), ShapeTracker.from_shape(st.shape), value, asked
            )
            return self.run(memory, st, first.reshape(st.shape), asked)
        nodes = value.toposort(lambda u: u.op not in LEAVES)
        origins = calls_of((*nodes, asked))
        sources = *found.memory, *found.binds.values()
        return memory.after(self.kernel(ast, sources, origins, work))

    def copy(
        self, memory: UOp, source: UOp, device: DeviceName | None, origins: Iterable[str]
    ) -> UOp:
        """A KERNEL that copies all of `source` to `memory`, which is on `device`."""
        pointer = UOp(Ops.DEFINE_GLOBAL, source.dtype.ptr(source.size), (), 1)
        ast = UOp(Ops.COPY, source.dtype, (pointer, UOp(Ops.DEVICE, arg=device)))
        return self.kernel(ast, (memory, source), origins)

    def kernel_again(self, kernel: UOp, memory: UOp) -> UOp:
        """A KERNEL that works in other memory than before."""
        ast, _, *sources = kernel.src
        return self.kernel_like(kernel, ast, (memory, *sources))

    def kernel_like(self, kernel: UOp, ast: UOp, sources: Iterable[UOp]) -> UOp:
        """A KERNEL with another AST or other sources, asked for by the same lines."""
        made = kernel.replace(src=(ast, *sources))
        old, new = (kernel.src[0], buffer_of(kernel.src[1])), (ast, buffer_of(made.src[1]))
        self.origins[new] = self.origins.get(old, ())
        if old in self.lines:
            self.lines[new] = self.lines[old]
        return made

    def called(self, call: UOp) -> tuple[UOp, ...]:
        """New memory for each output, after the kernel written by hand that a KERNEL of the Tensor
        graph calls."""
        if call not in self.calls:
            outputs = [self.new_buffer(u) for u in outputs_of_call(call)]
            values = inputs_of_call(call)
            if call.arg.in_place:
                (out,), first, *values = outputs, *values
                outputs = [self.run(out, ShapeTracker.from_shape(first.shaped), first, call)]
            inputs = [_whole_memory(call, u) for u in values]
            binds = [s for s in call.src if s.op is Ops.BIND]
            asked, ast = line_of(call), call.arg.ast
            made = self.kernel(ast, (*outputs, *inputs, *binds), lines_in(asked))
            if asked and keeps_uses():
                self.lines[ast, buffer_of(outputs[0])] = {ast: asked}
            self.calls[call] = tuple(memory.after(made) for memory in outputs)
        return self.calls[call]


def _whole_memory(call: UOp, value: UOp) -> UOp:
    """The memory behind an input of a kernel written by hand. Raises ScheduleError where the value
    is not all of it, row-major."""
    memory = value.base
    row_major = value is memory or value.arg.contiguous
    if memory.op not in LEAVES or not row_major or value.size != memory.size:
        raise ScheduleError(
            f"a kernel written by hand would read {value.op.name} of {memory.op.name}",
            where=call.origin or "",
            hint="make the input contiguous",
        )
    return memory


def _reads_what_it_overwrites(store: UOp, found: Arguments) -> bool:
    """Whether a kernel reads elements of its output other than the one that it stores there."""
    output = version_of(found.memory[0])
    same = {k for k in found.read if version_of(found.memory[k]) is output}
    return bool(same) and (same != {0} or reads_elsewhere(store, {store.src[0].src[0]}))


@rule(UPat(Ops.CONTIGUOUS, src=(UPat.var("x"),), name="c"))
def store_contiguous(ctx: Kernels, c: UOp, x: UOp) -> UOp:
    """contiguous(x) -> new buffer after a kernel stored x in it"""
    st = ShapeTracker.from_shape(c.shaped)
    return ctx.run(ctx.new_buffer(c), st, x, c).reshape(c.shaped)


@rule(UPat(Ops.ASSIGN, src=(UPat.var("target"), UPat.var("x")), name="a"))
def store_assign(ctx: Kernels, a: UOp, target: UOp, x: UOp) -> UOp:
    """assign(view(buffer), x) -> view(buffer after a kernel stored x in it), by way of new memory
    where x reads the buffer elsewhere than where it is stored"""
    memory = target.base
    st = target.arg if target.op is Ops.VIEW else ShapeTracker.from_shape(target.shaped)
    try:
        _check_target(a, memory, st)
        if (kernel := _made_in_copy(x, memory, st)) is not None:
            return memory.after(ctx.kernel_again(kernel, memory)).view(st)
        if (source := _copied(x, memory, st)) is not None:
            return memory.after(ctx.copy(memory, source, x.device, calls_of((a,)))).view(st)
        return ctx.run(memory, st, x, a).view(st)
    except ScheduleError as error:
        error.targets = (buffer_of(memory),)
        raise


def _copied(x: UOp, memory: UOp, st: ShapeTracker) -> UOp | None:
    """What `x` is a copy of, where all of `memory` is to become that: it is copied there."""
    made = x.base
    if made.op is not Ops.AFTER or made.src[1].src[0].op is not Ops.COPY:
        return None
    whole = (
        st.contiguous and x.size == made.size == memory.size and memory.op is not Ops.BUFFER_VIEW
    )
    row_major = x is made or x.arg.contiguous
    source = made.src[1].src[2]
    return source if whole and row_major and buffer_of(source) is not buffer_of(memory) else None


def _made_in_copy(x: UOp, memory: UOp, st: ShapeTracker) -> UOp | None:
    """The kernel written by hand that made `x` in a copy of `memory`, where all of that is to
    become `x`: it can work in there. None for another one, and where that reads `memory`, too."""
    made = x.base
    if made.op is not Ops.AFTER or memory.op is Ops.BUFFER_VIEW:
        return None
    whole = st.contiguous and x.size == made.size == memory.size
    kernel, copy = made.src[1], made.src[0]
    if not whole or not is_lowered(kernel.src[0]) or (x is not made and not x.arg.contiguous):
        return None
    others = {buffer_of(m) for m in kernel.src[2:] if m.op in LEAVES}
    if copy.op is not Ops.AFTER or buffer_of(memory) in others or kernel.src[1] is not copy:
        return None
    return kernel if _is_copy(copy.src[1], memory) else None


def _is_copy(kernel: UOp, memory: UOp) -> bool:
    """Whether a kernel stores all of `memory`, in order, and nothing else."""
    ast, *used = kernel.src
    if ast.op is not Ops.SINK or len(ast.src) != 1 or used[1:] != [memory]:
        return False
    place, value = ast.src[0].src[0], ast.src[0].src[1]
    return value.op is Ops.LOAD and all(
        view.op is Ops.VIEW and view.arg.contiguous and view.size == memory.size
        for view in (place, value.src[0])
    )


def _check_target(a: UOp, memory: UOp, st: ShapeTracker) -> None:
    """Raises ScheduleError where the target of `a` is not elements of memory, each once."""
    if memory.op not in LEAVES or st.masked:
        raise ScheduleError(
            f"cannot assign to {'padding' if st.masked else memory.op.name}",
            where=a.origin or "",
            hint="assign to a buffer, or to a part of one",
        )
    if any(n > 1 and stride == 0 for n, stride in zip(st.shape, st.real_strides(), strict=True)):
        raise ScheduleError(
            "cannot assign several values to one element",
            where=a.origin or "",
            hint="the target is expanded; assign to it before it is",
        )


@rule(
    UPat(Ops.COPY, src=(UPat(tuple(LEAVES), name="x"), UPat(Ops.DEVICE, name="device")), name="c")
)
def store_copy(ctx: Kernels, c: UOp, x: UOp, device: UOp) -> UOp:
    """copy(buffer, device) -> new buffer on the device after a copy"""
    buffer = ctx.new_buffer(c)
    return buffer.after(ctx.copy(buffer, x, device.arg, calls_of((c,))))


@rule(UPat(Ops.CONTIGUOUS, src=(UPat(Ops.VIEW, src=(UPat(Ops.AFTER, name="x"),), name="v"),)))
def contiguous_after(v: UOp, x: UOp) -> UOp | None:
    """contiguous(view(x)) -> view(x) where x was stored row-major by a kernel"""
    return v if v.arg.contiguous and v.size == x.size else None


@rule(UPat(Ops.OUTPUT, src=(UPat(Ops.KERNEL, name="k"),), name="u"))
def store_call(ctx: Kernels, u: UOp, k: UOp) -> UOp:
    """output n of a kernel written by hand -> new buffer after that kernel stored it"""
    return ctx.called(k)[u.arg[0]].reshape(u.shaped)


kernelizing = PatternMatcher(
    [
        movement_to_view,
        merge_views,
        drop_view,
        copy_of_view,
        bitcast_memory,
        contiguous_of_stored,
        contiguous_after,
        store_contiguous,
        store_assign,
        store_copy,
        store_call,
    ],
    name="kernelize",
)
