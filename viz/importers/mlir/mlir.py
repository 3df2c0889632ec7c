"""MLIR's text, in its generic and in its custom forms, as snapshots, and logs of it as passes.

Read by lines, with brackets and strings respected: results stand before `=`, the first word is the
op, other `%names` are what it reads, and a line that ends with `{` opens a region. That needs no
grammar of any dialect; other lines are counted. Format: https://mlir.llvm.org/docs/LangRef, "IR
Printing" of https://mlir.llvm.org/docs/PassManagement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from viz.importers.snapshot import Block, Op, Snapshot, Value

_DUMP: Final = re.compile(
    r"\s*// -----// IR Dump (?P<when>Before|After)(?P<failed> Failed)? (?P<name>(?:[^\s(:]|::)+)"
    r"(?::? \(?(?P<argument>[\w.\-]+))?[^\n]*//----- //"
)
_LLVM: Final = re.compile(
    r"[;#]? ?\*\*\* IR (?:Dump (?P<when>Before|After) (?P<name>.+?)|Dump At (?P<start>Start))"
    r"(?: on \(?(?P<of>[^()]+?)\)?)?(?P<omitted> omitted because .*?| filtered out)? \*\*\*"
)
_TARGET: Final = re.compile(r"// -----// (NVPTX|AMDGCN) Dump //----- //")
_MACHINE: Final = re.compile(r"# (?:Machine code for function|\*\*\* IR Dump)")
_MESSAGE: Final = re.compile(
    r"(?:[^\s\"%][^\"%]*:\d+:\d+|<unknown>:0|loc\([^\n]*\)): (?:warning|error|note|remark): "
)
"""What a compiler says between two dumps, of which lines of the program may follow."""
_RESULTS: Final = re.compile(r"\s*(%[\w$.\-]+(?::\d+)?(?:\s*,\s*%[\w$.\-]+(?::\d+)?)*)\s*=\s*(?!=)")
_NAME: Final = re.compile(r'\s*(?:"([^"]+)"|([A-Za-z_][\w$.\-]*))')
_USE: Final = re.compile(r"%[\w$.\-]+(?:#\d+)?")
_LABEL: Final = re.compile(r"\s*(\^[\w$.\-]+)\s*(?:\((.*)\))?\s*:\s*$")
_ARGUMENT: Final = re.compile(r"(%[\w$.\-]+)\s*:\s*")
_DEFINED: Final = re.compile(
    r"(\bas )?(%[\w$.\-]+)(?:\s*[:=]|(?=(?:\s*,\s*%[\w$.\-]+){0,16}\s*\)\s*(?:=|in\b)))\s*"
)
"""`%a: type`, `%a = %b`, and the names of `(%a, %b) = (...)` and `(%a, %b) in (...)`."""
_DECLARES: Final = re.compile(r"[^(%]*@[^(%]*\(%")
"""An op with a symbol, such as a function, whose list of names follows."""
_ALIAS: Final = re.compile(r"\s*(#loc\d*)\s*=\s*loc\((.*)\)\s*$")
_PLACE: Final = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+)')
_QUOTED: Final = r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)'
"""A string; one that is not closed goes to the end."""
_STRING: Final = re.compile(f"({_QUOTED})", re.DOTALL)
_MARKS: Final = re.compile(rf"{_QUOTED}|[-=]>|[()\[\]{{}}<>,:]", re.DOTALL)
_CODE: Final = re.compile(rf'(?:[^"/]|{_QUOTED}|/(?!/))*', re.DOTALL)
"""What stands in front of a comment."""
_BEFORE: Final = 1000
"""Characters in which the name of a function is searched; characters of a location that are
read."""
_LATER: Final = re.compile(r"(?:cond|do)\s*\{$")
"""A region that begins on a separate line, after its op."""
_BEGINS: Final = re.compile(r'\s*(?:"?builtin\.module"?|module|func\.func|"func\.func")\b.*[{]\s*$')
"""How a module begins, or a function that stands alone."""
_OPENS: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CLOSES: Final = frozenset(_OPENS.values())
_DEPTHS: Final = {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}
MAX_OPS: Final = 1_000_000
_LONGEST: Final = 1 << 20
"""Characters of an op; a longer one ends there."""
MAX_DEPTH: Final = 200


@dataclass
class Dump:
    """One printed module of a log. `when`: "before", "after" or "" for text without a header;
    `name` and `argument` are the pass as its class and as it is called."""

    when: str
    name: str
    argument: str
    failed: bool
    language: str = "mlir"
    """"mlir", "llvm", or "ptx" and "amd_isa" of the text that a kernel became."""
    of: str = ""
    """What a text of LLVM is of: "[module]", or a function."""
    lines: list[str] = field(default_factory=list[str])


def dumps_in(lines: Iterable[str]) -> Iterator[Dump]:
    """The modules that a log prints, in order; what stands around them is left out."""
    current: Dump | None = None
    is_message = False
    for line in lines:
        found = _DUMP.match(line)
        if found is not None:
            is_message = False
            if current is not None:
                yield current
            when, argument = found["when"].lower(), found["argument"] or ""
            current = Dump(when, found["name"], argument, found["failed"] is not None)
        elif (llvm := _LLVM.match(line)) is not None:
            if current is not None:
                yield current
            when = (llvm["when"] or "").lower()
            current = Dump(when, llvm["name"] or "", "", False, "llvm", llvm["of"] or "")
            if llvm["omitted"]:
                current = None
        elif (target := _TARGET.match(line)) is not None:
            if current is not None:
                yield current
            current = Dump("", "", "", False, "ptx" if target[1] == "NVPTX" else "amd_isa")
        elif _MACHINE.match(line):  # after instruction selection, the text has another form
            if current is not None:
                yield current
            current = None
        elif current is not None:
            is_message = is_message or _MESSAGE.match(line) is not None
            if not is_message:
                current.lines.append(line)
        elif _BEGINS.match(line):
            current = Dump("", "", "", False, lines=[line])
    if current is not None:
        yield current


def parse(lines: Iterable[str]) -> Snapshot:
    """The module of some lines. Never raises: what is not understood is counted."""
    return _Reader().read(lines)


class _Scope:
    """The region that is open: its op, its block, and the values that are known in it."""

    def __init__(self, op: Op, block: Block, around: _Scope | None) -> None:
        self.op, self.block = op, block
        self.around = around
        self.depth = 0 if around is None else around.depth + 1
        self._values: dict[str, Value] = {}

    def define(self, name: str, value: Value) -> None:
        """A value by its name, with its `%`."""
        self._values[name] = value

    def find(self, name: str) -> Value | None:
        """The value of a name, here or around."""
        scope: _Scope | None = self
        while scope is not None:
            found = scope._values.get(name)
            if found is not None:
                return found
            scope = scope.around
        return None


class _Reader:
    def __init__(self) -> None:
        self._root = Op("module")
        self._made = Snapshot(self._root)
        block = Block()
        self._root.blocks.append(block)
        self._scope = _Scope(self._root, block, None)
        self._aliases: dict[str, str] = {}
        self._placed: list[tuple[Op, str]] = []
        self._line = 0
        self._later: tuple[Op, list[tuple[str, str]]] | None = None
        """The last op that may have regions on the lines that follow, and what it defines for
        them."""

    def read(self, lines: Iterable[str]) -> Snapshot:
        """The snapshot."""
        skipping = False
        for self._line, statement in _statements(lines):
            if statement.startswith("{-#"):
                skipping = True
            if not skipping:
                self._statement(statement)
            if skipping and "#-}" in statement:
                skipping = False
            if self._made.ops > MAX_OPS:
                break
        for op, name in self._placed:
            op.place = _place(self._aliases.get(name, ""))
        only = [op for block in self._root.blocks for op in block.ops]
        if len(only) == 1 and only[0].blocks:  # the module itself was printed
            self._made.root = only[0]
        return self._made

    def _statement(self, text: str) -> None:
        alias = _ALIAS.match(text)
        if alias is not None:
            self._aliases[alias[1]] = alias[2]
            return
        if text.startswith(("#", "!")):  # an alias of an attribute or a type
            return
        label = _LABEL.match(text)
        if label is not None:
            self._label(label[1], label[2] or "")
            return
        while text.startswith((")", "}")):
            text = self._close(text)
        if text:
            self._op(text)

    def _close(self, text: str) -> str:
        """Closes the region that is open; what else stands on the line belongs to its op, or opens
        the next region of it."""
        op = self._scope.op
        if text[0] == "}" and self._scope.around is not None:
            self._scope = self._scope.around
            rest = text[1:].lstrip()
            opens = rest.endswith("{")
            rest = rest[:-1].rstrip() if opens else rest
            if rest.startswith(")"):
                rest = rest[1:].lstrip()
            rest = rest.lstrip(",").lstrip()
            if rest:
                self._finish(op, rest.rstrip("(").rstrip())
            if opens:
                later = self._later
                self._open(op, later[1] if later is not None and later[0] is op else ())
            return ""
        if text[0] == "}":
            self._made.odd += 1
            return ""
        return text[1:].lstrip()

    def _label(self, name: str, arguments: str) -> None:
        scope = self._scope
        block = scope.block
        if block.ops or block.label or len(scope.op.blocks) == 0:
            block = Block()
            scope.op.blocks.append(block)
            scope.block = block
        block.label = name
        self._arguments(block, arguments)

    def _arguments(self, block: Block, text: str) -> None:
        """Arguments of a block: `%a: type loc(...), ...`."""
        for part in _split(text):
            found = _ARGUMENT.match(part.strip())
            if found is not None:
                self._scope.define(found[1], Value(block, len(block.arguments), found[1]))
                block.arguments.append(_without_place(part.strip()[found.end() :])[0])

    def _op(self, text: str) -> None:
        names: list[str] = []
        results = _RESULTS.match(text)
        if results is not None:
            names = [name.strip() for name in results[1].split(",")]
            text = text[results.end() :]
        name = _NAME.match(text)
        if name is None:
            self._no_op(text)
            return
        op = Op(name[1] or name[2], line=self._line)
        rest = text[name.end() :]
        if self._later is not None and _LATER.match(text):
            self._open(*self._later)
            return
        if name[1]:  # the generic form: operands in brackets, which add nothing
            rest = self._operands(op, rest.lstrip())
        opens = rest.rstrip().endswith("{")
        self._made.ops += 1
        self._scope.block.ops.append(op)
        if opens:
            rest = rest.rstrip()[:-1].rstrip().rstrip("(").rstrip()
        inner = self._finish(op, rest, opens or op.name.endswith(".while"))
        if op.name.endswith(".while") and not opens:
            self._later = op, inner
        for name_of in names:
            base, _, count = name_of.partition(":")
            value = Value(op, 0, base)
            self._scope.define(base, value)
            for at in range(min(int(count), 1000) if count.isdecimal() else 1):
                self._scope.define(f"{base}#{at}", Value(op, at, base))
        if opens:
            self._open(op, inner)

    def _no_op(self, text: str) -> None:
        """Continues the op before it; other lines are counted."""
        ops = self._scope.block.ops
        if ops and not ops[-1].blocks and text.startswith(("%", ":")):
            self._finish(ops[-1], text)
        else:
            self._made.odd += 1

    def _operands(self, op: Op, rest: str) -> str:
        """What stands behind the list of operands that `rest` begins with."""
        end = next((at for at, c in _outside(rest) if c == ")"), -1)
        if not rest.startswith("(") or end < 0:
            return rest
        op.operands += [self._value(found[0]) for found in _USE.finditer(rest[:end])]
        return rest[end + 1 :].lstrip()

    def _value(self, name: str) -> Value:
        """What a name stands for here."""
        value = self._scope.find(name) or self._scope.find(name.partition("#")[0])
        if value is None:
            self._made.unknown += 1
            value = Value(None, 0, name)
        return value

    def _finish(self, op: Op, rest: str, opens: bool = False) -> list[tuple[str, str]]:
        """The rest of the line of an op, after its name or after one of its regions; the values
        that are defined there for its region: names and types."""
        rest, place = _without_place(rest)
        if place.startswith("#"):
            self._placed.append((op, place))
        elif place:
            op.place = _place(place)
        declares = _DECLARES.match(rest[:_BEFORE]) is not None
        inner = [
            (found[2], "")
            for found in (_DEFINED.finditer(rest) if opens or declares else ())
            if declares or found[1] or self._scope.find(found[2]) is None
        ]
        defined = {name: f"%{at}" for at, (name, _) in enumerate(inner)}

        def use(found: re.Match[str]) -> str:
            """A name that says the same in every dump."""
            name = found[0]
            if name in defined:
                return defined[name]
            op.operands.append(self._value(name))
            return f"${len(op.operands) - 1}"

        text = _outside_strings(rest, lambda part: _USE.sub(use, part)).strip()
        body, kind = _type_of(text)
        op.text = f"{op.text} {body}".strip()
        op.type = kind or op.type
        return inner

    def _open(self, op: Op, inner: Iterable[tuple[str, str]] = ()) -> None:
        """A region of an op begins, with the values that its line defines."""
        if self._scope.depth >= MAX_DEPTH:
            self._made.odd += 1
            return
        block = Block()
        op.blocks.append(block)
        self._scope = _Scope(op, block, self._scope)
        for name, kind in inner:
            self._scope.define(name, Value(block, len(block.arguments), name))
            block.arguments.append(kind)


def _statements(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Lines without comments, each with its number; those whose round, square or angle brackets are
    open go on, and so do those that end with what has to be followed by something."""
    waiting: list[str] = []
    depth = size = begin = 0
    for number, line in enumerate(lines):
        text = _without_comment(line).strip()
        if not text:
            continue
        begin = begin if waiting else number
        waiting.append(text)
        depth += _depth(text)
        size += len(text)
        if (depth <= 0 and not text.endswith("=")) or text.endswith("{") or size > _LONGEST:
            yield begin, " ".join(waiting)
            waiting, depth, size = [], 0, 0
    if waiting:
        yield begin, " ".join(waiting)


