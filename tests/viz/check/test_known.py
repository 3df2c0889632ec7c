"""What is known of passes: joined, counted, kept beside the trace, and what a file states."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import viz.known.beside
from viz.check.job import Asked, Check
from viz.known.beside import identity_of, keep, place_of, take_kept
from viz.known.kept import MAX_BYTES, Kept, kept_path, load, save
from viz.views.checks import MAX_DIFFERING, Checks, summary_in
from viz.views.runs.process import STRIDE
from viz.views.store import Store

PROVED = {"kind": "proved", "how": "equal in normal form"}
WRONG = {"kind": "differs", "how": "for these values", "before": "1", "after": "2", "values": []}


def checked(rewrite: int, *kinds: dict[str, Any], first: int = 1) -> dict[str, Any]:
    """A pass whose steps have these verdicts, from step `first` on."""
    steps = [[first + at, 7, at] for at in range(len(kinds))]
    numbers = [step for step, _, _ in steps]
    return {"rewrite": rewrite, "steps": steps, "verdicts": [*kinds], "integers": numbers[:1]}


def test_steps_of_a_rule_are_joined() -> None:
    checks = Checks()
    checks.add(checked(3, PROVED, PROVED), whole=False)
    checks.add(checked(3, WRONG, first=2), whole=False)
    found = checks.of(3)
    assert found is not None and found["whole"] is False
    kinds = [found["verdicts"][at]["kind"] for _, _, at in found["steps"]]
    assert kinds == ["proved", "differs"]
    assert len(found["verdicts"]) == 2
    assert found["integers"] == [1, 2]
    assert checks.summary()["differing"] == [[2]]
    assert checks.whole() == set()
    checks.add(checked(3, PROVED, PROVED))
    assert checks.whole() == {3} and checks.counts([3, 4])["proved"] == 2


def test_all_that_differ_are_counted_and_some_are_listed() -> None:
    checks = Checks()
    many = {
        "rewrite": 1,
        "steps": [[k, 1, 0] for k in range(1, 3001)],
        "verdicts": [WRONG],
        "integers": [],
    }
    checks.add(many)
    said = checks.summary()
    assert said["differs"] == [3000]
    assert said["differing"] == [[*range(1, MAX_DIFFERING + 1)]]


def test_numbers_that_json_does_not_have() -> None:
    checks = Checks()
    checks.add(checked(1, {"kind": "sampled", "how": "exact", "ulps": float("inf")}))
    assert json.loads(json.dumps(checks.of(1), allow_nan=False))["verdicts"][0]["ulps"] > 1e300


def test_what_a_file_states_is_not_kept(store: Store) -> None:
    first, second = [r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite"][:2]
    store.checks.add(checked(first, PROVED), stated=True)
    assert store.checks.of(first) is not None
    assert store.checks.whole() == set()
    assert not keep(store)
    store.checks.add(checked(second, PROVED))
    store.checks.add(checked(300 * STRIDE + 1, PROVED))  # of what was compiled on request
    assert keep(store)
    kept = json.loads(kept_path(store.path).read_bytes())
    assert [one["rewrite"] for one in kept["passes"]] == [second]


def test_the_file_is_read_again_where_it_has_changed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = next(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
    other = Store(store.path)
    assert take_kept(store).rewrites() == []
    other.checks.add(checked(number, WRONG))
    assert keep(other)
    assert take_kept(store).rewrites() == [number]

    def never(*_: object) -> object:
        raise AssertionError("read again")

    monkeypatch.setattr(viz.known.beside, "load", never)
    assert take_kept(store).rewrites() == [number]
    other.close()


def test_results_without_a_place_are_known_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = next(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")

    def full(*_: object) -> bool:
        return False

    monkeypatch.setattr(viz.known.beside, "save", full)
    changes: list[int] = []
    check = Check(store, Asked(rewrite=number), lambda: changes.append(1))
    assert check.request is not None and check.request["rewrites"] == [number]
    check.take(checked(number, PROVED))
    check.take(checked(99_999, PROVED))  # which was not asked for
    check.end()

    def gone(*_: object) -> object:
        raise OSError("the folder is gone")

    monkeypatch.setattr(viz.known.beside, "save", gone)
    check.end()  # a job that cannot keep its results ends all the same
    assert store.checks.rewrites() == [number]
    assert check.answer()["counts"]["proved"] == 1
    assert len(changes) == 3
    assert not Path(kept_path(store.path)).exists()
    assert Check(store, Asked(rewrite=number), lambda: None).request is None


def test_a_summary_that_a_file_states() -> None:
    checks = Checks()
    checks.add(checked(3, PROVED, WRONG))
    good = checks.summary()
    assert summary_in(json.loads(json.dumps(good))) == good
    nothing = Checks().summary()
    bad: list[object] = [None, 3, {}, good | {"whole": [1]}, good | {"differing": [[None]]}]
    bad += [good | {"rewrite": ["3"]}, good | {"proved": [1, 2]}, good | {"rewrite": "3"}]
    for stated in bad:
        assert summary_in(stated) == nothing, stated


def first_pass(store: Store) -> int:
    return next(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")


def test_a_pipe_beside_a_trace_is_not_waited_for(store: Store) -> None:
    os.mkfifo(place_of(store))
    assert take_kept(store).rewrites() == []
    store.checks.add(checked(first_pass(store), PROVED))
    assert not keep(store)


def test_links_and_large_files_are_not_read(store: Store, tmp_path: Path) -> None:
    number, of = first_pass(store), identity_of(store)
    assert of is not None
    elsewhere, place = tmp_path / "elsewhere.json", place_of(store)
    assert save(elsewhere, of, Kept({number: checked(number, PROVED)}))
    assert [*load(elsewhere, of).passes] == [number]
    place.symlink_to(elsewhere)
    assert load(place, of) == Kept() and take_kept(store).rewrites() == []
    with elsewhere.open("r+b") as file:
        file.truncate(MAX_BYTES + 1)
    assert load(elsewhere, of) == Kept()


def test_results_that_are_still_taken_up_are_not_written_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread takes up what lies beside the trace, and another one keeps its own meanwhile."""
    first, second = [r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite"][:2]
    other = Store(store.path)
    other.checks.add(checked(first, PROVED))
    assert keep(other)
    other.close()
    reads, goes_on = threading.Event(), threading.Event()
    real = viz.known.beside.load

    def slow(*asked: Any) -> Any:
        found = real(*asked)
        reads.set()
        assert goes_on.wait(20)
        return found

    monkeypatch.setattr(viz.known.beside, "load", slow)
    reader = threading.Thread(target=take_kept, args=(store,))
    reader.start()
    assert reads.wait(20)
    store.checks.add(checked(second, PROVED))
    keeper = threading.Thread(target=keep, args=(store,))
    keeper.start()
    keeper.join(0.1)  # it waits for the reader; without that it has ended by now
    goes_on.set()
    reader.join()
    keeper.join()
    of = identity_of(store)
    assert of is not None and sorted(real(place_of(store), of).passes) == [first, second]


def test_of_two_that_keep_results_the_later_one_has_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = [r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite"][:2]
    begun, goes_on = threading.Event(), threading.Event()
    real = viz.known.beside.save

    def slow(*asked: Any) -> bool:
        if not begun.is_set():
            begun.set()
            assert goes_on.wait(20)
        return real(*asked)

    monkeypatch.setattr(viz.known.beside, "save", slow)
    store.checks.add(checked(first, PROVED))
    one, other = (threading.Thread(target=keep, args=(store,)) for _ in range(2))
    one.start()
    assert begun.wait(20)
    store.checks.add(checked(second, PROVED))
    other.start()
    other.join(0.1)  # it waits for the first; without that it has ended by now
    goes_on.set()
    one.join()
    other.join()
    of = identity_of(store)
    assert of is not None and sorted(load(place_of(store), of).passes) == [first, second]


def test_each_run_of_an_exported_file_has_results_of_its_own(store: Store) -> None:
    number = first_pass(store)
    other = Store(store.path)
    other.held_as = "B"
    store.checks.add(checked(number, WRONG))
    assert keep(store)
    assert take_kept(other).rewrites() == []
    other.checks.add(checked(number, PROVED))
    assert keep(other)
    again = Store(store.path)
    assert take_kept(again).summary()["differs"] == [1]
    assert place_of(other).name == f"{store.path.name}.B.check.json"
    assert identity_of(other) != identity_of(store)
    again.close()
    other.close()
