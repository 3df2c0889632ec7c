"""A program between two passes, as a dump shows it: ops in blocks in ops, whatever the compiler.

Positions and names of values are the dump's; nothing here knows what an op means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(eq=False)
class Op:
    """One op. `name`: such as "arith.addi"; `text`: what else stands on its line, with `$0` for its
    first operand and so on; `type`: that of its results; `place`: "file:line", or ""; `operands`:
    what it reads, as values of other ops; `line`: where it begins in the dump, from 0; `key`: its
    name where names last from dump to dump, or ""."""

    name: str
    text: str = ""
    type: str = ""
    place: str = ""
    line: int = -1
    key: str = ""
    operands: list[Value] = field(default_factory=lambda: list[Value]())
    blocks: list[Block] = field(default_factory=lambda: list[Block]())

    def walk(self) -> Iterator[Op]:
        """It and all ops inside, those of blocks first, in order."""
        stack: list[tuple[Op, bool]] = [(self, False)]
        while stack:
            op, done = stack.pop()
            if done or not op.blocks:
                yield op
                continue
            stack.append((op, True))
            inside = [o for block in op.blocks for o in block.ops]
            stack.extend((o, False) for o in reversed(inside))


@dataclass(eq=False)
class Block:
    """Ops in order, behind the arguments of the block; `label` is its name in its op."""

    label: str = ""
    arguments: list[str] = field(default_factory=list[str])
    """Their types."""
    ops: list[Op] = field(default_factory=lambda: list[Op]())


@dataclass(frozen=True)
class Value:
    """What an op reads: a result of an op, an argument of a block, or a name that nothing in the
    dump defines. `role`: what it is to that op, "" where the dump does not say."""

    of: Op | Block | None
    number: int = 0
    name: str = ""
    role: str = ""


@dataclass
class Snapshot:
    """A program as it was printed, and how much of the text was understood."""

    root: Op
    ops: int = 0
    odd: int = 0
    """Lines that are nothing that is known."""
    unknown: int = 0
    """Uses of values that nothing before them defines."""
    lines: dict[str, str] = field(default_factory=dict[str, str])
    """Lines of the user's program that the text quotes, by "file:line"."""
