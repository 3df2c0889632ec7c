"""The prover broken on purpose: one wrong line at a time, each of which has to be noticed.

A breakage is a text of one module of `core/prove` and what stands in its place. Functions get the
code of the changed text, and their own again afterwards. Never writes a file.
"""

from __future__ import annotations

import types
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True)
class Breakage:
    """What is broken: `old` in the module of core.prove becomes `new`."""

    module: str
    title: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.module}: {self.title}"

    @contextmanager
    def applied(self) -> Generator[None]:
        """The prover, broken. Raises ValueError where the text is not there exactly once."""
        module = import_module(f"core.prove.{self.module}")
        path = Path(module.__file__ or "")
        text = path.read_text()
        if text.count(self.old) != 1 or self.old.count("\n") != self.new.count("\n"):
            raise ValueError(f"{self}: {text.count(self.old)} times there, or of other lines")
        changed: dict[str, Any] = {"__name__": module.__name__}
        exec(compile(text.replace(self.old, self.new), str(path), "exec"), changed)
        theirs = dict(_functions(changed, module.__name__))
        kept: list[tuple[types.FunctionType, types.CodeType]] = []
        for name, function in _functions(vars(module), module.__name__):
            if function.__code__ != theirs[name].__code__:
                kept.append((function, function.__code__))
                function.__code__ = theirs[name].__code__
        if not kept:
            raise ValueError(f"{self}: no function has changed")
        try:
            yield
        finally:
            for function, code in kept:
                function.__code__ = code


def _functions(names: dict[str, Any], module: str) -> Iterator[tuple[str, types.FunctionType]]:
    """The functions and methods that a module defines, by qualified name."""
    for held in list(names.values()):
        inner = list(vars(held).values()) if isinstance(held, type) else [held]
        for value in inner:
            function = getattr(value, "fget", value)
            if isinstance(function, types.FunctionType) and function.__module__ == module:
                yield function.__qualname__, function


def _breakages() -> Iterator[Breakage]:
    for module, rows in _ROWS.items():
        for title, old, new in rows:
            yield Breakage(module, title, old, new)


