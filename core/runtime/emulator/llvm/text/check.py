"""Whether the names of a function fit together: each defined once, of the type that its uses say,
and before them on every way.

Says nothing about what instructions do. Iterative throughout: a text may have very many blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NoReturn

from core.runtime.emulator.llvm.text.lexer import refuse
from core.runtime.emulator.llvm.text.module import (
    Block,
    Constant,
    Function,
    Instruction,
    Local,
    Module,
)
from core.runtime.emulator.llvm.text.types import Pointer, Type


def check_function(module: Module) -> None:
    """Raises CompileError at the first line that does not fit (LLVM language reference, "Well-
    Formedness")."""
    _Check(module).run()


def successors(block: Block) -> tuple[str, ...]:
    """The names of the blocks that a block may go on with, each once."""
    return tuple(dict.fromkeys(block.end.labels))


def instructions_of(block: Block) -> Iterator[Instruction]:
    """All instructions of a block, in order."""
    yield from block.phis
    yield from block.body
    yield block.end


_RELEASE: Final = frozenset({"release", "acq_rel", "seq_cst"})
_ACQUIRE: Final = frozenset({"acquire", "acq_rel", "seq_cst"})
_NARROW: Final = frozenset({"scope singlethread", "scope wavefront"})


def check_fences(text: str, block: Block) -> None:
    """Raises CompileError for a barrier without a fence before it that releases, and one after it
    that acquires: it makes work items wait, but does not let them see what others wrote (LLVM,
    "User Guide for AMDGPU Backend", "Memory Model")."""
    for number, i in enumerate(block.body):
        if i.op != "call" or not i.detail.startswith("llvm.amdgcn.s.barrier"):
            continue
        around = (block.body[number - 1 : number], block.body[number + 1 : number + 2])
        for near, wanted, side in zip(
            around, (_RELEASE, _ACQUIRE), ("before", "after"), strict=True
        ):
            fence = near[0] if near and near[0].op == "fence" else None
            if fence is None or fence.detail not in wanted or fence.flags & _NARROW:
                kind = "release" if side == "before" else "acquire"
                what = f"a barrier without a fence {side} it, so that writes need not be seen"
                refuse(what, text, i.line, f'add: fence syncscope("workgroup") {kind}')


class _Check:
    def __init__(self, module: Module) -> None:
        self.module, self.function = module, module.function
        self.blocks: dict[str, Block] = {}
        self.types: dict[str, Type] = {}
        self.home: dict[str, str] = {}
        self.variables = {v.name: v for v in module.variables}

    def fail(self, what: str, line: int, hint: str = "") -> NoReturn:
        refuse(what, self.module.text, line, hint)

    def run(self) -> None:
        """Names, then types and phis, then that values are there when they are used."""
        self._define()
        if len(self.variables) < len(self.module.variables):
            self.fail("a variable that is there twice", self.module.variables[-1].line)
        before = self._predecessors()
        if before[self.function.blocks[0].name]:
            self.fail("nothing may go back to the first block", self.function.blocks[0].line)
        for block in self.function.blocks:
            for phi in block.phis:
                self._phi(phi, before[block.name])
            for i in instructions_of(block):
                self._types(i)
        self._order()

    def _define(self) -> None:
        for parameter in self.function.parameters:
            self._name(parameter.name, parameter.type, "", self.function.line)
        for block in self.function.blocks:
            if block.name in self.blocks:
                self.fail(f"a second block %{block.name}", block.line)
            self.blocks[block.name] = block
            for i in instructions_of(block):
                if i.result:
                    self._name(i.result, i.type, block.name, i.line)

    def _name(self, name: str, type_: Type, home: str, line: int) -> None:
        if name in self.types:
            self.fail(f"a second value %{name}", line, "each name is given one value")
        self.types[name], self.home[name] = type_, home

    def _predecessors(self) -> dict[str, list[str]]:
        """The blocks that lead to each, once for each way."""
        found: dict[str, list[str]] = {name: [] for name in self.blocks}
        for block in self.function.blocks:
            for name in block.end.labels:
                if name not in found:
                    self.fail(f"there is no block %{name}", block.end.line)
                found[name].append(block.name)
        return found

    def _phi(self, phi: Instruction, before: list[str]) -> None:
        if sorted(phi.labels) != sorted(before):
            given, right = ", ".join(sorted(phi.labels)), ", ".join(sorted(before)) or "none"
            self.fail(f"a phi with values from the blocks {given}; those that lead here: {right}",
                      phi.line)  # fmt: skip
        if len(set(zip(phi.labels, phi.operands, strict=True))) > len(set(phi.labels)):
            self.fail("a phi with different values from one block", phi.line)

    def _types(self, i: Instruction) -> None:
        for operand in i.operands:
            if isinstance(operand, Constant):
                continue
            if isinstance(operand, Local):
                found = self.types.get(operand.name)
                shown = f"%{operand.name}"
            else:
                variable = self.variables.get(operand.name)
                found = Pointer(variable.space) if variable else None
                shown = f"@{operand.name}"
            if found is None:
                self.fail(f"nothing is called {shown}", i.line)
            if found != operand.type:
                self.fail(f"{shown} is of type {found}, not {operand.type}", i.line)

    def _order(self) -> None:
        """Every use is dominated by its definition. Blocks that nothing reaches are left alone."""
        spans = _spans(dominators(self.function))
        for block in self.function.blocks:
            if block.name not in spans:
                continue
            here: set[str] = {phi.result for phi in block.phis}
            for phi in block.phis:
                for operand, label in zip(phi.operands, phi.labels, strict=True):
                    if isinstance(operand, Local) and label in spans:
                        self._dominated(operand.name, label, spans, phi)
            for i in (*block.body, block.end):
                for operand in i.operands:
                    if isinstance(operand, Local) and operand.name not in here:
                        if self.home[operand.name] == block.name:
                            self.fail(f"%{operand.name} is used before it is there", i.line)
                        self._dominated(operand.name, block.name, spans, i)
                here.add(i.result)

    def _dominated(
        self, name: str, at: str, spans: Mapping[str, tuple[int, int]], user: Instruction
    ) -> None:
        home = self.home[name]
        if not home:
            return
        first, last = spans.get(home, (0, -1))
        if not first <= spans[at][0] <= last:
            self.fail(f"%{name} is not there on every way to its use", user.line,
                      f"it is computed in the block %{home}")  # fmt: skip


def dominators(function: Function) -> dict[str, str]:
    """The immediate dominator of each block that can be reached; the first block's is itself.

    K. Cooper, T. Harvey and K. Kennedy, "A Simple, Fast Dominance Algorithm", 2001.
    """
    order = reverse_postorder(function)
    number = {name: n for n, name in enumerate(order)}
    before: dict[str, list[int]] = {name: [] for name in order}
    blocks = {block.name: block for block in function.blocks}
    for name in order:
        for after in successors(blocks[name]):
            before[after].append(number[name])
    above = [0] + [-1] * (len(order) - 1)
    changed = True
    while changed:
        changed = False
        for n in range(1, len(order)):
            ready = [p for p in before[order[n]] if above[p] >= 0]
            new = ready[0]
            for p in ready[1:]:
                while new != p:
                    if new > p:
                        new = above[new]
                    else:
                        p = above[p]
            if above[n] != new:
                above[n], changed = new, True
    return {order[n]: order[above[n]] for n in range(len(order))}


def reverse_postorder(function: Function) -> list[str]:
    """The blocks that can be reached: each before those that it dominates, and a loop's body before
    what follows the loop."""
    blocks = {block.name: block for block in function.blocks}
    first = function.blocks[0].name
    found: list[str] = []
    seen = {first}
    stack = [(first, reversed(successors(blocks[first])))]
    while stack:
        name, rest = stack[-1]
        after = next((s for s in rest if s not in seen), None)
        if after is None:
            found.append(name)
            stack.pop()
        else:
            seen.add(after)
            stack.append((after, reversed(successors(blocks[after]))))
    return found[::-1]


def _spans(above: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """For each block its number, and the last of those below it, where each is numbered right
    before those that it dominates."""
    below: dict[str, list[str]] = {name: [] for name in above}
    root = ""
    for name, parent in above.items():
        if name == parent:
            root = name
        else:
            below[parent].append(name)
    first: dict[str, int] = {}
    found: dict[str, tuple[int, int]] = {}
    stack = [root]
    while stack:
        name = stack.pop()
        if name not in first:
            first[name] = len(first)
            stack += [name, *below[name]]
        elif name not in found:
            found[name] = first[name], len(first) - 1
    return found
