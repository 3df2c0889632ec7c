"""Snapshots: a kernel that needs memory as it was before another kernel that it needs reads a copy.

Writers of memory run after its readers. Where a reader cannot run before the writer, because it
needs what the writer or a kernel after it computes, the old content is copied first. Adds nothing
where some order of the kernels is right as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.passes.schedule.kernelize import Kernels, version_of
from core.passes.schedule.linearize import in_order, kernels_of, needs, outputs_of, overwrites
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp, UPat, rule


@dataclass
class Snapshots:
    """For each kernel the states of memory that it has to read from a copy; and the copies."""

    notes: Kernels
    late: dict[UOp, set[UOp]]
    copies: dict[UOp, UOp] = field(default_factory=lambda: dict[UOp, UOp]())

    def copy(self, version: UOp) -> UOp:
        """Memory of its own after a kernel copied `version` to it."""
        if version not in self.copies:
            st = ShapeTracker.from_shape(version.shaped)
            self.copies[version] = self.notes.run(
                self.notes.new_buffer(version), st, version, version
            )
        return self.copies[version]


def late_readers(sink: UOp) -> dict[UOp, set[UOp]]:
    """The kernels that no order runs before what they read is overwritten, with what that is."""
    kernels = kernels_of(sink)
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


snapshotting = PatternMatcher([read_snapshot], name="snapshots")
