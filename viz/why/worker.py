"""The process in which the function of a rule is called again, to see on which line it declines.

Reads one request as JSON and answers in one line. The node may come from a stranger's trace: it is
decoded strictly. The rule is one of this installation: its text and pattern are the recorded ones.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import TraceError
from core.isolation.limits import limit_files
from core.uop.explain import Declines, Fires, Raises, explain
from core.uop.serial import from_data
from viz.why.declining import needs, record_of
from viz.why.given import find_given
from viz.why.installed import Installed
from viz.work.lines import answer_request


def decline_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """The line on which a rule declines the last node of a graph, with the values that it names;
    {"why"} where it does not."""
    limit_files(0)
    nodes = from_data(request["graph"])
    record = record_of(request["rule"])
    load = request.get("load")
    rule, why = find_given(Path(load), record) if load else Installed().find(record)
    if rule is None or (why := needs(rule)):
        raise TraceError(why)
    found = explain(rule, nodes[-1])
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
        case _:
            return {"why": "tried again, its pattern does not fit"}


def main() -> int:
    """Answers the request on standard input."""
    return answer_request({"decline": decline_job}, "the rule")


if __name__ == "__main__":
    sys.exit(main())
