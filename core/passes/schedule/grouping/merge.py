"""Several outputs: kernels that store values over one shape become one that stores them all.

An elementwise assignment is merged with one whose result it reads element for element, such as the
moments and the weights of an optimizer step, and with the reduce that it reads so, such as the
gradient of the weights. The result is then stored and used without being read back. Never merges
two reduces, never an elementwise kernel that the user asked for with `contiguous`, and never where
another kernel stands between the two.

Why that is right: members stand in the order in which they could run one by one, and no other
kernel has to run between them, so each finds all other memory as it would then. No two write the
same memory. What one of them writes, the others read at the element that they store themselves, in
one of two states: before, by a load, and an iteration does all of its loads before its stores
(core/passes/program/linearize.py); or after, as the value itself. No iteration reads what another
stores, so iterations may run in any order, and no pointer stands for the memory of another, as
`restrict` promises to C compilers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.helpers import MAX_BUFFERS
from core.passes.schedule.kernels.kernel import to_leaves
from core.passes.schedule.kernels.kernelize import Kernels, buffer_of
from core.passes.schedule.kernels.selfreads import reads_elsewhere
from core.passes.schedule.linearize import Edges, kernels_of, memory_of, needs, outputs_of
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.asking import working
from core.uop.engine.substitute import substitute
from core.uop.kernelinfo import KernelInfo
from core.uop.kernels import is_lowered
from core.uop.patterns.rule import Assumes


@dataclass
class Group:
    """Kernels that run as one, in the order in which their values need each other."""

    members: list[UOp]
    needed: dict[int, None] = field(default_factory=lambda: dict[int, None]())
    users: dict[int, None] = field(default_factory=lambda: dict[int, None]())


def merges(sink: UOp, notes: Kernels) -> dict[UOp, UOp]:
    """For each kernel to be merged, the one that takes its place."""
    kernels = kernels_of(sink)
    fresh = set(notes.fresh)
    assigned = {k for k in kernels if buffer_of(outputs_of(k)[0]) not in fresh}
    if not assigned:
        return {}
    made = [k for k in kernels if not is_lowered(k.src[0])]
    reduces = {k for k in made if any(u.op is Ops.REDUCE_AXIS for u in k.src[0].toposort())}
    shapes = {k: shape for k in kernels if (shape := stored_shape(k)) is not None}
    shapes = {k: shape for k, shape in shapes.items() if k in assigned or k in reduces}
    assigns = [k for k in shapes if k not in reduces]
    if not assigns or len(shapes) < 2:
        return {}
    groups, place = _groups(kernels, needs(kernels))
    for k in assigns:
        for memory in memory_of(k):
            maker = memory.src[1] if memory.op is Ops.AFTER else k
            first, second = place[maker], place[k]
            if first == second or shapes.get(maker) != shapes[k]:
                continue
            both = groups[first].members + groups[second].members
            if len(reduces.intersection(both)) > 1 or not _fits(both, shapes[k]):
                continue
            if _way_around(groups, first, second):
                continue
            _join(groups, place, first, second)
    merged: dict[UOp, UOp] = {}
    for group in groups.values():
        if len(group.members) > 1:
            kernel = merged_kernel(group.members, shapes[group.members[0]], notes)
            merged.update((member, kernel) for member in group.members)
    return merged


def stored_shape(kernel: UOp) -> tuple[int, ...] | None:
    """The shape, without axes of length 1, that a kernel stores row-major; None for kernels that
    store in another way or several values, and for those written by hand."""
    ast = kernel.src[0]
    if ast.op is not Ops.SINK or len(ast.src) != 1 or is_lowered(ast):
        return None
    place = ast.src[0].src[0]
    return _long_axes(place.shaped) if place.arg.contiguous else None


def _long_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in shape if n != 1)


def _groups(kernels: list[UOp], before: Edges) -> tuple[dict[int, Group], dict[UOp, int]]:
    place = {k: n for n, k in enumerate(kernels)}
    groups = {n: Group([k]) for n, k in enumerate(kernels)}
    for k, needed in before.items():
        for other in needed:
            groups[place[k]].needed[place[other]] = None
            groups[place[other]].users[place[k]] = None
    return groups, place


def _fits(members: list[UOp], shape: tuple[int, ...]) -> bool:
    """Whether each member reads what others write only at the place where it is written, and only
    as it is before that or after it."""
    written = {buffer_of(m) for k in members for m in outputs_of(k)}
    states = {s for k in members for m in outputs_of(k) for s in (m, m.after(k))}
    used: set[UOp] = set()
    for k in members:
        memory = memory_of(k)
        used.update(map(buffer_of, memory))
        pointers: set[UOp] = set()
        for u in k.src[0].toposort():
            if u.op is Ops.LOAD:
                place = u.src[0]
                state = memory[place.src[0].arg]
                if buffer_of(state) in written:
                    same = place.arg.contiguous and _long_axes(place.arg.shape) == shape
                    if not (same and state in states):
                        return False
                    pointers.add(place.src[0])
        if reads_elsewhere(k.src[0].src[0], pointers):
            return False
    binds = {b.src[0]: b for k in members for b in k.src if b.op is Ops.BIND}
    same = all(binds[b.src[0]] is b for k in members for b in k.src if b.op is Ops.BIND)
    parts = any(b.op is Ops.BUFFER_VIEW for b in used)
    return same and not parts and len(used) <= MAX_BUFFERS.value and len(written) == len(members)


def _way_around(groups: dict[int, Group], first: int, second: int) -> bool:
    """Whether another group must run after `first` and before `second`."""
    stack = [n for n in groups[first].users if n != second]
    seen = set(stack)
    while stack:
        n = stack.pop()
        if n == second:
            return True
        fresh = [m for m in groups[n].users if m not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return False


def _join(groups: dict[int, Group], place: dict[UOp, int], first: int, second: int) -> None:
    """`first` goes into `second`."""
    gone, kept = groups.pop(first), groups[second]
    for member in gone.members:
        place[member] = second
    kept.members[:0] = gone.members
    for n in gone.needed:
        del groups[n].users[first]
    for n in gone.users:
        del groups[n].needed[first]
    kept.needed.update(gone.needed)
    kept.users.update(gone.users)
    kept.needed.pop(second, None)
    kept.users.pop(second, None)
    for n in kept.needed:
        groups[n].users[second] = None
    for n in kept.users:
        groups[n].needed[second] = None


def merged_kernel(members: list[UOp], shape: tuple[int, ...], notes: Kernels) -> UOp:
    """One KERNEL that stores what `members`, in order, store, each in `shape`. What one made for
    another is used directly."""
    outputs = [m for k in members for m in outputs_of(k)]
    made = {m.after(k) for k in members for m in outputs_of(k)}
    inputs = [m for k in members for m in memory_of(k) if m not in made]
    arguments = list(dict.fromkeys([*outputs, *inputs]))
    with working() as work:
        if work is not None:
            for k in members:
                for u, line in notes.lines_of(k).items():
                    work.asked(u, line)
        ast = _merged_ast(members, shape, arguments, made)
    binds = dict.fromkeys(b for k in members for b in k.src if b.op is Ops.BIND)
    origins = [line for k in members for line in notes.origins_of(k)]
    return notes.kernel(ast, (*arguments, *binds), origins, work)


def _merged_ast(
    members: list[UOp], shape: tuple[int, ...], arguments: list[UOp], made: set[UOp]
) -> UOp:
    """One AST on `arguments` of those of `members`; what one of them `made` for another is used
    directly."""
    values: dict[UOp, UOp] = {}
    stores: list[UOp] = []
    for k in members:
        replaced: dict[UOp, UOp] = {}
        memory = memory_of(k)
        for u in k.src[0].toposort():
            if u.op is Ops.LOAD and (read := memory[u.src[0].src[0].arg]) in made:
                replaced[u] = values[read].reshape(u.shaped)
            elif u.op is Ops.DEFINE_GLOBAL and memory[u.arg] not in made:
                replaced[u] = u.replace(arg=arguments.index(memory[u.arg]))
        place, value = substitute(k.src[0].src[0], replaced, "merge: arguments").src
        value = value.reshape(shape)
        stores.append(place.replace(arg=ShapeTracker.from_shape(shape)).store(value))
        values[outputs_of(k)[0].after(k)] = value
    return graph_rewrite(UOp.sink(*stores, arg=KernelInfo()), to_leaves, name="push views")


@rule(UPat(Ops.KERNEL, name="k"), assumes=(Assumes.CONTEXT,))
def merge_kernels(ctx: dict[UOp, UOp], k: UOp) -> UOp | None:
    """kernel -> the kernel with several outputs that it is merged into"""
    return ctx.get(k)


merging = PatternMatcher([merge_kernels], name="merge")