_ROWS: Final[dict[str, tuple[tuple[str, str, str], ...]]] = {
    "terms.term": (
        (
            "some of the conditions of a choice are enough",
            "held.issuperset(conjuncts(yes.args[0]))",
            "not held.isdisjoint(conjuncts(yes.args[0]))",
        ),
        (
            "the other branch is that of any condition",
            "while no.op is Ops.WHERE and no.args[0] is test:",
            "while no.op is Ops.WHERE:",
        ),
        ("a cast keeps what does not fit", "and within(x.args[0], x.dtype):", "and True:"),
        (
            "a sum that wraps around is cast term by term",
            "if x.op is Kind.SUM and exact(x):",
            "if x.op is Kind.SUM:",
        ),
        (
            "what may be negative is divided",
            "if x.low < 0:\n            return None",
            "if False:\n            return None",
        ),
        ("a quotient is zero one too far", "if x.high < c:", "if x.high <= c:"),
        ("a remainder of a remainder", "other > 0 and other % c == 0", "other > 0 and True"),
        (
            "a sum that wraps around is divided",
            "if x.op is not Kind.SUM or not exact(x):",
            "if x.op is not Kind.SUM:",
        ),
        ("what is left of a division may be negative", "if below.low < 0 or not", "if not"),
        ("a shift is a multiple", "1 << int(args[1].data)", "2 * int(args[1].data)"),
        (
            "a difference is a sum",
            "zip(args, (1, -1), strict=True)",
            "zip(args, (1, 1), strict=True)",
        ),
        ("a negation is none", "((args[0], -1),)", "((args[0], 1),)"),
        (
            "a sum that wraps around keeps its bounds",
            "(low, high) if fits else whole(dtype))",
            "(low, high))",
        ),
        (
            "constants of AND and OR",
            "bool(y.data) == (op is Ops.OR)",
            "bool(y.data) != (op is Ops.OR)",
        ),
        (
            "x ^ x is x",
            "if op in (Ops.AND, Ops.OR):\n            if x is y:",
            "if op in (Ops.AND, Ops.OR, Ops.XOR):\n            if x is y:",
        ),
        (
            "not (x != c) is x",
            "if not y.data:\n                return x",
            "if True:\n                return x",
        ),
        (
            "loops of a nest have one name",
            'self.input(("bound", depth, at)',
            'self.input(("bound", 0, at)',
        ),
        ("all loops are alike", "b.dtype, b.low, b.high)\n", "b.dtype, 0, 2)\n"),
        (
            "a quotient is commutative",
            "if op in _COMMUTATIVE or (",
            "if op in _COMMUTATIVE or op is Ops.FDIV or (",
        ),
        (
            "zeros have no sign",
            "key = repr(value) if isinstance(value, float) else value",
            "key = repr(abs(value)) if isinstance(value, float) else value",
        ),
        ("all memory is one", "(at,), memory, whole(dtype))", "(at,), None, whole(dtype))"),
        ("a choice of equal branches", "if yes is no:", "if yes.op is no.op:"),
        ("a reduction is any reduction", "data = (op, tuple(", "data = (Ops.ADD, tuple("),
        ("the opposite of the opposite is that", "return args[0].args[0]\n", "return args[0]\n"),
        (
            "a difference of floats is a sum",
            "(args[0], self.alu(Ops.NEG, dtype, args[1:]))",
            "args",
        ),
        (
            "the inverse of a power of two is a number",
            " != 0.5 or inverse * args[1].data != 1:",
            " != 0.5:",
        ),
        (
            "a product of floats with -1 is itself",
            "return x if c.data == 1 else self.alu(Ops.NEG, dtype, (x,))",
            "return x",
        ),
    ),
    "terms.node": (
        ("a comparison at the ends", "apart = x.high < y.low or", "apart = x.high <= y.low or"),
        ("less than is at most", "if x.high < y.low else False", "if x.high <= y.low else False"),
        ("a remainder is less", "min(x.high, y.high - 1)", "min(x.high, y.high - 2)"),
        (
            "products do not overflow",
            "if int(dtypes.min(dtype)) <= min(ends) and max(ends) <= int(dtypes.max(dtype)):",
            "if True:",
        ),
        (
            "the larger is the first",
            "return max(x.low, y.low), max(x.high, y.high)",
            "return x.low, x.high",
        ),
    ),
    "terms.value": (
        (
            "a loop takes all iterations",
            "        if taken is None:\n            return x",
            "        if True:\n            return x",
        ),
        ("a store is made in all iterations", "if taken is not None:", "if False:"),
        (
            "a promise is kept",
            "return terms.alu(Ops.WHERE, value.dtype, (broken, undefined, value))",
            "return value",
        ),
        (
            "the gate of a value does not matter",
            "return (terms.alu(Ops.WHERE, found.dtype, (gate, found, undefined)),)",
            "return (found,)",
        ),
        (
            "the gate of a load does not matter",
            "if gate is not None:\n                other",
            "if False:\n                other",
        ),
        ("an UNROLL has one lane", "lanes[lane::size]", "lanes[0::size]"),
        (
            "all lanes are the first",
            "tuple(lanes[i] for i in u.arg)",
            "tuple(lanes[0] for i in u.arg)",
        ),
        (
            "a reduction over axes is whole",
            "if axis in axes and u not in self.unaware:",
            "if False:",
        ),
        (
            "an input is the same in each iteration",
            "(at, far)) if loops else None",
            "(at, far)) if False else None",
        ),
        (
            "elements of a vector are one",
            "step = k if offsets == 1 else",
            "step = 0 if offsets == 1 else",
        ),
        (
            "the gate of a store does not matter",
            "            if gates:\n",
            "            if False:\n",
        ),
        (
            "bounds of what is undefined hold",
            "known = u.op is Ops.RANGE or not is_partial(u)",
            "known = True",
        ),
    ),
    "terms.accumulator": (("nothing is zero", "int(op is Ops.MUL)", "int(False)"),),
    "terms.index": (
        ("an axis is turned one too far", "self._const(size - 1), a", "self._const(size), a"),
        (
            "a permutation is its inverse",
            "back = sorted(range(len(arg)), key=lambda axis: arg[axis])",
            "back = list(arg)",
        ),
        (
            "a part begins at the first element",
            "self._plus(a, begin) for a, (begin, _) in pairs",
            "self._plus(a, 0) for a, (begin, _) in pairs",
        ),
        (
            "what is padded is inside",
            "valid = [self.within(a, 0, n) for a, n in inside]",
            "valid = list[Term]()",
        ),
        ("masks do not matter", "if view.mask is not None:", "if False:"),
        ("an axis that is repeated has elements", "zero if n == 1 else a", "a if n == 1 else a"),
        ("a digit is the number", "if any(n != 1 for n in shape[:axis]):", "if False:"),
    ),
    "bitvector": (
        (
            "quotients have signs",
            "z3.UDiv(x, y) if unsigned else x / y",
            "x / y if unsigned else x / y",
        ),
        (
            "nothing is divided by zero",
            "z3.If(y == 0, z3.BitVecVal(0, bits), z3.UDiv",
            "z3.If(False, z3.BitVecVal(0, bits), z3.UDiv",
        ),
        ("a remainder by zero is zero", "z3.If(y == 0, x, z3.URem", "z3.If(y == 0, y, z3.URem"),
        (
            "signs are not shifted in",
            "z3.LShR(x, y) if unsigned else x >> y",
            "z3.LShR(x, y) if unsigned else z3.LShR(x, y)",
        ),
        ("bounds leave out the last value", "x >= t.low, x <= t.high]", "x >= t.low, x < t.high]"),
        (
            "all casts keep the sign",
            "z3.ZeroExt(more, x) if dtypes.is_unsigned(source) else z3.SignExt(more, x)",
            "z3.SignExt(more, x) if dtypes.is_unsigned(source) else z3.SignExt(more, x)",
        ),
        (
            "comparisons have signs",
            "z3.ULT(x, y) if unsigned else x < y",
            "x < y if unsigned else x < y",
        ),
        (
            "a difference is none",
            "return args[0] == args[1] if t.op is Ops.CMPEQ else",
            "return args[0] == args[1] if True else",
        ),
        (
            "unknown functions are one",
            "(t.op, t.dtype.name, source.name), t.dtype",
            "(t.dtype.name, source.name), t.dtype",
        ),
    ),
    "questions.writes": (
        (
            "a gated write replaces others",
            "gate is None or gate is earlier.address.gate",
            "True or gate is earlier.address.gate",
        ),
        ("writes change places", "if earlier < later and not _apart(", "if False and not _apart("),
        (
            "reads change places",
            "return all(same_order(a, b) for a, b in zip(*sides, strict=True))",
            "return True",
        ),
        ("loops of writes are alike", "if a.loops != b.loops:", "if False:"),
    ),
    "questions.effects": (
        (
            "all elements are apart",
            "return far.low > 0 or far.high < 0",
            "return far.low != 0 or far.high != 0",
        ),
    ),
    "decide": (
        (
            "all reductions are alike",
            "and x.dtype == y.dtype and x.data == y.data",
            "and x.dtype == y.dtype",
        ),
        (
            "what is read may lie outside",
            'if found.kind in ("proved", "sampled"):\n            found = self._inside',
            "if False:\n            found = self._inside",
        ),
        (
            "one value is enough",
            "np.array_equal(left, right)",
            "np.array_equal(left[:1], right[:1])",
        ),
    ),
    "terms.cut": (
        (
            "answers are kept without bounds",
            "bounds = None if is_partial(u) else repr(u.bounds)",
            "bounds = None",
        ),
    ),
    "questions.refine": (
        (
            "all is undefined",
            "return terms.const(dtypes.bool, False)\n    test, yes",
            "return terms.const(dtypes.bool, True)\n    test, yes",
        ),
    ),
}
BREAKAGES: Final = tuple(_breakages())
