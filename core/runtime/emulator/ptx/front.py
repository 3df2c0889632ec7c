"""`read`: the text of a PTX kernel as a `Code` of the machine.

Raises CompileError, with the line, for what it does not know. Never guesses, never optimises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from core.errors import CompileError
from core.runtime.emulator.program import Branch, Code, Dim, Guard, Instruction, Space
from core.runtime.emulator.ptx import collective, copying, forms, matrix, moving
from core.runtime.emulator.ptx.forms import Form
from core.runtime.emulator.ptx.names import Names
from core.runtime.emulator.ptx.text import Reader, Statement, bad_text, statements_of

HANDLERS: Final[Mapping[str, Callable[[Form], list[Instruction]]]] = {
    "mov": moving.move,
    "ld": moving.load,
    "ldu": moving.load,
    "st": moving.store,
    "cp": copying.copy,
    "cvta": moving.convert_address,
    "cvt": forms.convert,
    "setp": forms.compare,
    "lop3": forms.logic,
    "bra": forms.branch,
    "ret": forms.leave,
    "exit": forms.leave,
    "bar": forms.barrier,
    "barrier": forms.barrier,
    "membar": forms.nothing,
    "fence": forms.nothing,
    "shfl": collective.shuffle,
    "vote": collective.vote,
    "mma": matrix.multiply,
    "ldmatrix": matrix.load,
}
"""Instructions that are more than a row of `rows.ROWS`."""

_DECLARATIONS: Final = {
    ".shared": Space.SHARED,
    ".local": Space.LOCAL,
    ".const": Space.CONSTANT,
    ".global": Space.GLOBAL,
}
_IGNORED: Final = {".version", ".target", ".address_size", ".file", ".loc", ".pragma", ".section"}
_HEADER: Final = {".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".maxnctapersm"}


def read(text: str, name: str) -> Code:
    """The kernel called `name`. Raises CompileError for text that is not PTX, that has no such
    kernel, or that uses what the emulator does not have."""
    statements = statements_of(text)
    module = _Module(text, name, statements, 0)
    if module.names.dynamic:  # it begins where the shared memory of known size ends
        module = _Module(text, name, statements, module.names.shared_bytes)
    return module.finish()


class _Module:
    """Reads statements in order; those of other kernels are skipped. Shared memory of unknown size
    begins at `dynamic_start`."""

    def __init__(
        self, text: str, name: str, statements: Sequence[Statement], dynamic_start: int
    ) -> None:
        self._text, self._name = text, name
        self.names = Names(dynamic_start=dynamic_start)
        self._instructions: list[Instruction] = []
        self._labels: dict[str, int] = {}
        self._jumps: list[str] = []
        self._depth = 0
        self._inside: str | None = None
        self._threads: Dim | None = None
        self._seen: list[str] = []
        self._found = False
        for statement in statements:
            self._take(statement)

    def _take(self, statement: Statement) -> None:
        """The next statement."""
        reader = Reader(self._text, statement)
        if statement.kind == "open":
            self._depth += 1
        elif statement.kind == "close":
            self._depth -= 1
            if self._depth < 0:
                raise reader.error("'}' without a '{'")
            if not self._depth:
                self._inside = None
        elif self._inside is not None and self._inside != self._name:
            return
        elif statement.kind == "label":
            self._label(statement, reader)
        elif statement.kind == "directive":
            self._directive(reader)
        elif self._inside is None:
            raise reader.error("an instruction outside of a kernel")
        else:
            self._instruction(reader)

    def _label(self, statement: Statement, reader: Reader) -> None:
        label = statement.tokens[0].text
        if label in self._labels:
            raise reader.error(f"the label {label} is there twice")
        self._labels[label] = len(self._instructions)

    def _directive(self, reader: Reader) -> None:
        word = reader.word()
        linkage = {".visible", ".extern", ".weak", ".common"}
        dynamic = False
        while word in linkage:
            dynamic |= word == ".extern"
            word = reader.word()
        if word in _IGNORED:
            return
        if word == ".entry":
            self._entry(reader)
        elif word == ".func":
            raise reader.error("the emulator has no functions besides kernels", "inline them")
        elif word == ".reg":
            self.names.declare_registers(reader)
        elif word in _DECLARATIONS:
            self.names.declare_variable(_DECLARATIONS[word], reader, dynamic)
        else:
            raise reader.error(f"the emulator has no directive {word}")

    def _entry(self, reader: Reader) -> None:
        if self._depth:
            raise reader.error("a kernel inside of a kernel", "close the one before it with a '}'")
        name = reader.word()
        self._inside = name
        self._seen.append(name)
        if name != self._name:
            return
        self._found = True
        if reader.takes("("):
            while not reader.takes(")"):
                reader.next(".param")
                self.names.declare_parameter(reader)
                reader.takes(",")
        while reader.peek():
            self._launch_bound(reader)

    def _launch_bound(self, reader: Reader) -> None:
        word = reader.word()
        if word not in _HEADER:
            raise reader.error(f"the emulator has no directive {word}")
        sizes = [reader.number().value]
        while reader.takes(","):
            sizes.append(reader.number().value)
        if word == ".reqntid":
            x, y, z = [*sizes, 1, 1][:3]
            self._threads = (x, y, z)

    def _instruction(self, reader: Reader) -> None:
        guard = None
        if reader.takes("@"):
            negated = reader.takes("!")
            name = reader.word()
            register = self.names.register(name)
            if register is None or register.bits != 1:
                raise reader.error(f"{name} is not a predicate that was declared")
            guard = Guard(register.number, not negated)
        opcode = reader.word()
        form = Form(self.names, reader, opcode, guard, reader.items(), self._jump)
        self._instructions += HANDLERS.get(form.name, forms.by_row)(form)

    def _jump(self, label: str) -> int:
        """What stands for a label until all labels are known."""
        self._jumps.append(label)
        return len(self._jumps) - 1

    def _resolved(self, instruction: Instruction) -> Instruction:
        if not isinstance(instruction, Branch):
            return instruction
        label = self._jumps[instruction.target]
        if label not in self._labels:
            raise bad_text(self._text, instruction.line, f"there is no label {label}")
        return replace(instruction, target=self._labels[label])

    def finish(self) -> Code:
        """The whole kernel."""
        if not self._found:
            there = ", ".join(self._seen) or "none"
            raise CompileError(f"ptx: no kernel {self._name!r}", f"kernels in the text: {there}")
        if self._depth:
            raise bad_text(self._text, self._text.count("\n"), "a '{' without its '}'")
        names = self.names
        return Code(
            name=self._name,
            text=self._text,
            language="ptx",
            instructions=tuple(map(self._resolved, self._instructions)),
            registers=tuple(names.registers),
            parameters=tuple(names.parameters),
            shared_bytes=names.shared_bytes,
            local_bytes=names.local_bytes,
            shared_names=names.shared_names,
            local_names=names.local_names,
            constants=bytes(names.constants),
            data=tuple(names.data),
            threads=self._threads,
        )
