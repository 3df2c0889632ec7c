"""What a pass left undone, as data: found by a check, kept beside the trace, and answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from core.errors import FormatError

Data = dict[str, Any]
_TEXTS: Final = ("pass", "says", "text", "line", "said", "rule")
_MAX_TEXT: Final = 300


@dataclass(frozen=True)
class Left:
    """What a pass left undone: pass `name` guarantees what it `says`, and node number `node`, a
    `text`, is the first for which that does not hold; `line`: the user's that asked for the node,
    or for what is below it. `told`: the same as a sentence. `rule`: what made the node so; "" where
    none is to blame."""

    name: str
    says: str
    node: int
    text: str
    line: str
    told: str
    rule: str = ""

    def data(self) -> Data:
        """`Undone` of docs/json.md."""
        return {
            "pass": self.name[:_MAX_TEXT],
            "says": self.says[:_MAX_TEXT],
            "node": self.node,
            "text": self.text[:_MAX_TEXT],
            "line": self.line[:_MAX_TEXT],
            "said": self.told[: 3 * _MAX_TEXT],
            "rule": self.rule[:_MAX_TEXT],
        }


def left_of(data: object) -> Data | None:
    """`Left.data` as it was written, None where nothing was left. Raises FormatError for anything
    else."""
    if data is None:
        return None
    fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    node = fields.get("node")
    if type(node) is not int or not all(isinstance(fields.get(name), str) for name in _TEXTS):
        raise FormatError("not what a pass left undone", hint="check the trace again")
    return {"node": node, **{name: fields[name] for name in _TEXTS}}