def _without_comment(line: str) -> str:
    at = line.find("//")
    if at < 0:
        return line
    if '"' not in line[:at]:
        return line[:at]
    found = _CODE.match(line)
    return found[0] if found is not None else line


def _depth(text: str) -> int:
    """How many more round, square and angle brackets a line opens than it closes."""
    return sum(_DEPTHS.get(c, 0) for _, c in _outside(text))


def _outside(text: str) -> Iterator[tuple[int, str]]:
    """The brackets, commas and colons that are in no string, with their places; the `>` of `->` is
    none."""
    for found in _MARKS.finditer(text):
        mark = found[0]
        if len(mark) == 1 and mark != '"':
            yield found.start(), mark


def _outside_strings(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` done to each part that is no string."""
    parts = _STRING.split(text)
    return "".join(part if at % 2 else change(part) for at, part in enumerate(parts))


def _split(text: str) -> Iterator[str]:
    """The parts between commas that are in no bracket."""
    depth, begin = 0, 0
    for at, c in _outside(text):
        if c in _OPENS:
            depth += 1
        elif c in _CLOSES:
            depth -= 1
        elif c == "," and depth == 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def _without_place(text: str) -> tuple[str, str]:
    """A line without `loc(...)` at its end, and what stands in that."""
    text = text.rstrip()
    if not text.endswith(")"):
        return text, ""
    at = text.rfind("loc(")
    if at < 0 or (at and (text[at - 1].isalnum() or text[at - 1] in "_.")):
        return text, ""
    inner = text[at + 4 : -1]
    return (text[:at].rstrip(), inner) if inner.count("(") == inner.count(")") else (text, "")


def _place(location: str) -> str:
    """ "file:line" of a location, the first that it names; "" for none."""
    found = _PLACE.search(location[:_BEFORE])
    return f"{found[1]}:{found[2]}" if found else ""


def _type_of(text: str) -> tuple[str, str]:
    """What stands before the last colon outside of brackets, and the type of the results after
    it."""
    depth, colon = 0, -1
    for at, c in _outside(text):
        if c in _OPENS:
            depth += 1
        elif c in _CLOSES:
            depth -= 1
        elif c == ":" and depth == 0:
            colon = at
    if colon < 0:
        return text, ""
    kind = text[colon + 1 :].strip()
    _, arrow, result = kind.rpartition("->")
    return text[:colon].strip(), (result if arrow else kind).strip()


def is_mlir(head: str) -> bool:
    """Whether a text that begins like this is MLIR's, or a log of LLVM's passes."""
    begins = (_DUMP, _BEGINS, _LLVM)
    return any(one.match(line) for line in head.splitlines()[: 1 << 14] for one in begins)
