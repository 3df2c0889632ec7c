"""The texts of a kernel as it is changed: with other optimisations, without some rules.

Compiles them for any target. Never loads or runs one.
"""

from __future__ import annotations

from typing import Any

from core.compile import sources_for
from core.target import Target
from core.uop.uop import UOp
from viz.work.change import Change
from viz.workbench.sides import MAX_SHOWN


def texts_of(ast: UOp, target: Target, change: Change) -> dict[str, Any]:
    """`ChangedTexts` of the page. Raises UopvizError where the changed kernel does not compile."""
    with change.without_rules():
        made = sources_for(ast, target, change.opts)
    return {
        "target": target.name,
        "texts": [
            {
                "kind": one.kind,
                "text": one.text[:MAX_SHOWN],
                "facts": [{"name": k, "value": v} for k, v in one.facts.items()],
            }
            for one in made
        ],
    }
