"""`python -m tests.bench mutants --all`: tries every planted mistake, and prints what was named.

Resumes where it was ended: answers are kept in `--results`, by the mistake and the project's code.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.bench.measure import machine
from tests.planted.figures import Result, figures, result_of
from tests.planted.generated import generated
from tests.planted.mistake import BY_HAND, KINDS, ROOT, Mistake
from tests.planted.programs import PROGRAMS
from tests.planted.trial import Trials

GENERATED: Final = 120
"""Of which most have no effect."""
RESULTS: Final = ROOT / ".cache" / "planted" / "trials.json"


def main(arguments: Sequence[str]) -> int:
    """The exit status: 1 where a mistake was proved, or something is blamed without any."""
    options = _options(arguments)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    trials = Trials(options.results, options.jobs)
    begun = time.monotonic()

    def tell(text: str) -> None:
        print(f"  {time.monotonic() - begun:.0f} s, {text}", file=sys.stderr, flush=True)

    alarms = trials.alarms(PROGRAMS, tell) if not options.without else {}
    used = {name: one.get("check", {}).get("rules", {}) for name, one in alarms.items()}
    mistakes = [*BY_HAND, *generated(options.generated, used)]
    mistakes = [m for m in mistakes if _is_chosen(m, options)]
    trials.run(mistakes, tell)
    results = [result_of(m, known) for m in mistakes if (known := trials.known(m)) is not None]
    print(f"{machine()}\npython -m tests.bench mutants {' '.join(arguments)}\n")
    print(figures(results))
    blamed = _alarms(alarms)
    print(f"{len(alarms)} programs without a mistake; blamed in them: {len(blamed)}")
    print("\n".join(blamed))
    if options.effects:
        print("\n".join(_effects(results)))
    wrong = [r for r in results if r.effect == "result" and r.check == "proved"]
    return int(bool(blamed or wrong))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.bench mutants --all")
    parser.add_argument("--all", action="store_true", help="every planted mistake")
    parser.add_argument("--jobs", type=int, default=1, help="mistakes at a time")
    parser.add_argument("--kind", default="", help="only those whose kind has this in it")
    parser.add_argument("--name", default="", help="only those whose name has this in it")
    parser.add_argument("--generated", type=int, default=GENERATED, help="how many are generated")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where answers are kept")
    parser.add_argument("--without", action="store_true", help="programs without a mistake: none")
    parser.add_argument("--effects", action="store_true", help="list what each mistake did")
    return parser.parse_args(list(arguments))


def _is_chosen(mistake: Mistake, options: argparse.Namespace) -> bool:
    return options.kind in mistake.kind and options.name in mistake.name and mistake.kind in KINDS


def _alarms(answers: dict[str, dict[str, object]]) -> list[str]:
    found: list[str] = []
    for name, answer in answers.items():
        said = result_of(
            Mistake("", KINDS[0], "", "", "", name, ()), {**answer, "run": {"effect": "?"}}
        )
        unsure = ("pass named", "program named")
        if said.others or said.check in unsure or said.bisect in unsure:
            found.append(f"  {name}: {', '.join(said.others)} {said.check} {said.bisect}")
    return found


def _effects(results: Sequence[Result]) -> list[str]:
    return [
        f"{r.effect:8} check {r.check:14} bisect {r.bisect:14} {r.mistake.kind[:12]:12} "
        f"{r.mistake.name} [{', '.join(r.mistake.blame)}] {'; '.join(r.others)} | {r.said[:120]}"
        for r in results
    ]
