"""The text of a torch.fx graph as a snapshot: an op for each line of its `forward`.

The text is Python. It is parsed line by line and never run; a line that is no Python, such as one
with the text of an object in it, is read by its words. Format: `Graph.python_code` of torch.fx.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from viz.importers.snapshot import Block, Op, Snapshot, Value

_FILE: Final = re.compile(r"#.*?\bFile: (?P<file>[^:]+(?::[^:\d][^:]*)?):(?P<line>\d+)(?: in .*?)?"
                          r"(?:, code: (?P<code>.*))?$")  # fmt: skip
_CLASS: Final = re.compile(r"^([ \t]*)class ([^\s(]+)\(", re.MULTILINE)
_FORWARD: Final = re.compile(r"\s*def forward\(")
_ASSIGNED: Final = re.compile(
    r"\s*([A-Za-z_]\w*)\s*+(?::\s*\"([^\"]*)\"\s*)?=(?!=)\s*(.*)$", re.DOTALL
)
_DECLARED: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*\"([^\"]*)\"\s*$")
_TUPLE: Final = re.compile(r"\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*\s*+,?)\s*=\s*fx_pytree\.")
_FREES: Final = re.compile(r";\s+(?:[A-Za-z_]\w*\s*=\s*)+None\s*$")
_COMMENT: Final = re.compile(r"\s#")
_RETURN: Final = re.compile(r"\s*return\b(.*)$", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_PARAMETER: Final = re.compile(r"\s*\*{0,2}([A-Za-z_]\w*)\s*(?::\s*\"([^\"]*)\")?")
_LONGEST: Final = 1 << 16
"""Characters of a line that is parsed as Python; a longer one is read by its words."""
_TOO_LONG: Final = 1 << 20
"""Characters of a line that is not read at all."""
_COMMENTS: Final = 4000
"""Characters of a comment."""
MAX_OPS: Final = 1_000_000
MAX_DEPTH: Final = 50
_OPERATORS: Final[Mapping[type[ast.AST], str]] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.Pow: "pow",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.MatMult: "matmul",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.USub: "neg",
    ast.Invert: "invert",
    ast.Not: "not_",
    ast.UAdd: "pos",
}
_PREFIXES: Final = (
    ("torch.ops.", ""),
    ("torch._C._nn.", "torch."),
    ("torch.nn.functional.", "torch."),
    ("torch._C._", "torch."),
)


def is_graph(text: str) -> bool:
    """Whether this is the text of a graph."""
    return "def forward(" in text and _CLASS.search(text) is not None


def parse(text: str) -> Snapshot:
    """The graph of a text. Never raises: what is not understood is counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the text says, such as an escape that is none
        return _Reader().read(text)


class _Scope:
    """A graph that is open: its op, how far its class is indented, and its names."""

    def __init__(self, op: Op, indent: int) -> None:
        self.op, self.indent = op, indent
        self.block = Block()
        op.blocks.append(self.block)
        self.values: dict[str, Value] = {}
        self.types: dict[str, str] = {}
        self.has_forward = False
        self.is_flattened = False
        """Whether what its parameters hold has taken their place."""


