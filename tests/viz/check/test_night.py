"""A night of random programs is checked in parts that are kept, and goes on where it was."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.viz.check import night
from tests.viz.check.night import DEVICES, PLACES, Checked, Night, block, place_of


def of_other_code(folders: tuple[str, ...]) -> str:
    return f"other code in {folders}"


def test_programs_run_everywhere() -> None:
    assert {place_of(seed) for seed in range(10)} == {
        *DEVICES,
        "several devices",
        "gradients",
        "lengths",
        "tiles",
    }


@pytest.mark.parametrize("seed", [0, PLACES.index("lengths"), PLACES.index("tiles")])
def test_a_program_is_recorded_and_its_steps_and_kernels_are_counted(seed: int) -> None:
    found = block([seed])
    place = place_of(seed)
    assert found.counts[place, "programs"] == 1
    assert found.counts[place, "proved"] > 10
    assert found.counts[place, "kernel equal"] + found.counts[place, "kernel rounding"] > 0
    assert found.blamed == []


def test_a_night_that_was_ended_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "night.json"
    first = Night(path, 7)
    first.found.add(
        Checked(Counter({("CPU", "proved"): 3, ("CPU", "programs"): 1}), Counter(), ["x"])
    )
    first.blocks = 2
    first.keep()
    again = Night(path, None)
    assert (again.first, again.blocks, again.found) == (7, 2, first.found)
    assert again.found.steps == 3
    assert "| CPU | 1 | 3 | 100.00 |" in again.told()
    monkeypatch.setattr(night, "revision", of_other_code)
    assert Night(path, 7).blocks == 0
