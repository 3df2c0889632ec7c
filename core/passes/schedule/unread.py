"""Unread: what nothing reads is not stored, where that is behind a length.

Of an axis whose length is a variable only the first elements count. From what each kernel and each
output reads of memory, this pass finds axes of which all of them read a first part alone, and lets
the kernel that fills the memory leave the rest as it is. Only memory that the schedule made is
looked at, each filled by one kernel. Never changes an element that something reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from core.dtype import dtypes
from core.passes.schedule.kernels.kernel import ANOTHER
from core.passes.schedule.kernels.kernelize import Kernels, buffer_of, version_of
from core.passes.schedule.linearize import kernels_of, memory_of, outputs_of
from core.shape import ShapeTracker
from core.shape.axis import strides_for
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule
from core.uop.kernels import is_lowered
from core.uop.patterns.rule import Assumes
from core.uop.symbolic import clauses

Firsts: TypeAlias = Mapping[int, Mapping[UOp, None]]
"""For an axis: lengths, of which each alone says how many first elements matter at most."""
_ALL: Firsts = {}


@dataclass(frozen=True)
class _Use:
    """Memory read through a tracker, whose elements matter up to some lengths of its axes."""

    st: ShapeTracker
    firsts: Firsts

    def first(self, stride: int, size: int) -> Mapping[UOp, None]:
        """The lengths n for which each element that matters is at a place p of the memory with
        p // stride % size < n."""
        if len(self.st.views) != 1:
            return {}
        view = self.st.views[0]
        if view.offset or min(view.strides, default=0) < 0:
            return {}
        along = [k for k, s in enumerate(view.strides) if s == stride and view.shape[k] > 1]
        if len(along) != 1 or view.shape[along[0]] > size:
            return {}
        others = [(n, s) for k, (n, s) in enumerate(zip(view.shape, view.strides, strict=True))
                  if k != along[0] and n > 1]  # fmt: skip
        inner = sum((n - 1) * s for n, s in others if s < stride)
        if inner >= stride or any(s % (stride * size) for _, s in others if s > stride):
            return {}
        return self.firsts.get(along[0], {})


Uses: TypeAlias = dict[UOp, list[_Use]]
"""For memory after a kernel: all that reads it."""
Lesser: TypeAlias = dict[UOp, UOp]
"""For a kernel that may store less: the kernel that does."""


def unread(sink: UOp, notes: Kernels) -> Lesser:
    """The kernels that store what nothing reads, each with the one that does not."""
    kernels = kernels_of(sink)
    filled = _filled(kernels, notes)
    uses: Uses = {}
    known = notes.lengths if len(notes.lengths) == len(sink.src) else [()] * len(sink.src)
    for root, lengths in zip(sink.src, known, strict=True):
        st = root.arg if root.op is Ops.VIEW else ShapeTracker.from_shape(root.shaped)
        firsts = {axis: {_settled(n): None} for axis, n in lengths}
        _note(uses, root.base, st, firsts)
    lesser: Lesser = {}
    for kernel in reversed(kernels):  # what reads comes before what fills
        ast = kernel.src[0]
        if ast.op is not Ops.SINK or is_lowered(ast):
            for memory in memory_of(kernel):
                _note(uses, memory, None, _ALL)
            continue
        stored = _stored_firsts(kernel, uses) if kernel in filled else _ALL
        _read(kernel, stored, uses)
        if stored and (made := _storing(kernel, stored, notes)) is not None:
            lesser[kernel] = made
    return lesser


def _filled(kernels: Sequence[UOp], notes: Kernels) -> set[UOp]:
    """The kernels that alone fill all of memory that the schedule made, and no other."""
    fresh = {*notes.fresh, *notes.outputs.fresh}
    writers = Counter(buffer_of(version_of(m)) for k in kernels for m in outputs_of(k))
    found: set[UOp] = set()
    for kernel in kernels:
        ast, memory = kernel.src[0], kernel.src[1]
        if ast.op is not Ops.SINK or is_lowered(ast) or len(ast.src) != 1:
            continue
        place = ast.src[0].src[0].arg
        whole = place.contiguous and place.size == memory.size
        if whole and memory in fresh and writers[memory] == 1:
            found.add(kernel)
    return found


def _note(uses: Uses, memory: UOp, st: ShapeTracker | None, firsts: Firsts) -> None:
    """Notes that memory is read: all of it without a tracker, and where it is part of another."""
    if memory.op is Ops.BUFFER_VIEW or st is None:
        st, firsts = ShapeTracker.from_shape((memory.size,)), _ALL
    uses.setdefault(version_of(memory), []).append(_Use(st, firsts))


def _stored_firsts(kernel: UOp, uses: Uses) -> Firsts:
    """How many of the elements that a kernel stores matter, for each axis."""
    place: ShapeTracker = kernel.src[0].src[0].src[0].arg
    reading = uses.get(kernel.src[1].after(kernel), [])
    found: dict[int, Mapping[UOp, None]] = {}
    for axis, (size, stride) in enumerate(zip(place.shape, strides_for(place.shape), strict=True)):
        if size > 1 and reading:
            common = _common(use.first(stride, size) for use in reading)
            if common:
                found[axis] = common
    return found


def _common(several: Iterator[Mapping[UOp, None]]) -> Mapping[UOp, None]:
    first, *others = several
    return {n: None for n in first if all(n in other for other in others)}