class _Reader:
    def __init__(self) -> None:
        self._root = Op("graph")
        self._made = Snapshot(self._root)
        self._scopes = [_Scope(self._root, -1)]
        self._place = ""
        self._line = 0

    def read(self, text: str) -> Snapshot:
        """The snapshot."""
        for self._line, statement in _statements(text.splitlines()):
            if len(statement) > _TOO_LONG:
                self._made.odd += 1
            elif statement.lstrip().startswith("#"):
                self._comment(statement[:_COMMENTS])
            elif statement.strip():
                self._statement(statement)
            if self._made.ops > MAX_OPS:
                break
        return self._made

    def _comment(self, text: str) -> None:
        found = _FILE.match(text.lstrip())
        self._place = f"{found['file'].strip()}:{found['line']}" if found else ""
        if found and found["code"]:
            self._made.lines.setdefault(self._place, found["code"])

    def _statement(self, text: str) -> None:
        indent = len(text) - len(text.lstrip())
        begins = _CLASS.match(text)
        if begins is not None:
            self._class(len(begins[1]), begins[2])
            return
        if len(self._scopes) > 1 and indent <= self._scopes[-1].indent:
            self._leave(indent)
        scope = self._scopes[-1]
        if _FORWARD.match(text):
            scope.has_forward = True
            self._parameters(text)
        elif not scope.has_forward:
            self._made.odd += not text.lstrip().startswith(("import ", "from ", '"""', "def "))
        elif "fx_pytree." in text and (tree := _TUPLE.match(text)) is not None:
            self._flattened(text)
            for name in filter(None, (part.strip() for part in tree[1].split(","))):
                self._placeholder(name, scope.types.get(name, ""))
        elif (declared := _DECLARED.match(_without_comment(text))) is not None:
            scope.types[declared[1]] = declared[2]
        elif (returned := _RETURN.match(text)) is not None:
            self._place = ""
            self._op("output", "", returned[1], "output")
        elif (assigned := _ASSIGNED.match(_FREES.sub("", text))) is not None:
            self._assign(assigned[1], assigned[2] or "", assigned[3].strip())
        else:
            self._op("", "", text, "call")

    def _class(self, indent: int, name: str) -> None:
        self._leave(indent)
        if len(self._scopes) > MAX_DEPTH:
            self._made.odd += 1
            return
        if len(self._scopes) == 1 and self._root.line < 0:
            self._root.line = self._line
            self._scopes[0].indent = indent
            return
        op = self._add(Op("subgraph", name, line=self._line, key=name))
        self._scopes.append(_Scope(op, indent))

    def _leave(self, indent: int) -> None:
        while len(self._scopes) > 1 and indent <= self._scopes[-1].indent:
            self._scopes.pop()

    def _parameters(self, text: str) -> None:
        inside = text[text.index("(") + 1 :]
        end = next((at for at, depth in _depths(inside) if depth < 0), len(inside))
        for part in _split(inside[:end]):
            found = _PARAMETER.match(part)
            if found is not None and found[1] != "self":
                self._placeholder(found[1], found[2] or "")

    def _flattened(self, text: str) -> None:
        """The parameters of the function are no inputs of the graph: what they hold is."""
        scope = self._scopes[-1]
        if scope.is_flattened:
            return
        scope.is_flattened = True
        gone = {scope.values.pop(name).of for name in _WORD.findall(text) if name in scope.values}
        self._made.ops -= len(gone)
        scope.block.ops = [op for op in scope.block.ops if op not in gone]

    def _placeholder(self, name: str, kind: str) -> None:
        op = self._add(Op("placeholder", type=kind, line=self._line, key=name))
        self._scopes[-1].values[name] = Value(op, 0, name)

    def _assign(self, name: str, kind: str, text: str) -> None:
        scope = self._scopes[-1]
        known = scope.values.get(text)
        if known is not None:  # another name of the same value, as of placeholders
            scope.values[name] = known
            if isinstance(known.of, Op) and known.of.name == "placeholder":
                known.of.key = name
            return
        scope.values[name] = Value(self._op(name, kind, text, "call"), 0, name)

    def _op(self, name: str, kind: str, text: str, otherwise: str) -> Op:
        """An op of what stands behind `=`."""
        op = Op(otherwise, type=kind, place=self._place, line=self._line, key=name)
        expression = _parsed(text)
        if expression is None:
            self._loosely(op, text)
        else:
            try:
                self._read(op, expression)
            except RecursionError:
                op.operands.clear()
                self._loosely(op, text)
        return self._add(op)

    def _add(self, op: Op) -> Op:
        self._made.ops += 1
        self._scopes[-1].block.ops.append(op)
        return op

    def _loosely(self, op: Op, text: str) -> None:
        """The words of a text: the first is the op, known names are what it reads."""
        values = self._scopes[-1].values
        first = _WORD.search(text)
        if first is not None and op.name == "call" and first[0] not in values:
            name, overload = _overload(first[0])
            op.name = _named(name)
            text = overload + text[: first.start()] + text[first.end() :]

        def use(found: re.Match[str]) -> str:
            head, dot, rest = found[0].partition(".")
            if head not in values:
                return found[0]
            return f"{self._operand(op, values[head])}{dot}{rest}"

        op.text = _WORD.sub(use, text).strip()

    def _operand(self, op: Op, value: Value, role: str = "") -> str:
        op.operands.append(replace(value, role=role) if role else value)
        return f"${len(op.operands) - 1}"

    def _read(self, op: Op, expression: ast.expr) -> None:
        match expression:
            case _ if op.name == "output":
                arguments: Sequence[ast.expr] = [expression]
                keywords: Sequence[ast.keyword] = ()
            case ast.Call(func=func, args=args, keywords=found):
                op.name, arguments, keywords = self._callee(func, args, found)
            case ast.BinOp(left=left, op=operator, right=right):
                op.name, arguments, keywords = _operator(operator), [left, right], ()
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                op.name, arguments, keywords = _operator(operator), [left, right], ()
            case ast.UnaryOp(op=operator, operand=operand):
                op.name, arguments, keywords = _operator(operator), [operand], ()
            case ast.Subscript(value=value, slice=place):
                op.name, arguments, keywords = "operator.getitem", [value, place], ()
            case ast.Attribute() if _path(expression).startswith("self."):
                op.name, arguments, keywords = "get_attr", (), ()
                op.text = _path(expression).removeprefix("self.")
            case ast.Attribute(value=value, attr=name):
                op.name, arguments, keywords = "getattr", [value], ()
                op.text = f".{name}"
            case _:
                op.name, arguments, keywords = "call", [expression], ()
        values = self._scopes[-1].values
        replaced = _Names(lambda name: self._operand(op, values[name]), values.keys())
        said = [ast.unparse(replaced.visit(argument)) for argument in arguments]
        for keyword in keywords:
            role = keyword.arg or "**"
            named = _Names(lambda name, of=role: self._operand(op, values[name], of), values.keys())
            said.append(f"{role}={ast.unparse(named.visit(keyword.value))}")
        said = [part.replace("__uopviz_", "$") for part in said]
        plain = [f"${at}" for at in range(len(said))]
        if said != plain:  # it reads its operands in order, and nothing else
            op.text = f"{op.text} {', '.join(said)}".strip()
        if isinstance(expression, ast.Call):
            op.text = f"{_overload(_path(expression.func))[1]} {op.text}".strip()

    def _callee(
        self, func: ast.expr, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> tuple[str, Sequence[ast.expr], Sequence[ast.keyword]]:
        path = _path(func)
        head = path.partition(".")[0]
        if path.startswith("self."):
            return "module", [ast.Constant(path.removeprefix("self.")), *args], keywords
        if isinstance(func, ast.Attribute) and (not path or head in self._scopes[-1].values):
            return f"Tensor.{func.attr}", [func.value, *args], keywords
        return (
            (_named(_overload(path)[0]), args, keywords)
            if path
            else ("call", [func, *args], keywords)
        )


class _Names(ast.NodeTransformer):
    """Names of values as operands."""

    def __init__(self, operand: Callable[[str], str], known: Collection[str]) -> None:
        self._operand, self._known = operand, known

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name of Python, as the base class calls it."""
        if node.id not in self._known:
            return node
        return ast.Name(self._operand(node.id).replace("$", "__uopviz_"), ast.Load())


def _parsed(text: str) -> ast.expr | None:
    if len(text) > _LONGEST:
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _path(expression: ast.expr) -> str:
    """`a.b.c` as text; "" for anything else."""
    names: list[str] = []
    while isinstance(expression, ast.Attribute):
        names.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return ""
    return ".".join((expression.id, *reversed(names)))


def _named(path: str) -> str:
    """`torch.ops.aten.mm` as `aten.mm`, others without what says nothing of the op."""
    for long, short in _PREFIXES:
        if path.startswith(long):
            path = short + path.removeprefix(long)
            break
    return path


def _overload(path: str) -> tuple[str, str]:
    """`torch.ops.aten.mul.Tensor` without its overload, and that; "" where it is the usual one."""
    if path.startswith("torch.ops.") and path.count(".") >= 4:
        op, _, overload = path.rpartition(".")
        return op, "" if overload == "default" else f".{overload}"
    return path, ""


def _operator(operator: ast.operator | ast.cmpop | ast.unaryop) -> str:
    return f"operator.{_OPERATORS.get(type(operator), type(operator).__name__.lower())}"


def _without_comment(text: str) -> str:
    """Without a comment that has no quotes in it."""
    quote = text.rfind('"') + 1
    at = _COMMENT.search(text, quote)
    return text if at is None else text[: at.start()]


def _statements(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; those whose brackets are open go on, without their comments."""
    waiting: list[str] = []
    depth = size = begin = 0
    for number, line in enumerate(lines):
        if not waiting and line.lstrip().startswith("#"):
            yield number, line
            continue
        text = _without_comment(line)
        begin = begin if waiting else number
        waiting.append(text)
        size += len(text)
        depth += _opened(text)
        if depth <= 0 or size > _LONGEST:
            yield begin, " ".join(waiting)
            waiting, depth, size = [], 0, 0
    if waiting:
        yield begin, " ".join(waiting)


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """Where brackets and commas outside of strings stand, and how many brackets are open behind
    each."""
    depth, quote, at = 0, "", 0
    while at < len(text):
        c = text[at]
        if quote:
            at += c == "\\"
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([{)]},":
            depth += (c in "([{") - (c in ")]}")
            yield at, depth
        at += 1


def _opened(text: str) -> int:
    return [0, *(depth for _, depth in _depths(text))][-1]


def _split(text: str) -> Iterator[str]:
    """The parts between commas that are in no bracket and no string."""
    begin = 0
    for at, depth in _depths(text):
        if text[at] == "," and depth == 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]
