"""Snapshots: copies of memory for kernels that read it after it is overwritten.

Writers of memory run after its readers. Where a reader cannot run before the writer, because it
needs what the writer or a kernel after it computes, the old content is copied first; so is an
output that is nothing but the old content. Adds nothing where some order of the kernels is right.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.passes.schedule.kernels.kernelize import Kernels, version_of
from core.passes.schedule.linearize import in_order, kernels_of, needs, outputs_of, overwrites
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp, UPat, rule


@dataclass
class Snapshots:
    """For each kernel the states of memory that it has to read from a copy, all states that some
    kernel overwrites, and the copies."""

    notes: Kernels
    late: dict[UOp, set[UOp]]
    overwritten: set[UOp]
    copies: dict[UOp, UOp] = field(default_factory=lambda: dict[UOp, UOp]())

    def copy(self, version: UOp) -> UOp:
        """New memory to which a kernel has copied `version`."""
        if version not in self.copies:
            st = ShapeTracker.from_shape(version.shaped)
            self.copies[version] = self.notes.run(
                self.notes.new_buffer(version), st, version, version
            )
        return self.copies[version]


def snapshots(sink: UOp, notes: Kernels) -> Snapshots | None:
    """What has to be copied; None for nothing."""
    kernels = kernels_of(sink)
    overwritten = {version_of(m) for k in kernels for m in outputs_of(k)}
    late = late_readers(kernels)
    outputs = any(version_of(s.base) in overwritten for s in sink.src)
    return Snapshots(notes, late, overwritten) if late or outputs else None


def late_readers(kernels: list[UOp]) -> dict[UOp, set[UOp]]:
    """The kernels that no order runs before what they read is overwritten, with what that is."""
    if next(overwrites(kernels), None) is None:
        return {}
    before = needs(kernels)
    waiting = set(kernels).difference(in_order(kernels, before))
    if not waiting:
        return {}
    anti = [e for e in overwrites(kernels) if e.reader in waiting and e.writer in waiting]
    after: dict[UOp, list[UOp]] = {k: [] for k in waiting}
    for k in waiting:
        for m in k.src[1:]:
            version = version_of(m)
            if version.op is Ops.AFTER and version.src[1] in waiting:
                after[version.src[1]].append(k)
    late: dict[UOp, set[UOp]] = {}
    for edge in anti:
        if _leads(after, edge.writer, edge.reader):
            late.setdefault(edge.reader, set()).add(edge.version)
        else:
            after[edge.reader].append(edge.writer)
    return late


def _leads(after: dict[UOp, list[UOp]], first: UOp, last: UOp) -> bool:
    """Whether `last` has to run after `first`."""
    stack, seen = [first], {first}
    while stack:
        k = stack.pop()
        if k is last:
            return True
        fresh = [other for other in after[k] if other not in seen]
        seen.update(fresh)
        stack += fresh
    return False


@rule(UPat(Ops.KERNEL, name="k"))
def read_snapshot(ctx: Snapshots, k: UOp) -> UOp | None:
    """kernel(a, b) -> kernel(a, copy of b) where b is overwritten before the kernel can run"""
    late = ctx.late.get(k)
    if late is None:
        return None
    outputs = 1 + len(outputs_of(k))
    read = (
        m.substitute({version_of(m): ctx.copy(version_of(m))}) if version_of(m) in late else m
        for m in k.src[outputs:]
    )
    return k.rebuild((*k.src[:outputs], *read))


@rule(UPat(Ops.SINK, name="sink"))
def keep_output(ctx: Snapshots, sink: UOp) -> UOp | None:
    """sink(a) -> sink(copy of a) where a is memory that is overwritten"""
    return sink.rebuild(
        tuple(
            s.substitute({version_of(s.base): ctx.copy(version_of(s.base))})
            if version_of(s.base) in ctx.overwritten
            else s
            for s in sink.src
        )
    )


snapshotting = PatternMatcher([read_snapshot, keep_output], name="snapshots")
