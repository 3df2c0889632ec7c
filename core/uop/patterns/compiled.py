"""Matching, compiled: one variant of a pattern becomes one straight-line Python function.

A choice (sources in any order) is a `for` loop, a failed test is `continue` in the innermost loop
or `return` outside of all, and the innermost line is what to do with a match. The code trusts the
dispatch of `matcher.py` for the op of the node itself. Never decides which rule runs first.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from core.dtype import DType, PtrDType
from core.uop.ops import Ops
from core.uop.patterns.interpreted import matches, permutations
from core.uop.patterns.upat import UPat, arg_matches, dtype_matches

MAX_LOOPS = 16
"""CPython refuses code with more than 20 nested blocks; such patterns are interpreted."""


class Code:
    """The function under construction: its lines, the objects that they refer to by name, and which
    variable holds the node that each name of the pattern binds."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.objects: dict[str, Any] = {}
        self.bound: dict[str, str] = {}
        self.loops = 0
        self._variables = 0

    def variable(self) -> str:
        """A fresh variable."""
        self._variables += 1
        return f"v{self._variables}"

    def object(self, value: Any) -> str:
        """A name that stands for `value` in the code."""
        name = f"O{len(self.objects)}"
        self.objects[name] = value
        return name

    def add(self, line: str) -> None:
        """One line inside all open loops."""
        self.lines.append("    " * (self.loops + 1) + line)

    def require(self, test: str) -> None:
        """Without `test` there is no match here."""
        self.add(f"if not ({test}): {'continue' if self.loops else 'return None'}")

    def loop(self, targets: list[str], values: str) -> None:
        """Opens a choice."""
        self.add(f"for {', '.join(targets)}{',' if len(targets) == 1 else ''} in {values}:")
        self.loops += 1

    def build(self, parameters: str, label: str) -> Callable[..., Any]:
        """The finished function."""
        text = "\n".join([f"def match({parameters}):", *self.lines, "    return None"])
        scope = {**self.objects}
        exec(compile(text, f"<compiled pattern of {label}>", "exec"), scope)
        return scope["match"]


def compile_match(
    variant: UPat, call: Call, label: str, declining: object = None
) -> Callable[..., Any]:
    """`match(node, ctx)` that calls the rule's function for each match until one gives a result
    other than None and the node itself, and returns that result, or None.

    For an observed rewrite, given the rule that is `declining`, `match(node, ctx, declined)`
    returns (result, bindings, nanoseconds in the function) and calls `declined(rule, node,
    nanoseconds)` for each match that the function declined.
    """
    code = _matching(variant)
    if code is None:
        return _interpreted(variant, call, declining)
    function = code.object(call.function)
    arguments = call.arguments(code.bound)
    if declining is not None:
        clock = code.object(perf_counter_ns)
        code.add(f"t = {clock}()")
        code.add(f"r = {function}({arguments})")
        code.add(f"t = {clock}() - t")
        binds = ", ".join(f"{name!r}: {v}" for name, v in code.bound.items())
        code.add(f"if r is not None and r is not n: return r, {{{binds}}}, t")
        code.add(f"declined({code.object(declining)}, n, t)")
        return code.build("n, ctx, declined", label)
    code.add(f"r = {function}({arguments})")
    code.add("if r is not None and r is not n: return r")
    return code.build("n, ctx", label)


def compile_matches(variant: UPat, label: str) -> Callable[..., Any]:
    """`match(node, found)` that appends the bindings of every match to a list, as
    `interpreted.matches` gives them: the property test compares the two."""
    code = _matching(variant)
    if code is None:

        def interpreted(n: Any, found: list[Any]) -> None:
            found.extend(matches(variant, n))

        return interpreted
    binds = ", ".join(f"{name!r}: {v}" for name, v in code.bound.items())
    code.add(f"found.append({{{binds}}})")
    return code.build("n, found", label)


class Call:
    """How to call a rule's function: which of its parameters the engine fills."""

    def __init__(self, function: Callable[..., Any], parameters: tuple[str, ...], anything: bool):
        self.function = function
        self.parameters = parameters
        self.anything = anything

    def arguments(self, bound: dict[str, str]) -> str:
        """The argument list as text: bound names, and ctx, where the function takes them."""
        known = {**bound, "ctx": "ctx"}
        names = [p for p in self.parameters if p in known]
        if self.anything:
            names += [name for name in known if name not in names]
        return ", ".join(f"{name}={known[name]}" for name in names)

    def keywords(self, binds: dict[str, Any], ctx: Any) -> dict[str, Any]:
        """The same as a dictionary, for the interpreted form."""
        known = {**binds, "ctx": ctx}
        return {k: v for k, v in known.items() if self.anything or k in self.parameters}


def _matching(variant: UPat) -> Code | None:
    """The tests of a pattern; None for one that has to be interpreted."""
    code = Code()
    if not (_node(code, variant, "n", root=True) and _sources(code, variant, "n")):
        return None
    return code if code.loops <= MAX_LOOPS else None


