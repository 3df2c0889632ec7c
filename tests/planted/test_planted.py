"""The corpus of planted mistakes, and a sample of it, about one of each kind: it changes a result,
is named by check and by bisect, and nothing else is blamed.

`python -m tests.bench mutants --all` tries all of them.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.planted.figures import Result, figures, result_of
from tests.planted.generated import generated
from tests.planted.mistake import BY_HAND, KINDS, Mistake
from tests.planted.programs import PROGRAMS
from tests.planted.trial import Trials

SAMPLE = (
    "a difference of constants without its sign",
    "x + 0.0 is x, of -0.0 too",
    "NaN becomes an infinity in bfloat16",
    "n * (n + 1) / 2",
    "a sum of repeated elements counts them once",
    "a masked view without its choice",
    "an accumulator that begins with 0",
    "true is 0",
    "a sum whose accumulator is 1",
    "a maximum of devices is their sum",
    "what lies behind a length is 0",
    "and for or of predicates",
)


def test_every_mistake_can_be_planted() -> None:
    """Code that has changed takes its mistakes along: each text stands once in its file."""
    assert [f"{m.name}: {m.problem()}" for m in BY_HAND if m.problem()] == []
    assert [name for name, count in Counter(m.name for m in BY_HAND).items() if count > 1] == []
    assert {m.program for m in BY_HAND} == set(PROGRAMS)
    counts = Counter(m.kind for m in BY_HAND)
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 10
    assert len(BY_HAND) >= 200


def test_mistakes_are_generated() -> None:
    made = list(generated(20, {"views": {"index_load": {}, "store_in_loops": {}, "combine": {}}}))
    assert made == list(
        generated(20, {"views": {"index_load": {}, "store_in_loops": {}, "combine": {}}})
    )
    assert made
    assert all(m.problem() == "" and m.blame[0] in m.name and m.made != "by hand" for m in made)


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Trials:
    return Trials(tmp_path_factory.mktemp("planted") / "trials.json")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SAMPLE)
def test_a_mistake_is_named(name: str, trials: Trials) -> None:
    (mistake,) = (m for m in BY_HAND if m.name == name)
    found = tried(mistake, trials)
    assert found.effect == "result", found
    assert (found.check, found.bisect, found.others) == ("named", "named", ()), found


def test_an_answer_is_kept(trials: Trials) -> None:
    mistake = next(m for m in BY_HAND if m.name == SAMPLE[0])
    first = tried(mistake, trials)
    told: list[str] = []
    again = Trials(trials.place)
    again.run([mistake], told.append)
    assert told == []
    assert result_of(mistake, again.known(mistake) or {}) == first
    text = figures([first])
    assert f"| {mistake.kind} | 1 | 1 | 1 | 0 | 1 |" in text
    assert "check names 100.0 %, bisect 100.0 %" in text


def test_programs_without_a_mistake(tmp_path: Path) -> None:
    answers = Trials(tmp_path / "trials.json").alarms(["gather"], lambda text: None)
    found = result_of(Mistake("", KINDS[0], "", "", "", "gather", ()), answers["gather"])
    assert found.effect == "none"
    assert all("differs" not in kinds for kinds in answers["gather"]["check"]["rules"].values())
    assert answers["gather"]["bisect"]["named"] == []
    assert answers["gather"]["check"]["texts"] == []
    assert set(answers["gather"]["check"]["wholes"]) <= {"equal", "rounding"}


def tried(mistake: Mistake, trials: Trials) -> Result:
    trials.run([mistake], lambda text: None)
    answer = trials.known(mistake)
    assert answer is not None
    return result_of(mistake, answer)
