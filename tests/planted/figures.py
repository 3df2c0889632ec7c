"""What the trials of planted mistakes come to: a table by kind, and those that were missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.bench.measure import table
from tests.planted.mistake import KINDS, Mistake
from viz.known.whole import PASS, RULE, STEPS

Data = Mapping[str, Any]
WORST: Final = ("unchecked", "assumes", "sampled", "proved")
"""What check may say of steps none of which differs; the most careful first."""
CHECK: Final = (
    "named",
    "pass named",
    "other named",
    "program named",
    "not checkable",
    "assumed",
    "sampled",
    "proved",
    "no step",
)
BISECT: Final = ("named", "pass named", "other named", "no difference", "not told")
_OF_CHECK: Final = {
    "unchecked": "not checkable",
    "assumes": "assumed",
    "sampled": "sampled",
    "proved": "proved",
}


@dataclass(frozen=True)
class Result:
    """A mistake that was tried. `effect`: "none", "result" or "refused"; `check` and `bisect`: of
    one that has an effect, a word of CHECK and of BISECT; `others`: rules besides that are blamed,
    and by whom."""

    mistake: Mistake
    effect: str
    said: str
    check: str = ""
    bisect: str = ""
    others: tuple[str, ...] = ()


def result_of(mistake: Mistake, answer: Data) -> Result:
    """What an answer of the worker means."""
    made = answer["run"]
    said = str(made.get("failed") or made.get("effect") or "")
    effect = "refused" if "failed" in made else "result" if said else "none"
    if effect == "none":
        return Result(mistake, effect, said)
    check, check_others = _of_check(mistake, answer.get("check", {}))
    bisect, bisect_others = _of_bisect(mistake, answer.get("bisect", {}))
    others = tuple(dict.fromkeys((*check_others, *bisect_others)))
    return Result(mistake, effect, said, check, bisect, others)


def _of_check(mistake: Mistake, answer: Data) -> tuple[str, list[str]]:
    rules: Mapping[str, Mapping[str, int]] = answer.get("rules", {})
    wrong = [name for name, counts in rules.items() if "differs" in counts]
    passes = ["pass " + name for name in answer.get("passes", ())]
    texts = [_of_text(place) for place in answer.get("texts", ()) if place not in ("", STEPS)]
    sure = [name for name in wrong if rules[name].get("possible", 0) < rules[name]["differs"]]
    others = [f"check: {name}" for name in (*sure, *texts) if name not in mistake.blame]
    if any(name in mistake.blame for name in (*wrong, *passes, *texts)):
        return "named", others
    if sure or texts:
        return "other named", others
    if wrong:
        return "pass named", others
    if passes:
        return "pass named", others
    if answer.get("texts"):
        return "program named", others
    if not rules:
        return "not checkable", []
    found = {kind for name in mistake.blame for kind in rules.get(name, {})}
    return next((_OF_CHECK[kind] for kind in WORST if kind in found), "no step"), []


def _of_text(place: str) -> str:
    """What a kernel whose text differs names, as in `blame`."""
    if place.startswith(RULE):
        return place.removeprefix(RULE).partition(" in ")[0]
    return place if place.startswith(PASS) else "pass " + place


def _of_bisect(mistake: Mistake, answer: Data) -> tuple[str, list[str]]:
    if not answer or "failed" in answer:
        return "not told", []
    names = [str(name).removeprefix("rule ") for name in answer["named"]]
    plain = [name.partition(" of ")[0] for name in names]
    rules = [n for n in plain if not n.startswith("pass ")]
    others = [f"bisect: {name}" for name in rules if name not in mistake.blame]
    if any(name in mistake.blame for name in plain):
        return "named", others
    if others:
        return "other named", others
    if plain:
        return "pass named", []
    if answer["wrong"]:
        return "pass named", []
    return ("no difference" if answer["told"] else "not told"), []


def figures(results: Sequence[Result]) -> str:
    """The table by kind, and what was missed."""
    head = ("kind", "planted", "with an effect", "by hand", "refused",
            *(f"check: {word}" for word in CHECK), *(f"bisect: {word}" for word in BISECT),
            "others blamed")  # fmt: skip
    rows = [_row(kind, [r for r in results if r.mistake.kind == kind]) for kind in KINDS]
    rows.append(_row("all", results))
    counted = table("Planted mistakes, by kind", head, rows)
    missed = [r for r in results if r.effect != "none" and not _is_found(r)]
    lines = table(
        "Missed, or with others blamed",
        ("mistake", "in", "effect", "check", "bisect", "others"),
        [
            (r.mistake.name, r.mistake.blame[0], r.effect, r.check, r.bisect, "; ".join(r.others))
            for r in sorted(missed, key=_badness)
        ],
    )
    return counted + "\n" + shares(results) + "\n\n" + lines


def _is_found(r: Result) -> bool:
    return r.check == "named" and r.bisect == "named" and not r.others


def _badness(r: Result) -> tuple[int, str]:
    first = {"proved": 0, "other named": 1}.get(r.check, 5)
    second = {"other named": 1, "no difference": 2}.get(r.bisect, 5)
    return min(first, second), r.mistake.kind


def _row(kind: str, results: Sequence[Result]) -> list[object]:
    with_effect = [r for r in results if r.effect != "none"]
    check, bisect = Counter(r.check for r in with_effect), Counter(r.bisect for r in with_effect)
    return [
        kind,
        len(results),
        len(with_effect),
        sum(r.mistake.made == "by hand" for r in with_effect),
        sum(r.effect == "refused" for r in with_effect),
        *(check[word] for word in CHECK),
        *(bisect[word] for word in BISECT),
        sum(bool(r.others) for r in with_effect),
    ]


def shares(results: Iterable[Result]) -> str:
    """What check and bisect name, as shares."""
    return "\n".join(_shares(list(results)))


def _shares(results: list[Result]) -> Iterator[str]:
    for title, chosen in (
        ("of those with an effect", [r for r in results if r.effect != "none"]),
        ("of those that change a result", [r for r in results if r.effect == "result"]),
    ):
        count = max(1, len(chosen))
        named = [sum(getattr(r, of) == "named" for r in chosen) for of in ("check", "bisect")]
        either = sum("named" in (r.check, r.bisect) for r in chosen)
        yield (
            f"{title} ({len(chosen)}): check names {100 * named[0] / count:.1f} %, "
            f"bisect {100 * named[1] / count:.1f} %, one of the two {100 * either / count:.1f} %"
        )
