"""`Verdict`: what is known of one replacement, and how.

Plain data that crosses processes as JSON. Never decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast, get_args

from core.errors import FormatError

Kind = Literal["proved", "sampled", "assumes", "differs", "unchecked"]
"""What an answer is. `proved`: for every value; `sampled`: for all samples; `assumes`: only under
what the rule declares; `differs`: there are values for which it is wrong; `unchecked`: unknown."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
MAX_TEXT: Final = 400
MAX_VALUES: Final = 40


@dataclass(frozen=True)
class Verdict:
    """What is known of one replacement.

    `how` says by what means, or why not. `samples`: how many values were tried, 0 where it is
    proved. `ulps`: the largest difference of floats, in units of the last place of the result; 0
    where all were exact. `values`: the value of each input for which the two differ; `before` and
    `after`: what they give then. `hint`: what would give a better answer.
    """

    kind: Kind
    how: str
    samples: int = 0
    ulps: float = 0.0
    values: tuple[tuple[str, str], ...] = ()
    before: str = ""
    after: str = ""
    hint: str = field(default="", compare=False)

    def data(self) -> dict[str, Any]:
        """Its fields as plain data, without those that say nothing."""
        made: dict[str, Any] = {"kind": self.kind, "how": self.how}
        if self.samples:
            made["samples"] = self.samples
        if self.ulps:
            made["ulps"] = self.ulps
        if self.values or self.before or self.after:
            made["values"] = [[name, value] for name, value in self.values]
            made |= {"before": self.before, "after": self.after}
        if self.hint:
            made["hint"] = self.hint
        return made


def verdict_of(data: object) -> Verdict:
    """The verdict that `Verdict.data` wrote. Raises FormatError for anything else."""
    if not isinstance(data, dict):
        raise _bad()
    fields = cast("dict[str, Any]", data)
    kind, samples, ulps = fields.get("kind"), fields.get("samples", 0), fields.get("ulps", 0.0)
    if kind not in KINDS or type(samples) is not int or type(ulps) not in (int, float):
        raise _bad()
    values = fields.get("values", [])
    if not isinstance(values, list) or len(cast("list[object]", values)) > MAX_VALUES:
        raise _bad()
    pairs: list[tuple[str, str]] = []
    for pair in cast("list[object]", values):
        match pair:
            case [str(name), str(value)]:
                pairs.append((name[:MAX_TEXT], value[:MAX_TEXT]))
            case _:
                raise _bad()
    texts = [_text(fields, name) for name in ("how", "before", "after", "hint")]
    how, before, after, hint = texts
    return Verdict(kind, how, samples, float(ulps), tuple(pairs), before, after, hint)


def _text(fields: Mapping[str, Any], name: str) -> str:
    found = fields.get(name, "")
    if not isinstance(found, str):
        raise _bad()
    return found[:MAX_TEXT]


def _bad() -> FormatError:
    return FormatError("not an answer of a check", hint="delete the file; it will be recreated")
