"""The generated parts of docs/, by name. Each is a function from the code to Markdown.

Reads the code only; `generate.py` puts the parts where they belong, and a test compares.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from flask import Flask

import core
import core.errors
import viz
import viz.environment
from core.helpers import Flag, Text
from core.passes.pipeline import PASSES
from core.runtime.device import ALIASES, MAKERS
from core.target import targets
from core.uop import GroupOp, Ops, PatternMatcher, Rule
from core.uop.kernelinfo import AxisType
from core.uop.spec_rules import ast_spec, index_spec, program_spec, tensor_spec
from viz import cli, query, schema
from viz.server.api import api
from viz.server.page import page

ROOT = Path(__file__).resolve().parents[2]

STAGES: tuple[tuple[str, PatternMatcher], ...] = (
    ("T", tensor_spec),
    ("A", ast_spec),
    ("I", index_spec),
    ("P", program_spec),
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


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(text: object) -> str:
    """Text for a cell: no line breaks, no bars; outside of code, no tags."""
    parts = " ".join(str(text).split()).replace("|", "\\|").split("`")
    return "`".join(p if i % 2 else re.sub(r"<(?=[\w/!])", "&lt;", p) for i, p in enumerate(parts))


def code(text: object) -> str:
    """Text as code."""
    return f"`{text}`"


def first_sentence(doc: str | None) -> str:
    """The first paragraph of a docstring."""
    return " ".join((doc or "").partition("\n\n")[0].split())


# architecture.md


def module_table(package: str) -> Callable[[], str]:
    """One line per module below a folder."""

    def make() -> str:
        rows: list[tuple[str, str]] = []
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            if "/web/" not in name and doc:
                shown = name.removesuffix("__init__.py") if name.count("/") > 1 else name
                rows.append((code(shown), first_sentence(doc)))
        return table(("module", "does"), rows)

    return make


def target_table() -> str:
    """Every target."""
    rows = [(code(t.name), t.family, t.title) for t in targets.values()]
    return table(("target", "family", "is"), rows)


def device_table() -> str:
    """Every device."""
    rows: list[tuple[str, str, str]] = []
    for name, maker in MAKERS.items():
        doc = first_sentence(importlib.import_module(maker.__module__).__doc__)
        other = ", ".join(code(a) for a, of in ALIASES.items() if of == name)
        rows.append((code(name), other, doc))
    return table(("device", "other names", "is"), rows)


def error_table() -> str:
    """Every error."""
    found = [e for e in vars(core.errors).values() if isinstance(e, type)]
    mine = [e for e in found if issubclass(e, core.errors.UopvizError)]
    return table(("error", "means"), [(code(e.__name__), first_sentence(e.__doc__)) for e in mine])


# ir.md


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
    docs = [n.value.value for n in body[1:] if isinstance(n, ast.Expr)]  # type: ignore[attr-defined]
    rows = [(code(a.name), code(a.letter), d) for a, d in zip(AxisType, docs, strict=True)]
    return table(("kind", "letter", "runs"), rows)


# passes.md and rules.md


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


def pass_table() -> str:
    """The kernel passes, in order."""
    rows: list[tuple[object, ...]] = []
    for number, step in enumerate(PASSES, 1):
        home = step.run.__module__
        inside = [
            code(matcher.name)
            for matcher, module, _ in rule_sets()
            if module == home or module.startswith(home + ".")
        ]
        names = rewrite_names(home)
        if step.name == "simplify":
            inside = ["`symbolic_index`", "`gated`"]
            names = ["simplify"]
        rows.append(
            (
                number,
                code(step.name),
                step.contract,
                ", ".join(map(code, names)),
                ", ".join(dict.fromkeys(inside)),
                code(file_of(home)),
            )
        )
    return table(("", "pass", "afterwards", "in a trace", "rule sets", "file"), rows)


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
    rows: list[tuple[str, int, str]] = []
    for matcher, module, name in rule_sets():
        shown = f"`{matcher.name}`"
        rows.append((shown, len(matcher.rules), f"`{name}` in `{file_of(module)}`"))
    return table(("set", "rules", "is"), rows)


# environment.md


def flag_table() -> str:
    """Every variable that takes a number."""
    rows = [
        (code(f.name), code(f.default), f"{f.low} to {f.high}", f.doc)
        for f in sorted(Flag.table.values(), key=lambda f: f.name)
    ]
    return table(("variable", "default", "takes", "meaning"), rows)


def text_table() -> str:
    """Every variable that takes text."""
    rows = [
        (code(t.name), code(t.default) if t.default else "", t.doc)
        for t in sorted(Text.table.values(), key=lambda t: t.name)
    ]
    return table(("variable", "default", "meaning"), rows)


# cli.md


def commands() -> dict[str, argparse.ArgumentParser]:
    """The commands of `uopviz`, by name."""
    parser = cli._parser()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


UNSAID = {"browser": "do not open the browser", "sql": "the SELECT"}
"""What options mean whose parsers do not say it."""


def command_text() -> str:
    """Every command with its options."""
    parts: list[str] = []
    for name, parser in commands().items():
        rows: list[tuple[str, str]] = []
        for action in parser._actions:
            if action.dest == "help" or action.help is argparse.SUPPRESS:
                continue
            said = ", ".join(code(o) for o in action.option_strings) or code(action.dest.upper())
            said += f" {code(action.dest.upper())}" if _takes_value(action) else ""
            text = (action.help or UNSAID[action.dest]) % vars(action)
            rows.append((said, text))
        parts += [f"### `uopviz {name}`\n", (parser.description or "") + ".\n"]
        parts += [table(("argument", "meaning"), rows), ""]
    return "\n".join(parts).rstrip()


def _takes_value(action: Any) -> bool:
    return bool(action.option_strings) and action.nargs != 0


# http.md


def routes() -> list[tuple[str, str, str]]:
    """(methods, path, first line of the docstring) of every route."""
    app = Flask("viz", static_folder=None)
    app.register_blueprint(api)
    app.register_blueprint(page)
    found: list[tuple[str, str, str]] = []
    for rule in app.url_map.iter_rules():
        methods = sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        doc = app.view_functions[rule.endpoint].__doc__ or ""
        found.append((" ".join(methods), rule.rule, doc.partition("\n")[0]))
    return sorted(found, key=lambda r: (r[1], r[0]))


def route_table() -> str:
    """Every route."""
    rows = [(m, code(path.replace("<", "{").replace(">", "}")), doc) for m, path, doc in routes()]
    return table(("", "path", "answers"), rows)


# trace-format.md


def columns() -> dict[str, list[str]]:
    """The columns of every table of a trace."""
    db = sqlite3.connect(":memory:")
    try:
        db.executescript(schema.DDL)
        return {
            name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
            for name in schema.TABLES
        }
    finally:
        db.close()


def query_table() -> str:
    """The tables of `uopviz query`."""
    rows = [(code(name), code(cols)) for name, cols in query.TABLES.items()]
    return table(("table", "columns"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "modules of core": module_table("core"),
    "modules of viz": module_table("viz"),
    "targets": target_table,
    "devices": device_table,
    "errors": error_table,
    "ops": op_table,
    "groups": group_table,
    "axes": axis_table,
    "kernel passes": pass_table,
    "rule sets": rule_set_table,
    "rules": rules_text,
    "flags": flag_table,
    "texts": text_table,
    "commands": command_text,
    "routes": route_table,
    "query tables": query_table,
}
"""What stands between `<!-- generated: NAME -->` and `<!-- end -->`."""

assert viz.environment.VIZ_CACHE_MB.name in Flag.table  # its variables are in the tables, too
