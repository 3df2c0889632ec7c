"""The process in which the function of a rule is called again, to see on which line it declines.

Reads one request as JSON and answers in one line. The node may come from a stranger's trace: it is
decoded strictly. The rule is one of this installation: its text and pattern are the recorded ones.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.compile import compile_kernel
from core.errors import TraceError
from core.isolation.limits import limit_files
from core.passes.schedule import create_schedule
from core.target import target_named
from core.uop.data.serial import from_data
from core.uop.engine.explain import Declines, Explanation, Fires, Raises, explain
from core.uop.engine.explain_pass import Place, explain_in_pass
from core.uop.patterns.rule import Rule
from core.uop.uop import UOp
from viz.coredialect.flags import context_of
from viz.format.cells import as_int, as_text
from viz.jobs.lines import answer_request
from viz.why.again import FLAGS
from viz.why.rules.declining import record_of, takes_context
from viz.why.rules.given import find_given
from viz.why.rules.installed import Installed


def decline_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """The line on which a rule declines the last node of a graph, with the values that it names;
    {"why"} where it does not."""
    limit_files(0)
    nodes = from_data(request["graph"])
    record = record_of(request["rule"])
    load = request.get("load")
    rule, why = find_given(Path(load), record) if load else Installed().find(record)
    if rule is None:
        raise TraceError(why)
    found = _explain(rule, nodes[-1], request.get("pass"))
    match found:
        case Fires():
            return {"why": "called again, its function does not decline"}
        case Raises():
            return {"why": f"called again, its function raises {found.error}"}
        case Declines():
            numbers = {node: at for at, node in reversed([*enumerate(nodes)])}
            binds = {name: numbers[node] for name, node in found.binds.items() if node in numbers}
            return {
                "file": found.file,
                "line": found.line,
                "text": found.text,
                "values": dict(found.values),
                "ways": found.ways,
                "binds": binds,
            }
        case None:
            return {"why": "run again, the pass does not try it at this node"}
        case _:
            return {"why": "tried again, its pattern does not fit"}


def _explain(rule: Rule, node: UOp, again: Mapping[str, Any] | None) -> Explanation | None:
    """What the rule says of the node, in the pass that is to be run again, if there is one."""
    if again is None:
        if takes_context(rule):
            raise TraceError("it takes what its pass hands to it")
        return explain(rule, node)
    root = from_data(again["graph"])[0]
    place = Place(as_text(again["rewrite"]), as_int(again["before"]))

    def run() -> None:
        with context_of(again.get("flags"), FLAGS):
            if again["kind"] == "schedule":
                create_schedule(root)
            else:
                compile_kernel(root, target_named(as_text(again["target"], 200)))

    return explain_in_pass(rule, node, place, run)


def main() -> int:
    """Answers the request on standard input."""
    return answer_request({"decline": decline_job}, "the rule")


if __name__ == "__main__":
    sys.exit(main())
