"""The generated parts of docs/, by name. Each is a function from the code to Markdown.

Reads the code only; `generate.py` puts the parts where they belong, and a test compares.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from tests.docs.markdown import code, first_sentence, table
from tests.docs.of_core import (
    ROOT,
    axis_table,
    device_table,
    error_table,
    group_table,
    op_table,
    pass_table,
    rule_set_table,
    rules_text,
    schedule_table,
    target_table,
)
from tests.docs.of_viz import (
    command_text,
    flag_table,
    query_table,
    redaction_table,
    route_table,
    text_table,
)


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


PARTS: dict[str, Callable[[], str]] = {
    "modules of core": module_table("core"),
    "modules of viz": module_table("viz"),
    "targets": target_table,
    "devices": device_table,
    "errors": error_table,
    "ops": op_table,
    "groups": group_table,
    "axes": axis_table,
    "schedule passes": schedule_table,
    "kernel passes": pass_table,
    "rule sets": rule_set_table,
    "rules": rules_text,
    "flags": flag_table,
    "texts": text_table,
    "commands": command_text,
    "routes": route_table,
    "query tables": query_table,
    "redaction": redaction_table,
}
"""What stands between `<!-- generated: NAME -->` and `<!-- end -->`."""
