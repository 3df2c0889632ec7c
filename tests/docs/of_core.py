"""What the documents say of core: targets, devices, errors, ops, passes, rules.

Reads the code only.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import core
import core.errors
from core.passes.contract import Pass
from core.passes.pipeline import PASSES, TEXT_PASSES
from core.passes.schedule import pipeline as schedule
from core.runtime.device import ALIASES, HOMES
from core.target import Target, targets
from core.tensor_cores import TensorCore
from core.uop import GroupOp, Ops, PatternMatcher, Rule
from core.uop.kernelinfo import AxisType
from core.uop.spec.machine import machine_spec
from core.uop.spec.rules import ast_spec, index_spec, program_spec, tensor_spec
from tests.docs.markdown import code, first_sentence, table

ROOT = Path(__file__).resolve().parents[2]

STAGES: tuple[tuple[str, PatternMatcher], ...] = (
    ("T", tensor_spec),
    ("A", ast_spec),
    ("I", index_spec),
    ("P", program_spec),
    ("M", machine_spec),
)

MEANINGS: dict[Ops, str] = {
    Ops.RESHAPE: "The elements in row-major order under another shape; arg is the shape.",
    Ops.PERMUTE: "Axes in another order; arg is the order.",
    Ops.EXPAND: "Axes of length 1 repeated; arg is the shape.",
    Ops.PAD: "Zeros around the elements; arg is (before, after) per axis.",
    Ops.SHRINK: "A box of the elements; arg is (start, end) per axis.",
    Ops.FLIP: "Axes reversed; arg is a bool per axis.",
    Ops.IF: "What follows, up to its ENDIF, happens where source 0 is true.",
    Ops.ENDIF: "Ends the IF in source 0.",
    Ops.BARRIER: "All threads of a work group wait for each other, after its sources.",
    Ops.CONST: "A number; arg is a Python bool, int or float as the dtype says.",
    Ops.CAST: "The value in another dtype; floats truncate toward zero on the way to integers.",
    Ops.BITCAST: "The same bits in another dtype.",
    Ops.NEG: "-x.",
    Ops.RECIPROCAL: "1 / x.",
    Ops.EXP2: "2 ** x.",
    Ops.LOG2: "Logarithm to base 2.",
    Ops.SIN: "Sine of radians.",
    Ops.COS: "Cosine of radians.",
    Ops.SQRT: "Square root.",
    Ops.TRUNC: "Rounded toward zero.",
    Ops.ADD: "x + y; OR of bools.",
    Ops.SUB: "x - y.",
    Ops.MUL: "x * y; AND of bools.",
    Ops.FDIV: "x / y of floats.",
    Ops.MAX: "The larger one; NaN where one is; OR of bools.",
    Ops.POW: "x ** y.",
    Ops.SHL: "x << y; 0 where y is no bit position.",
    Ops.SHR: "x >> y with the sign of x; 0 (or -1) where y is no bit position.",
    Ops.AND: "Bitwise, logical on bools.",
    Ops.OR: "Bitwise, logical on bools.",
    Ops.XOR: "Bitwise, logical on bools.",
    Ops.CMPLT: "x < y, a bool.",
    Ops.CMPNE: "x != y, a bool.",
    Ops.CMPEQ: "x == y, a bool.",
    Ops.WHERE: "Source 1 where source 0 is true, else source 2.",
    Ops.MULACC: "x * y + z, rounded once.",
}
"""What the ops mean that core/uop/ops.py leaves to their names."""


@cache
def modules() -> tuple[ModuleType, ...]:
    """Every module of core, by name."""
    names = [m.name for m in pkgutil.walk_packages(core.__path__, "core.")]
    return tuple(importlib.import_module(name) for name in sorted(["core", *names]))


def target_table() -> str:
    """Every target."""
    rows = [(code(t.name), t.family, t.title) for t in targets.values()]
    return table(("target", "family", "is"), rows)


def tensor_core_table() -> str:
    """Every matrix instruction, with the targets that have it. A name can stand for two layouts:
    those of RDNA3 and RDNA4."""
    having: dict[TensorCore, list[str]] = {}
    for target in targets.values():
        for core_ in target.tensor_cores:
            having.setdefault(core_, []).append(target.name)
    rows = [
        (
            code(row.name),
            " x ".join(map(str, row.dims)),
            f"{row.dtype_in} to {row.dtype_out}" + ("" if row.exact else f", {row.bits} bits"),
            f"{row.threads} lanes of {', '.join(str(part.count) for part in row.fragments)}",
            ", ".join(names),
        )
        for row, names in having.items()
    ]
    heads = ("instruction", "m x n x k", "dtypes", "lanes with elements of A, B, C", "targets")
    return table(heads, rows)


def device_table() -> str:
    """Every device."""
    rows: list[tuple[str, str, str]] = []
    for name, (module, _) in HOMES.items():
        doc = first_sentence(importlib.import_module(module).__doc__)
        other = ", ".join(code(a) for a, of in ALIASES.items() if of == name)
        rows.append((code(name), other, doc))
    return table(("device", "other names", "is"), rows)


def error_table() -> str:
    """Every error."""
    found = [e for e in vars(core.errors).values() if isinstance(e, type)]
    mine = [e for e in found if issubclass(e, core.errors.UopvizError)]
    return table(("error", "means"), [(code(e.__name__), first_sentence(e.__doc__)) for e in mine])


def op_docs() -> dict[str, str]:
    """The docstrings under the members of Ops, by name."""
    tree = ast.parse((ROOT / "core/uop/ops.py").read_text(encoding="utf-8"))
    body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Ops").body
    found: dict[str, str] = {}
    for i, node in enumerate(body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            after = body[i + 1] if i + 1 < len(body) else None
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                found[node.targets[0].id] = str(after.value.value)
    return found


def stages_of(op: Ops) -> str:
    """The letters of the stages whose verifier has a rule for an op."""
    letters = ""
    for letter, spec in STAGES:
        wanted = [v.pattern.op for r in spec.rules for v in r.variants]
        letters += letter if any(ops is not None and op in ops for ops in wanted) else ""
    return letters or "none"


def op_table() -> str:
    """Every op."""
    docs = op_docs()
    return table(
        ("op", "stages", "meaning"),
        [(code(op.name), stages_of(op), docs.get(op.name) or MEANINGS[op]) for op in Ops],
    )


def group_table() -> str:
    """Every group of ops, but the one of all."""
    rows: list[tuple[str, str]] = []
    for name, ops in vars(GroupOp).items():
        if isinstance(ops, frozenset) and name != "All":
            rows.append((code(f"GroupOp.{name}"), ", ".join(o.name for o in sorted(ops))))
    return table(("group", "ops"), rows)


def axis_table() -> str:
    """Every kind of loop."""
    tree = ast.parse((ROOT / "core/uop/kernelinfo.py").read_text(encoding="utf-8"))
    body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "AxisType").body
    docs = [n.value.value for n in body[1:] if isinstance(n, ast.Expr)]
    rows = [(code(a.name), code(a.letter), d) for a, d in zip(AxisType, docs, strict=True)]
    return table(("kind", "letter", "runs"), rows)


@cache
def rule_sets() -> tuple[tuple[PatternMatcher, str, str], ...]:
    """(matcher, module, variable) of every set of rules, each where it is made."""
    found: dict[int, tuple[PatternMatcher, str, str]] = {}
    for module in modules():
        source = Path(module.__file__ or "").read_text(encoding="utf-8")
        made = {
            target.id
            for node in ast.parse(source).body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for name, value in vars(module).items():
            if isinstance(value, PatternMatcher) and name in made:
                found.setdefault(id(value), (value, module.__name__, name))
    return tuple(found.values())


def file_of(module: str) -> str:
    """The file of a module, in the repository."""
    path = Path(importlib.import_module(module).__file__ or "")
    return path.relative_to(ROOT).as_posix()


def rewrite_names(module: str) -> list[str]:
    """The names that the graph_rewrites of a module, or of a package, have in a trace."""
    path = Path(importlib.import_module(module).__file__ or "")
    files = sorted(path.parent.glob("*.py")) if path.name == "__init__.py" else [path]
    found: list[str] = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "graph_rewrite":
                given = next((k.value for k in node.keywords if k.arg == "name"), None)
                if isinstance(given, ast.Constant):
                    found.append(str(given.value))
    return list(dict.fromkeys(found))


def schedule_table() -> str:
    """The schedule passes, in order. A pass is named after its module, or after its folder."""
    folder = ROOT / "core" / "passes" / "schedule"

    def place(name: str) -> str:
        module = name.partition(":")[0].replace(" ", "_")
        if (folder / module).is_dir():
            return f"{(folder / module).relative_to(ROOT).as_posix()}/"
        (file,) = folder.rglob(f"{module}.py")
        return file.relative_to(ROOT).as_posix()

    rows = [
        (
            number,
            code(step.name),
            step.keeps,
            step.guarantees,
            code(place(step.name)),
        )
        for number, step in enumerate(schedule.PASSES, 1)
    ]
    return table(("", "pass", "keeps", "guarantees", "file"), rows)


def pass_table() -> str:
    """The kernel passes, in order."""
    return _pass_table(PASSES, 1)


def text_pass_table() -> str:
    """The passes for each kind of text, in order."""
    return "\n\n".join(_pass_table(passes, len(PASSES) + 1) for passes in TEXT_PASSES.values())


def guarantee_table() -> str:
    """What is checked after each pass, by a predicate over its graph."""
    own = (step for passes in TEXT_PASSES.values() for step in passes)
    every = (*schedule.PASSES, *PASSES, *own)
    rows = [
        (code(step.name), "; ".join([*_gone(step.gone), *(one.says for one in step.leaves)]))
        for step in every
        if step.gone or step.leaves
    ]
    return table(("after pass", "holds"), rows)


def _gone(ops: Sequence[Ops]) -> list[str]:
    return [f"no {', '.join(op.name for op in ops)} from here on"] if ops else []


def _pass_table(passes: Sequence[Pass[Target]], first: int) -> str:
    rows: list[tuple[object, ...]] = []
    for number, step in enumerate(passes, first):
        home = step.function.__module__
        inside = [
            code(matcher.name)
            for matcher, module, _ in rule_sets()
            if module == home or module.startswith(home + ".")
        ]
        names = rewrite_names(home)
        if step.name.startswith("simplify"):
            inside = ["`symbolic_index`", "`gated`"]
            names = ["simplify"]
        rows.append(
            (
                number,
                code(step.name),
                step.keeps,
                step.guarantees,
                ", ".join(map(code, names)),
                ", ".join(dict.fromkeys(inside)),
                code(file_of(home)),
            )
        )
    return table(("", "pass", "keeps", "guarantees", "in a trace", "rule sets", "file"), rows)


def rules_text() -> str:
    """Every rule with its equation, by file."""
    by_file: dict[str, list[Rule]] = {}
    for matcher, _, _ in rule_sets():
        for r in matcher.rules:
            known = by_file.setdefault(Path(r.file).relative_to(ROOT).as_posix(), [])
            if r not in known:
                known.append(r)
    for module in modules():
        for value in vars(module).values():
            if isinstance(value, Rule):
                known = by_file.setdefault(Path(value.file).relative_to(ROOT).as_posix(), [])
                if value not in known:
                    known.append(value)
    parts: list[str] = []
    for file in sorted(by_file):
        rules = sorted(by_file[file], key=lambda r: r.line)
        parts.append(f"### `{file}`\n")
        doc = ast.get_docstring(ast.parse((ROOT / file).read_text(encoding="utf-8")))
        parts.append(first_sentence(doc) + "\n")
        parts.append(
            table(("rule", "says"), [(code(r.name), code(first_sentence(r.doc))) for r in rules])
        )
        parts.append("")
    return "\n".join(parts).rstrip()


def rule_set_table() -> str:
    """Every set of rules."""
    rows: list[tuple[str, str]] = []
    for matcher, module, name in rule_sets():
        shown = f"`{matcher.name}`"
        rows.append((shown, f"`{name}` in `{file_of(module)}`"))
    return table(("set", "is"), rows)