def _node(code: Code, p: UPat, v: str, root: bool = False) -> bool:
    """Tests of the node alone."""
    if p.alternatives:
        return False
    if p.op is not None and not root:
        if len(p.op) == 1:
            code.require(f"{v}.op is {code.object(next(iter(p.op)))}")
        else:
            code.require(f"{v}.op in {code.object(p.op)}")
    if p.dtype is not None:
        _dtype(code, p.dtype, v)
    if p.arg is not None:
        wanted = code.object(p.arg)
        if p.arg.__class__ is float:
            code.require(f"{code.object(arg_matches)}({v}.arg, {wanted})")
        else:
            code.require(f"{v}.arg == {wanted}")
    if p.custom is not None:
        code.require(f"{code.object(p.custom)}({v})")
    if p.early_reject:
        code.require(f"{code.object(p.early_reject)}.issubset([s.op for s in {v}.src])")
    if p.name is not None:
        first = code.bound.setdefault(p.name, v)
        if first != v:
            code.require(f"{v} is {first}")
    return True


def _dtype(code: Code, wanted: tuple[DType, ...], v: str) -> None:
    if any(d.count > 1 or isinstance(d, PtrDType) for d in wanted):
        code.require(f"{code.object(dtype_matches)}({v}.dtype, {code.object(wanted)})")
        return
    names = frozenset(d.name for d in wanted)
    test = f"== {next(iter(names))!r}" if len(names) == 1 else f"in {code.object(names)}"
    pointer = code.object(PtrDType)
    code.require(f"{v}.dtype.name {test} and {v}.dtype.__class__ is not {pointer}")


def _sources(code: Code, p: UPat, v: str) -> bool:
    """Tests of what the node's sources are; all nodes of one level before any deeper one."""
    if p.src is None:
        return True
    if isinstance(p.src, UPat):
        return _repeat(code, p.src, v)
    count = len(p.src)
    code.require(f"len({v}.src) {'>=' if p.allow_any_len else '=='} {count}")
    if not count:
        return True
    names = [code.variable() for _ in p.src]
    unpacked = ", ".join(names) + ("," if count == 1 else "")
    if isinstance(p.src, tuple) or count == 1:
        code.add(f"{unpacked} = {v}.src{f'[:{count}]' if p.allow_any_len else ''}")
    elif count == 2:
        a, b = code.variable(), code.variable()
        code.add(f"{a}, {b} = {v}.src")
        code.loop(names, f"((({a}, {b}),) if {a} is {b} else (({a}, {b}), ({b}, {a})))")
    else:
        code.loop(names, f"{code.object(permutations)}({v}.src)")
    children = list(zip(p.src, names, strict=True))
    return all(_node(code, q, w) for q, w in children) and all(
        _sources(code, q, w) for q, w in children
    )


def _repeat(code: Code, p: UPat, v: str) -> bool:
    if p.name is not None and not p.alternatives:  # bound to one node, so all sources are that one
        first = code.variable()
        code.require(f"{v}.src")
        code.add(f"{first} = {v}.src[0]")
        code.require(f"{v}.src.count({first}) == len({v}.src)")
        return _node(code, p, first) and _sources(code, p, first)
    if p.names():
        return False
    code.require(f"all(map({code.object(_predicate(p))}, {v}.src))")
    return True


def _predicate(p: UPat) -> Callable[[Any], bool]:
    """Whether a node matches a pattern that binds nothing."""
    if p.alternatives or p.src is not None or p.early_reject:
        return lambda node: next(matches(p, node), None) is not None
    return p.accepts


def _interpreted(variant: UPat, call: Call, declining: object) -> Callable[..., Any]:
    def plain(n: Any, ctx: Any) -> Any:
        for binds in matches(variant, n):
            r = call.function(**call.keywords(dict(binds), ctx))
            if r is not None and r is not n:
                return r
        return None

    def watched(n: Any, ctx: Any, declined: Callable[[Any, Any, int], None]) -> Any:
        for binds in matches(variant, n):
            t = perf_counter_ns()
            r = call.function(**call.keywords(dict(binds), ctx))
            t = perf_counter_ns() - t
            if r is not None and r is not n:
                return r, binds, t
            declined(declining, n, t)
        return None

    return plain if declining is None else watched


def could_match(p: UPat, op: Ops, dtype: str, src: tuple[Ops, ...] | frozenset[Ops]) -> bool:
    """Whether a node with this op, dtype name and ops of sources (in order; a set of them for long
    lists) could match; what the dispatch sorts rules out by."""
    if p.op is not None and op not in p.op:
        return False
    if p.dtype is not None and all(d.name != dtype for d in p.dtype):
        return False
    if not p.early_reject.issubset(src):
        return False
    if p.src is None:
        return True
    if isinstance(p.src, UPat):
        return all(_op_fits(p.src, o) for o in src)
    if isinstance(src, frozenset):
        return all(any(_op_fits(q, o) for o in src) for q in p.src)
    if len(src) != len(p.src) and not (p.allow_any_len and len(src) > len(p.src)):
        return False
    orders = permutations_of(src) if isinstance(p.src, list) else (src,)
    return any(all(map(_op_fits, p.src, order)) for order in orders)


def permutations_of(ops: tuple[Ops, ...]) -> list[tuple[Ops, ...]]:
    """All orders of a short list of ops."""
    orders: list[tuple[Ops, ...]] = [()]
    for i in range(len(ops)):
        orders = [(*o[:k], ops[i], *o[k:]) for o in orders for k in range(len(o) + 1)]
    return orders


def _op_fits(p: UPat, op: Ops) -> bool:
    if p.alternatives:
        return any(_op_fits(q, op) for q in p.alternatives)
    return p.op is None or op in p.op
