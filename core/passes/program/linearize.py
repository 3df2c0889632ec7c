"""Linearize: the graph of a kernel becomes a list in execution order.

Every node is placed in the innermost loop that it depends on, so what does not change in a loop is
computed before it. Inside a loop the order is that of a depth-first walk from the outputs, which
keeps few values alive; stores to global memory, and what needs them, come last, so that every load
of a loop's body precedes its stores. Takes time linear in the graph and recurses only into the
nest of loops. Never drops or adds an operation (GROUP, AFTER and NOOP stay, as aliases).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from core.dtype import AddrSpace, PtrDType
from core.errors import CompileError
from core.uop import Ops, UOp


@dataclass
class Block:
    """One loop, or the whole kernel: what it directly holds. An END in it stands for the loop that
    it ends; `late` are global stores and what needs them."""

    loop: UOp | None
    depth: int
    body: list[UOp] = field(default_factory=lambda: list[UOp]())
    late: list[UOp] = field(default_factory=lambda: list[UOp]())


def linearize(sink: UOp) -> list[UOp]:
    """The nodes under `sink` in execution order, `sink` last.

    Raises CompileError where a loop is not ended exactly once.
    """
    order = list(sink.toposort())
    blocks = _nest(order)
    late: set[UOp] = set()
    for u in order:
        if u.op is Ops.RANGE:
            continue
        home = blocks[_innermost(u.ranges, blocks)]
        if _stores_global(u) or not late.isdisjoint(u.src):
            late.add(u)
            home.late.append(u)
        else:
            home.body.append(u)
    return list(_emit(blocks[None], blocks))


def _nest(order: Iterable[UOp]) -> dict[UOp | None, Block]:
    """The block of every loop; outer loops are seen first because their END needs the inner one."""
    blocks: dict[UOp | None, Block] = {None: Block(None, 0)}
    for u in reversed(list(order)):
        if u.op is Ops.END:
            if len(u.src) != 2 or u.src[1] in blocks:
                raise CompileError(
                    f"loop {u.src[1].arg} is not ended exactly once",
                    hint="the pass `loops` must run before `linearize`",
                )
            outer = blocks[_innermost(u.ranges, blocks)]
            blocks[u.src[1]] = Block(u.src[1], outer.depth + 1)
    return blocks


def _innermost(ranges: frozenset[UOp], blocks: Mapping[UOp | None, Block]) -> UOp | None:
    if not ranges:
        return None
    if missing := [r for r in ranges if r not in blocks]:
        raise CompileError(f"loop {missing[0].arg} is never ended")
    return max(ranges, key=lambda r: blocks[r].depth)


def _stores_global(u: UOp) -> bool:
    if u.op is not Ops.STORE:
        return False
    dtype = u.src[0].dtype
    return isinstance(dtype, PtrDType) and dtype.addrspace is AddrSpace.GLOBAL


def _emit(block: Block, blocks: Mapping[UOp | None, Block]) -> Iterator[UOp]:
    for u in (*block.body, *block.late):
        if u.op is Ops.END:
            loop = u.src[1]
            yield loop
            yield from _emit(blocks[loop], blocks)
        yield u
