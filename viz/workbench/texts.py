"""The texts of a kernel as it is changed: with other optimisations, without some rules.

Compiles them for any target. Never loads or runs one.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from core.compile import sources_for
from core.target import Target
from core.uop.policy import Policy, following
from core.uop.uop import UOp
from viz.workbench.sides import MAX_SHOWN, Change


def texts_of(ast: UOp, target: Target, change: Change) -> dict[str, Any]:
    """`ChangedTexts` of the page. Raises UopvizError where the changed kernel does not compile."""
    policy = following(Policy(skip=frozenset(change.skip))) if change.skip else nullcontext()
    with policy:
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
