"""What was emulated, as a server keeps it and an exported file states it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from core.isolation.edited import Edited
from tests.core.runtime.asts import add
from viz.views.kernels import emulations
from viz.views.kernels.emulations import Emulations, emulations_in
from viz.work.change import Change
from viz.work.emulation import emulate


@pytest.fixture(scope="module")
def emulation() -> dict[str, Any]:
    """One as a page gets it."""
    found: dict[str, Any] = json.loads(json.dumps(emulate(add(64), "PTX:EMU")))
    return found


@pytest.fixture(scope="module")
def faulty(emulation: dict[str, Any]) -> dict[str, Any]:
    bad = re.sub(r"(st\.global\.f32 \[%\w+)\]", r"\1+4096]", emulation["text"])
    made = emulate(add(64), "PTX:EMU", change=Change(text=Edited("ptx", bad)))
    found: dict[str, Any] = json.loads(json.dumps(made))
    assert found["fault"] and found["walk"]["fault"]
    return found


def test_the_newest_of_each_text_and_device_is_kept(emulation: dict[str, Any]) -> None:
    kept = Emulations()
    kept.add(7, emulation)
    kept.add(7, emulation | {"source": "ptx"})
    kept.add(3, emulation | {"device": "AMD:EMU"})
    kept.add(7, emulation | {"target": "newest"})
    assert kept.kernels() == [3, 7]
    assert [(e["target"], e["source"]) for e in kept.of(7)] == [("sm_90", "ptx"), ("newest", None)]
    assert kept.of(3) == [emulation | {"device": "AMD:EMU"}]
    assert kept.of(4) == []
    assert [kernel for kernel, _ in kept] == [7, 3, 7]


def test_the_oldest_goes_where_there_are_too_many(
    emulation: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emulations, "KEPT", 2)
    kept = Emulations()
    for kernel in (1, 2, 3):
        kept.add(kernel, emulation)
    assert kept.kernels() == [2, 3]
    monkeypatch.setattr(emulations, "KEPT_BYTES", 10)
    kept.add(4, emulation)
    assert kept.kernels() == []


def test_an_exported_file_has_no_line_of_the_user_in_a_fault(faulty: dict[str, Any]) -> None:
    where = "line 3: ret;\nblock (0, 0, 0)\nnode LOAD of float from /home/someone/secret.py:4"
    faulty = copy.deepcopy(faulty)
    faulty["fault"]["where"] = faulty["walk"]["fault"]["where"] = where
    kept, published = Emulations(), Emulations()
    for kernel in (1, 2):
        kept.add(kernel, faulty)
    published.publish(kept, [2])
    (found,) = published.of(2)
    assert published.kernels() == [2]
    assert "secret" not in json.dumps(found)
    assert found["fault"]["where"].endswith("node LOAD of float")
    assert found["walk"]["fault"]["line"] == faulty["walk"]["fault"]["line"]


def test_what_a_file_states_without_faults_is_exported_again(emulation: dict[str, Any]) -> None:
    bare = {key: value for key, value in emulation.items() if key != "fault"}
    bare["walk"] = {key: value for key, value in emulation["walk"].items() if key != "fault"}
    assert emulations_in([bare]) == [bare]
    kept, published = Emulations(), Emulations()
    kept.add(1, bare)
    published.publish(kept, [1])
    assert published.of(1) == [emulation]


def test_what_was_emulated_is_taken_from_a_file(
    emulation: dict[str, Any], faulty: dict[str, Any]
) -> None:
    assert emulations_in([emulation, faulty]) == [emulation, faulty]


def test_a_file_of_an_earlier_version_lacks_accesses(emulation: dict[str, Any]) -> None:
    older = copy.deepcopy(emulation)
    for name in ("accesses", "served", "uses"):
        del older["walk"][name]
    for name in ("lanes", "ways"):
        del older["counters"]["lines"][name]
    (found,) = emulations_in([older])
    assert found["walk"]["accesses"] == []
    lines = found["counters"]["lines"]
    assert lines["lanes"] == lines["threads"]
    assert lines["ways"] == [0] * len(lines["line"])


def _set(*path: str) -> Callable[[dict[str, Any], Any], None]:
    def change(found: dict[str, Any], value: Any) -> None:
        for name in path[:-1]:
            found = found[name]
        found[path[-1]] = value

    return change


HOSTILE: list[tuple[Callable[[dict[str, Any], Any], None], list[Any]]] = [
    (_set("text"), [None, 5, ["a"]]),
    (_set("device"), [None, {}]),
    (_set("grid"), [None, "1", ["1", 1, 1]]),
    (_set("blocks"), [[], [1], [1, "2"], {}]),
    (_set("fault"), ["wrong", {"what": "x"}, {"what": 1, "where": "", "hint": "", "line": 1}]),
    (_set("counters"), [None, [], {"lines": []}]),
    (_set("counters", "total"), [None, "many"]),
    (_set("counters", "lines", "line"), [None, [], ["1"], {"length": 10**9}]),
    (_set("counters", "lines", "loaded"), [[None], [[]]]),
    (_set("walk"), [None, [], {}]),
    (_set("walk", "width"), [0, -1, 10**9, "32", None]),
    (_set("walk", "active"), [["zz"], ["f" * 10**6], [1], []]),
    (_set("walk", "names"), [[1], None]),
    (_set("walk", "registers"), [[[1]], [None], [["a", 1, "u", 2]]]),
    (_set("walk", "memory"), [[[0] * 9], [[0]], "x", [[0, "", "", 4, 4, [0], [0], [[1]], []]]]),
    (_set("walk", "arguments"), [[[1, 2, 3, 4]], [None], [["data0"]]]),
    (_set("walk", "uses"), [None, [1], [["%r1"]]]),
    (_set("walk", "served"), [None, [None], [{"hits": [[0, 0]]}], [{"hits": []}]]),
    (
        _set("walk", "accesses"),
        [
            None,
            [[0]],
            [[0, "shared", "", True, 4, [99], [0], -1]],
            [[0, "shared", "", True, 4, [0], [0], 10**6]],
            [[0, "shared", "", True, 4, [0], [], -1]],
        ],
    ),
    (_set("counters", "lines", "ways"), [None, ["1"], []]),
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_what_is_not_whole_is_left_out(emulation: dict[str, Any], number: int) -> None:
    change, values = HOSTILE[number]
    for value in values:
        found = copy.deepcopy(emulation)
        change(found, value)
        assert emulations_in([found]) == [], value


@pytest.mark.parametrize("answer", [None, {}, "x", 3, [None], [[]], ["x"], [{}]])
def test_an_answer_may_be_anything(answer: object) -> None:
    assert emulations_in(answer) == []
