"""Several outputs: elementwise assignments over one shape become one kernel that stores them all.

An assignment is merged with one that reads its result element for element, such as the moments and
the weights of an optimizer step. The result is then stored and used without being read back. Never
merges a kernel with a reduce, never one that the user asked for with `contiguous`, and never where
another kernel stands between the two.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.passes.schedule.group import MOST_BUFFERS
from core.passes.schedule.kernelize import Kernels, buffer_of
from core.passes.schedule.linearize import Edges, kernels_of, memory_of, needs, outputs_of
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.kernelinfo import KernelInfo


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
    assigns = [k for k in kernels if buffer_of(outputs_of(k)[0]) not in fresh]
    shapes = {k: shape for k in assigns if (shape := elementwise_shape(k)) is not None}
    if len(shapes) < 2:
        return {}
    groups, place = _groups(kernels, needs(kernels))
    for k in shapes:
        for memory in memory_of(k):
            maker = memory.src[1] if memory.op is Ops.AFTER else k
            first, second = place[maker], place[k]
            if first == second or shapes.get(maker) != shapes[k]:
                continue
            both = groups[first].members + groups[second].members
            if not _fits(both, shapes[k]) or _way_around(groups, first, second):
                continue
            _join(groups, place, first, second)
    merged: dict[UOp, UOp] = {}
    for group in groups.values():
        if len(group.members) > 1:
            kernel = merged_kernel(group.members, notes)
            merged.update((member, kernel) for member in group.members)
    return merged


def elementwise_shape(kernel: UOp) -> tuple[int, ...] | None:
    """The shape that a kernel without reduces stores row-major; None for other kernels."""
    ast = kernel.src[0]
    if ast.op is not Ops.SINK or len(ast.src) != 1:
        return None
    place = ast.src[0].src[0]
    if not place.arg.contiguous or any(u.op is Ops.REDUCE_AXIS for u in ast.toposort()):
        return None
    return place.shaped


def _groups(kernels: list[UOp], before: Edges) -> tuple[dict[int, Group], dict[UOp, int]]:
    place = {k: n for n, k in enumerate(kernels)}
    groups = {n: Group([k]) for n, k in enumerate(kernels)}
    for k, needed in before.items():
        for other in needed:
            groups[place[k]].needed[place[other]] = None
            groups[place[other]].users[place[k]] = None
    return groups, place


def _fits(members: list[UOp], shape: tuple[int, ...]) -> bool:
    """Whether each member reads what others write only at the place where it is written."""
    written = {buffer_of(m) for k in members for m in outputs_of(k)}
    whole = ShapeTracker.from_shape(shape)
    used: set[UOp] = set()
    for k in members:
        memory = memory_of(k)
        used.update(map(buffer_of, memory))
        for u in k.src[0].toposort():
            if u.op is Ops.LOAD:
                place = u.src[0]
                if buffer_of(memory[place.src[0].arg]) in written and place.arg != whole:
                    return False
    binds = {b.src[0]: b for k in members for b in k.src if b.op is Ops.BIND}
    same = all(binds[b.src[0]] is b for k in members for b in k.src if b.op is Ops.BIND)
    parts = any(b.op is Ops.BUFFER_VIEW for b in used)
    return same and not parts and len(used) <= MOST_BUFFERS and len(written) == len(members)


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


def merged_kernel(members: list[UOp], notes: Kernels) -> UOp:
    """One KERNEL that stores what `members`, in order, store. What one made for another is used
    directly."""
    outputs = [m for k in members for m in outputs_of(k)]
    made = {m.after(k): k for k in members for m in outputs_of(k)}
    inputs = [m for k in members for m in memory_of(k) if m not in made]
    arguments = list(dict.fromkeys([*outputs, *inputs]))
    values: dict[UOp, UOp] = {}
    stores: list[UOp] = []
    for k in members:
        replaced: dict[UOp, UOp] = {}
        for n, memory in enumerate(memory_of(k)):
            old = UOp(Ops.DEFINE_GLOBAL, memory.dtype.ptr(memory.size), (), n)
            if memory in made:
                place = old.view(values[memory].src[0].arg)
                replaced[place.load(dtype=memory.dtype)] = values[memory].src[1]
            else:
                replaced[old] = old.replace(arg=arguments.index(memory))
        store = k.src[0].src[0].substitute(replaced)
        stores.append(store)
        values[outputs_of(k)[0].after(k)] = store
    binds = dict.fromkeys(b for k in members for b in k.src if b.op is Ops.BIND)
    origins = [line for k in members for line in notes.origins_of(k)]
    return notes.kernel(UOp.sink(*stores, arg=KernelInfo()), (*arguments, *binds), origins)


@rule(UPat(Ops.KERNEL, name="k"))
def merge_kernels(ctx: dict[UOp, UOp], k: UOp) -> UOp | None:
    """kernel -> the kernel with several outputs that it is merged into"""
    return ctx.get(k)


merging = PatternMatcher([merge_kernels], name="merge")
