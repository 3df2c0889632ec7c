"""The shape of a kernel: basic blocks, where parted threads meet again, what registers live where.

A thread that leaves a block by a divergent branch waits at the block's immediate post-dominator.
Reads instructions only by what they read, write and where they go.
Source of the algorithm: K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm",
2001, on the reversed graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.runtime.emulator.program import Branch, Code, Exit, Guard, Instruction, reads, writes


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """Instructions `first` up to `last` (not included) run one after the other. Then `leave`, at
    `last`, sends threads to block `taken`; those for whom its guard does not hold go on to block
    `following`. Without `leave` all go on. The number of blocks stands for the end. Parted threads
    meet again at block `join`."""

    first: int
    last: int
    leave: Branch | Exit | None
    taken: int
    following: int
    join: int


@dataclass(frozen=True, slots=True)
class Flow:
    """`kept` are the registers whose value may outlive a block: only those need merging where
    threads are parted. `doubtful` are the (instruction, register) reads that some path reaches
    without a write."""

    blocks: tuple[BasicBlock, ...]
    kept: frozenset[int]
    doubtful: frozenset[tuple[int, int]]


def flow_of(code: Code) -> Flow:
    """The flow of a kernel."""
    blocks = _blocks(code.instructions)
    return Flow(blocks, _kept(code, blocks), _doubtful(code, blocks))


def _blocks(instructions: Sequence[Instruction]) -> tuple[BasicBlock, ...]:
    count = len(instructions)
    starts = {0, count}
    for i, instruction in enumerate(instructions):
        if isinstance(instruction, Branch | Exit):
            starts.add(i + 1)
        if isinstance(instruction, Branch):
            starts.add(instruction.target)
    order = sorted(starts)
    number = {start: at for at, start in enumerate(order)}
    end = number[count]
    edges: list[tuple[int, int]] = []
    for at, first in enumerate(order[:-1]):
        leave = instructions[order[at + 1] - 1] if order[at + 1] > first else None
        if isinstance(leave, Branch):
            edges.append((number[leave.target], at + 1 if leave.guard else number[leave.target]))
        elif isinstance(leave, Exit):
            edges.append((end, at + 1 if leave.guard else end))
        else:
            edges.append((at + 1, at + 1))
    joins = _post_dominators(edges)
    found: list[BasicBlock] = []
    for at, first in enumerate(order[:-1]):
        last, leave = order[at + 1], instructions[order[at + 1] - 1]
        leaving = leave if isinstance(leave, Branch | Exit) else None
        body_end = last - 1 if leaving is not None else last
        found.append(BasicBlock(first, body_end, leaving, *edges[at], joins[at]))
    return tuple(found)


def _post_dominators(edges: Sequence[tuple[int, int]]) -> list[int]:
    """The immediate post-dominator of each block; the end for those that never reach it."""
    end = len(edges)
    order, seen = _postorder(edges)
    rank = {block: i for i, block in enumerate(reversed(order))}  # of the reversed graph: end first
    found: dict[int, int] = {end: end}
    moving = True
    while moving:
        moving = False
        for block in reversed(order):
            if block == end:
                continue
            best = -1
            for target in edges[block]:
                if target in found:
                    best = target if best < 0 else _meet(found, rank, best, target)
            if best >= 0 and found.get(block) != best:
                found[block], moving = best, True
    return [found.get(block, end) if block in seen else end for block in range(end)]


def _meet(found: dict[int, int], rank: dict[int, int], a: int, b: int) -> int:
    while a != b:
        while rank[a] > rank[b]:
            a = found[a]
        while rank[b] > rank[a]:
            b = found[b]
    return a


def _postorder(edges: Sequence[tuple[int, int]]) -> tuple[list[int], set[int]]:
    """A postorder of the reversed graph from the end."""
    end = len(edges)
    before: list[list[int]] = [[] for _ in range(end + 1)]
    for block, targets in enumerate(edges):
        for target in dict.fromkeys(targets):
            before[target].append(block)
    order: list[int] = []
    seen = {end}
    stack = [(end, iter(before[end]))]
    while stack:
        block, rest = stack[-1]
        following = next((b for b in rest if b not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(before[following])))
    return order, seen


def _span(code: Code, block: BasicBlock) -> range:
    return range(block.first, block.last + (block.leave is not None))


def _kept(code: Code, blocks: Sequence[BasicBlock]) -> frozenset[int]:
    """Registers that are alive at the start of some block. A guarded write leaves the old value to
    some threads, so it counts as a read too."""
    used: list[int] = []
    defined: list[int] = []
    for block in blocks:
        use = known = 0
        for i in _span(code, block):
            instruction = code.instructions[i]
            read = sum(1 << n for n in reads(instruction))
            wrote = sum(1 << n for n in set(writes(instruction)))
            use |= (read | (wrote if instruction.guard else 0)) & ~known
            known |= 0 if instruction.guard else wrote
        used.append(use)
        defined.append(known)
    alive = [0] * (len(blocks) + 1)
    moving = True
    while moving:
        moving = False
        for at in reversed(range(len(blocks))):
            out = alive[blocks[at].taken] | alive[blocks[at].following]
            now = used[at] | (out & ~defined[at])
            moving |= now != alive[at]
            alive[at] = now
    union = 0
    for bits in alive:
        union |= bits
    return frozenset(n for n in range(len(code.registers)) if union >> n & 1)


def _doubtful(code: Code, blocks: Sequence[BasicBlock]) -> frozenset[tuple[int, int]]:
    everything = (1 << len(code.registers)) - 1
    before = [everything] * (len(blocks) + 1)
    if blocks:
        before[0] = 0
    moving = True
    while moving:
        moving = False
        for at, block in enumerate(blocks):
            after = _assigned(code, block, before[at], None)
            for target in {block.taken, block.following}:
                now = before[target] & after
                moving |= now != before[target]
                before[target] = now
    found: set[tuple[int, int]] = set()
    for at, block in enumerate(blocks):
        _assigned(code, block, before[at], found)
    return frozenset(found)


def _assigned(
    code: Code, block: BasicBlock, known: int, doubtful: set[tuple[int, int]] | None
) -> int:
    """What is surely written after a block, given what is before. Two writes under a predicate and
    its negation count as one."""
    partly: set[tuple[int, Guard]] = set()
    for i in _span(code, block):
        instruction = code.instructions[i]
        guard = instruction.guard
        if doubtful is not None:
            for n in reads(instruction):
                if not known >> n & 1 and not (guard is not None and (n, guard) in partly):
                    doubtful.add((i, n))
        for n in writes(instruction):
            if guard is None or (n, Guard(guard.number, not guard.wanted)) in partly:
                known |= 1 << n
            else:
                partly.add((n, guard))
            partly = {pair for pair in partly if pair[1].number != n}
    return known
