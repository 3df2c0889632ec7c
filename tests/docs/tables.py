"""The generated parts of docs/, by name. Each is a function from the code to Markdown.

Reads the code only; `generate.py` puts the parts where they belong, and a test compares.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from core.render.kinds import KINDS
from core.render.renderers import renderer
from tests.docs.markdown import code, first_sentence, table
from tests.docs.of_core import (
    ROOT,
    axis_table,
    device_table,
    error_table,
    group_table,
    guarantee_table,
    op_table,
    pass_table,
    rule_set_table,
    rules_text,
    schedule_table,
    target_table,
    tensor_core_table,
    text_pass_table,
)
from tests.docs.of_schedules import count_table
from tests.docs.of_tiles import cuda_table, line_table
from tests.docs.of_viz import (
    command_text,
    condition_table,
    contract_table,
    flag_table,
    json_types,
    query_table,
    redaction_table,
    route_table,
    text_table,
)


def module_table(package: str) -> Callable[[], str]:
    """A section per folder below `package`: what it is, and a line for each of its modules."""

    def make() -> str:
        parts: list[str] = []
        for folder in sorted({path.parent for path in (ROOT / package).rglob("*.py")}):
            name = folder.relative_to(ROOT).as_posix() + "/"
            if name.startswith(f"{package}/web/"):
                continue
            docs = {path.name: _doc(path) for path in sorted(folder.glob("*.py"))}
            rows = [
                (code(file), doc) for file, doc in docs.items() if doc and file != "__init__.py"
            ]
            parts += [f"### `{name}`", docs.get("__init__.py", ""), table(("module", "does"), rows)]
        return "\n\n".join(part for part in parts if part)

    return make


def _doc(path: Path) -> str:
    """The first sentence of a module."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return first_sentence(doc) if doc else ""


def kind_table() -> str:
    """The kinds of texts that are made of kernels and schedules."""
    rows = [
        (code(k.name), k.title, ", ".join(k.families) or "a report", code(k.ending),
         renderer(k.name).__module__.replace(".", "/") + ".py" if k.rendered else "")
        for k in KINDS
    ]  # fmt: skip
    return table(("kind", "title", "for targets", "ending", "rendered by"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "modules of core": module_table("core"),
    "modules of viz": module_table("viz"),
    "targets": target_table,
    "tensor cores": tensor_core_table,
    "devices": device_table,
    "errors": error_table,
    "kinds": kind_table,
    "ops": op_table,
    "groups": group_table,
    "axes": axis_table,
    "schedule passes": schedule_table,
    "kernel passes": pass_table,
    "text passes": text_pass_table,
    "guarantees": guarantee_table,
    "rule sets": rule_set_table,
    "rules": rules_text,
    "flags": flag_table,
    "texts": text_table,
    "commands": command_text,
    "contract": contract_table,
    "routes": route_table,
    "query tables": query_table,
    "conditions": condition_table,
    "json types": json_types,
    "redaction": redaction_table,
    "kernels of known programs": count_table,
    "lines of tile kernels": line_table,
    "lines of CUDA kernels": cuda_table,
}
"""What stands between `<!-- generated: NAME -->` and `<!-- end -->`."""
