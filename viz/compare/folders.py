"""The traces of two folders, which belong together, and a pair of them as a few figures.

Traces belong together by their path in the folder; else by their name without the time and the
process that a recording puts there, in order. Never compares more than one pair at a time: who
calls has processes for that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError, UopvizError
from viz.compare.comparison import Comparison
from viz.compare.gate import failed_gates, parse_gates
from viz.compare.matching.rules import pair_by
from viz.files.parts import COMPILED, PROCESS, VARIANTS
from viz.format.schema import SUFFIX
from viz.views.store import Store

Data = dict[str, Any]
MOST: Final = 10_000
"""Traces of a folder."""
_RECORDED: Final = re.compile(r"-\d{8}-\d{6}-\d+(?=\.)")
_PART: Final = re.compile(rf".+(?:{PROCESS.pattern}|{COMPILED.pattern})")


@dataclass(frozen=True)
class TracePair:
    """Two traces, or one that only one folder has; `name` says which."""

    name: str
    a: Path | None
    b: Path | None


def traces_of(folder: Path) -> list[Path]:
    """The traces below a folder, by path. Raises TraceError where there are too many or none."""
    found: list[Path] = []
    for path in folder.rglob(f"*{SUFFIX}"):
        of_a_trace = _PART.fullmatch(path.stem) or path.parent.suffix == VARIANTS
        if not of_a_trace and path.is_file():
            found.append(path.relative_to(folder))
            if len(found) > MOST:
                raise TraceError(
                    f"there are more than {MOST:,} traces in this folder",
                    str(folder),
                    "compare folders inside it",
                )
    if not found:
        raise TraceError("there is no trace in this folder", str(folder), "record some: VIZ_TRACE")
    return sorted(found)


def pair_traces(folder_a: Path, folder_b: Path) -> list[TracePair]:
    """The traces of two folders, by name. Raises TraceError."""
    both, only_a, only_b = pair_by(
        traces_of(folder_a), traces_of(folder_b), (lambda path: path, _name)
    )
    found = [TracePair(str(b), folder_a / a, folder_b / b) for a, b, _ in both]
    found += (TracePair(str(path), folder_a / path, None) for path in only_a)
    found += (TracePair(str(path), None, folder_b / path) for path in only_b)
    return sorted(found, key=lambda pair: pair.name)


def _name(path: Path) -> str:
    return str(path.with_name(_RECORDED.sub("", path.name)))


def compare_files(name: str, a: str, b: str, conditions: str | None) -> Data:
    """A pair of traces in a few figures, `PairSummary` of docs/json.md; `conditions` as of
    --fail-on. What goes wrong is said in `error`."""
    made: Data = {"name": name, "a": a, "b": b, "equal": False, "failed": [], "error": None}
    stores: list[Store] = []
    try:
        for path in (a, b):
            stores.append(Store(path))
        comparison = Comparison(stores[0], stores[1])
        compared = comparison.compared()
        gates = parse_gates(conditions) if conditions is not None else []
        made |= _figures(compared.overview)
        made["failed"] = failed_gates(compared, gates) if gates else []
    except UopvizError as error:
        made["error"] = error.what + (f" ({error.where})" if error.where else "")
    except (OSError, MemoryError) as error:
        made["error"] = f"{type(error).__name__}: {error}"
    finally:
        for store in stores:
            store.close()
    return made


def _figures(overview: Data) -> Data:
    kernels: dict[str, int] = {"equal": 0, "changed": 0, "added": 0, "removed": 0}
    scopes: Sequence[Data] = overview["scopes"]
    for scope in scopes:
        if scope["kind"] == "kernel":
            kernels[scope["state"]] += 1
    kernels["equal"] += overview["leftOut"]
    first = next((scope for scope in scopes if scope["first"] is not None), None)
    return {
        "equal": overview["equal"],
        "notes": overview["notes"],
        "kernels": kernels,
        "totals": overview["totals"],
        "errors": len(overview["errors"]),
        "first": None
        if first is None
        else {"scope": first["name"]["b"] or first["name"]["a"], **first["first"]},
    }
