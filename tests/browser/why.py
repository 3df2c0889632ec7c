"""Places of a run where a rule did not fire: one for each kind of answer that the page can show."""

from __future__ import annotations

from typing import Any

from tests.browser.served import Process
from viz.views.kernels.compiled import FIRST
from viz.views.runs.process import STRIDE

Data = dict[str, Any]
PASSES = 16
"""Passes that are looked through, and nodes of each."""
NODES = 6
ENOUGH = 2
"""Parts of a pattern that fit where it fails: a picture of that shows something."""
KINDS = ("fired", "pattern", "declined", "overtaken", "not in pass")


def why_places(server: Process) -> dict[str, Data]:
    """By the kind of answer: "at", what the address of a page names; the numbers of the "rewrite",
    the "node" and the "rule", and the "name" of the rule. Of patterns that do not fit, the one that
    got furthest."""
    found: dict[str, Data] = {}
    furthest = 0
    own = [r for r in server.rows() if r["id"] < FIRST * STRIDE]  # not what was compiled on request
    rows = [r for r in own if r["kind"] == "rewrite" and 2 < r["steps"] < 120]
    for row in rows[:: -(-len(rows) // PASSES)]:
        bundle = server.get(f"rewrites/{row['id']}")
        for k, step in [*enumerate(bundle["steps"])][:NODES]:
            node = bundle["nodes"]["id"][step["before"]]
            here = server.get(f"rules-at/{row['id']}?node={node}")["rows"]
            for one in here:
                place = _place(row["id"], k, node, one)
                if one["kind"] == "pattern":
                    if one["fitted"] > furthest:
                        furthest, found["pattern"] = one["fitted"], place
                else:
                    found.setdefault(one["kind"], place)
            if "not in pass" not in found and here:
                listed = {one["rule"] for one in here}
                other = next(r for r in server.get("rules") if r["id"] not in listed)
                found["not in pass"] = _place(
                    row["id"], k, node, {"rule": other["id"], "name": other["name"]}
                )
        if found.keys() >= {*KINDS} and furthest > ENOUGH:
            break
    return found


def _place(rewrite: int, k: int, node: int, rule: Data) -> Data:
    """`k`: steps made before the one that replaces the node."""
    return {
        "rewrite": rewrite,
        "node": node,
        "rule": rule["rule"],
        "name": rule["name"],
        "pass": f"r={rewrite}&k={k}",
        "selected": f"r={rewrite}&k={k}&u={node}",
        "at": f"r={rewrite}&k={k}&u={node}&tab=why&why={rule['rule']}",
    }