def _read(kernel: UOp, stored: Firsts, uses: Uses) -> None:
    """Notes what a kernel reads so that the first elements of what it stores are right."""
    memory, sink = memory_of(kernel), kernel.src[0]
    binds = {b.src[0]: _named(b) for b in kernel.src if b.op is Ops.BIND}
    wanted: dict[UOp, Firsts] = {store.src[1]: stored for store in sink.src}
    inside = sink.toposort()
    values = {u for store in sink.src for u in store.src[1].toposort()}
    for u in reversed(inside):
        if u not in values or u not in wanted:
            continue
        firsts = wanted[u]
        if u.op is Ops.LOAD:
            place = u.src[0]
            st = place.arg if place.op is Ops.VIEW else None
            pointer = place.src[0] if place.op is Ops.VIEW else place
            _note(uses, memory[pointer.arg], st, firsts)
            continue
        for k, s in enumerate(u.src):
            _want(wanted, s, _through(u, k, firsts, binds))


def _want(wanted: dict[UOp, Firsts], u: UOp, firsts: Firsts) -> None:
    """Of a value that is used in several ways, what matters in one of them matters."""
    if u not in wanted:
        wanted[u] = firsts
        return
    before = wanted[u]
    both = {a: {n: None for n in before[a] if n in firsts[a]} for a in before if a in firsts}
    wanted[u] = {axis: ns for axis, ns in both.items() if ns}


def _through(u: UOp, k: int, firsts: Firsts, binds: Mapping[UOp, UOp]) -> Firsts:
    """What matters of source `k` of a node, by what matters of the node."""
    source = u.src[k]
    if u.op in GroupOp.Elementwise:
        if source.shape != u.shape:
            return _ALL
        return _chosen(u.src[0], firsts, binds) if u.op is Ops.WHERE and k == 1 else firsts
    if u.op is Ops.REDUCE_AXIS:
        return {axis: ns for axis, ns in firsts.items() if axis not in u.arg[1]}
    if u.op is Ops.VIEW and firsts:
        use, shape = _Use(u.arg, firsts), source.shaped
        sides = enumerate(zip(shape, strides_for(shape), strict=True))
        found = {axis: use.first(stride, size) for axis, (size, stride) in sides if size > 1}
        return {axis: ns for axis, ns in found.items() if ns}
    return _ALL


def _chosen(condition: UOp, firsts: Firsts, binds: Mapping[UOp, UOp]) -> Firsts:
    """What matters of a value that is chosen where a condition holds."""
    found = {axis: dict(ns) for axis, ns in firsts.items()}
    for clause in clauses(condition):
        if clause.op is not Ops.CMPLT or clause.src[1].shape != ():
            continue
        place, n = clause.src
        if place.op is not Ops.VIEW or place.src[0].op is not Ops.IOTA or len(place.arg.views) > 1:
            continue
        view = place.arg.views[0]
        axes = [axis for axis, stride in enumerate(view.strides) if stride]
        if view.offset or view.mask is not None or len(axes) != 1 or view.strides[axes[0]] != 1:
            continue
        if binds and (bound := n.substitute(dict(binds))) is not n:
            found.setdefault(axes[0], {})[_settled(bound)] = None
    return found


def _settled(n: UOp) -> UOp:
    """A length in the form in which lengths are compared."""
    return n.cast(dtypes.index)


def _named(bind: UOp) -> UOp:
    """A BIND of a kernel, of the variable that the user named."""
    name, low, high = bind.src[0].arg
    plain = name.split(ANOTHER)[0]
    if plain == name:
        return bind
    return bind.replace(src=(UOp.variable(plain, low, high, bind.src[0].dtype), bind.src[1]))


def _storing(kernel: UOp, stored: Firsts, notes: Kernels) -> UOp | None:
    """The kernel that stores the first elements alone; None where a variable of their number has
    another value in it."""
    ast, *sources = kernel.src
    (store,) = ast.src
    place, value = store.src
    binds = {_named(b): b.src[0] for b in sources if b.op is Ops.BIND}
    names = {v.arg[0]: v for v in binds.values()}
    inside: UOp | None = None
    for axis, lengths in stored.items():
        n = next(iter(lengths))
        for bind in (b for b in n.toposort() if b.op is Ops.BIND):
            if bind not in binds:
                if bind.src[0].arg[0] in names:
                    return None
                binds[bind] = names[bind.src[0].arg[0]] = bind.src[0]
                sources.append(bind)
        size = place.shaped[axis]
        places = UOp(Ops.IOTA, dtypes.index, (), size)
        alone = [m if k == axis else 1 for k, m in enumerate(place.shaped)]
        st = ShapeTracker.from_shape((size,)).reshape(alone).expand(place.shaped)
        clause = places.view(st) < n.substitute(dict(binds))
        inside = clause if inside is None else inside & clause
    assert inside is not None, "some axis has a length"
    kept = place.load(dtype=value.dtype)
    shorter = UOp.sink(place.store(inside.where(value, kept)), arg=ast.arg)
    return notes.kernel_like(kernel, shorter, sources)


@rule(UPat(Ops.KERNEL, name="k"), assumes=(Assumes.CONTEXT,))
def store_what_is_read(ctx: Lesser, k: UOp) -> UOp | None:
    """kernel(p[i] = x) -> kernel(p[i] = i < n ? x : p[i]) where nothing reads p[i] from n on"""
    return ctx.get(k)


storing_less = PatternMatcher([store_what_is_read], name="unread")
