"""Arguments of `core`'s nodes: how people write them, and what of them is the same in every run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from viz.budget import take
from viz.dialect.argtext import Show
from viz.format.cells import parse_json

_NAMED: Final = '"kernelinfo"'
_DEEPEST: Final = 40


def spell(fields: Mapping[str, Any], show: Show) -> str | None:
    """The text of an object of typed JSON: a ShapeTracker is its strides."""
    match fields:
        case {"view": dict() as view}:
            return _view(cast("dict[str, Any]", view), show)
        case {"shapetracker": list() as views}:
            return " of ".join(
                _view(cast("dict[str, Any]", v), show) if isinstance(v, dict) else "?"
                for v in reversed(cast("list[Any]", views))
            )
        case {"opt": {"op": op, "axis": axis, "arg": arg}}:
            given = [show(v) for v in (axis, arg) if v is not None]
            return f"{op}({', '.join(given)})"
        case {"tensorcore": {"name": name}}:
            return show(name)
        case {"scatter": {"axis": axis, "op": op}}:
            return f"write along {show(axis)}" + (f", {show(op)}" if op else "")
        case {"kernelinfo": {"name": name, "opts": opts}}:
            return f"{name}" if opts is None else f"{name} {show(opts)}"
        case _:
            return None


def _view(view: dict[str, Any], show: Show) -> str:
    """`4x8 strides 8,1`, then the offset and the mask where there are any."""

    def shown(value: Any) -> list[str]:
        return [show(n) for n in _list(value)]

    made = "x".join(shown(view.get("shape"))) or "scalar"
    if strides := shown(view.get("strides")):
        made += f" strides {','.join(strides)}"
    if view.get("offset"):
        made += f" offset {show(view['offset'])}"
    if view.get("mask") is not None:
        made += " mask " + ",".join("-".join(shown(pair)) for pair in _list(view["mask"]))
    return made


def lasting(text: str) -> str:
    """An argument without the names of kernels, and without opts that a search has found: another
    search may find others. Raises BudgetError."""
    if _NAMED not in text:
        return text
    take(len(text) // 16, 4 * len(text))
    data = parse_json(text)
    return text if data is None else json.dumps(_nameless(data), sort_keys=True)


def _nameless(data: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        return data
    if isinstance(data, list):
        return [_nameless(item, depth + 1) for item in cast("list[Any]", data)]
    if not isinstance(data, dict):
        return data
    made = {key: _nameless(value, depth + 1) for key, value in cast("dict[str, Any]", data).items()}
    info = made.get("kernelinfo")
    if isinstance(info, dict):
        fields = cast("dict[str, Any]", info)
        if fields.pop("found_for", ""):
            fields["opts"] = None
        made["kernelinfo"] = {k: v for k, v in fields.items() if k != "name"}
    return made


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
