"""The process that answers one query about a folder of packed runs, within bounds of memory.

Reads its request on standard input. Never writes a file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from core.errors import TraceError
from core.isolation.client import Fault
from core.isolation.limits import limit_memory
from viz.fleet.asking import MEMORY, MEMORY_SAID, ask, merged
from viz.fleet.folder import folder_at

_ROOM: Final = 1 << 30
"""Bytes beside those of DuckDB: texts that are being made, and the answer."""


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """`result`, the names of the columns and the rows; or `error`."""
    sql = str(request["sql"])
    try:
        seconds = float(request["seconds"])
        if request["parts"] is not None:
            return {"result": merged(request["columns"], request["parts"], sql, seconds)}
        return {"result": ask(folder_at(str(request["address"])), sql, seconds, request["day"])}
    except TraceError as error:
        return {"error": Fault.of(error).data()}
    except MemoryError:
        return {"error": Fault(MEMORY_SAID, sql, "ask for less").data()}


def main() -> int:
    """Answers the request."""
    limit_memory(MEMORY + _ROOM)
    said = answer(json.load(sys.stdin))
    try:
        line = json.dumps(said)
    except MemoryError:
        line = json.dumps({"error": Fault(MEMORY_SAID, hint="ask for less").data()})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
