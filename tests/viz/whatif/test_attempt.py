"""Variants of a kernel: what is compiled, run, compared and kept of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import TraceError, UopvizError
from tests.viz.whatif.running import Here, kernel_named, record
from viz.views.store import Store
from viz.whatif.attempt import attempt
from viz.whatif.differences import Data
from viz.whatif.variants import tried
from viz.whatif.variants.tried import folder_of, kept_of, kept_one
from viz.whatif.variants.variant import Variant


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("attempt") / "run.viz"
    record(made)
    return made


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    made = Store(path)
    yield made
    made.close()


def attempted(store: Store, variant: Variant, **options: Any) -> Data:
    kernel = kernel_named(store, "r_")
    return attempt(store, kernel, variant, keeping=False, executor=Here(), **options)


def test_the_same_code_does_the_same(store: Store) -> None:
    made = attempted(store, Variant())
    assert made["error"] is None
    assert made["outcome"]["equal"]
    assert made["device"] == "CPU"
    assert made["differences"]["pair"]["state"] == "equal"
    assert made["differences"]["passes"] == made["differences"]["rules"] == []
    assert made["changed"] == []
    assert made["times"]["low"] <= made["times"]["ratio"] <= made["times"]["high"]
    assert made["code"] == made["oldCode"]


def test_a_rule_that_is_needed_is_named_with_the_pass(store: Store) -> None:
    made = attempted(store, Variant(skip=("reduce_in_loop",)))
    assert made["error"]["what"] == (
        "pass reduce cannot do without what was changed: left out reduce_in_loop"
    )
    assert made["outcome"] is None
    rules = {row["name"]: (row["a"], row["b"]) for row in made["differences"]["rules"]}
    assert rules["reduce_in_loop"][1] == 0 < rules["reduce_in_loop"][0]


def test_a_rule_that_is_not_needed(store: Store) -> None:
    made = attempted(store, Variant(skip=("multiply_add",)), running=False)
    assert made["error"] is None
    assert made["outcome"] is None


def test_other_opts(store: Store) -> None:
    made = attempted(store, Variant(opts=""))
    assert made["error"] is None
    assert made["outcome"]["equal"]
    assert made["opts"] == ""
    differences = made["differences"]
    assert [one["equal"] for one in differences["sources"] if one["kind"] == "llvm"] == [False]
    assert {one["state"] for one in differences["passes"]} >= {"changed", "removed"}


def test_nothing_matches_after_n(store: Store) -> None:
    made = attempted(store, Variant(stop_after=3))
    assert "stopped after 3 matches" in made["error"]["what"]
    assert made["error"]["what"].startswith("pass lower")


def test_another_target_is_run_by_the_reference(store: Store) -> None:
    made = attempted(store, Variant(target="gfx942"))
    assert made["device"] == "REFERENCE"
    assert made["outcome"]["equal"]
    assert made["times"] is None
    assert made["code"]["registers"] > 0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"opts": "SIDEWAYS(1)"}, "not an optimisation"),
        ({"stop_after": -1}, "no number of matches"),
        ({"target": "sm_9000"}, "sm_9000"),
    ],
)
def test_what_cannot_be_asked_for(store: Store, data: Data, said: str) -> None:
    with pytest.raises(UopvizError, match=said):
        attempted(store, Variant.from_data(data))


def test_data_that_may_be_anything() -> None:
    assert Variant.from_data({"skip": 3, "inside": 4, "target": None}) == Variant()
    one = Variant(("a", "b"), 4, "simplify#2", "UPCAST(0, 4)", "sm_90")
    assert Variant.from_data(json.loads(json.dumps(one.data()))) == one
    policy = one.policy
    assert policy is not None
    assert (policy.rewrite, policy.nth, policy.limit) == ("simplify", 1, 4)
    assert policy.inside == {"simplify"}


def test_a_compiler_error_of_opts_is_said(store: Store) -> None:
    made = attempted(store, Variant(opts="UPCAST(0, 7)"))
    assert made["error"] is not None
    assert made["outcome"] is None


def test_variants_are_kept(store: Store) -> None:
    kernel = kernel_named(store, "r_")
    variant = Variant(skip=("multiply_add",))
    made = attempt(store, kernel, variant, running=False, executor=Here())
    (one,) = kept_of(store.path)
    assert one.path == Path(made["kept"]["trace"])
    assert one.kernel == kernel
    assert one.found["variant"]["skip"] == ["multiply_add"]
    opened = Store(one.path)
    assert len(opened.kernels()) == 1
    opened.close()


def test_files_beside_the_trace_are_believed_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "run.viz"
    folder = folder_of(trace)
    folder.mkdir()
    for name, text in (
        ("1.json", "[" * 100_000), ("2.json", "3"), ("3.json", '{"found": 4}'),
        ("4.json", '{"found": {}, "kernel": "x", "name": {}}'), ("x.json", "{}"),
    ):  # fmt: skip
        (folder / name).write_text(text)
    for number in range(1, 6):
        (folder / f"{number}.viz").write_bytes(b"")
    (folder / "5.json").symlink_to("4.json")
    (folder / "6.json").write_text('{"found": {}}')  # without a trace
    (folder / "7.json").write_text('{"found": {}}')
    (folder / "7.viz").symlink_to(tmp_path / "elsewhere.viz")
    (tmp_path / "elsewhere.viz").write_bytes(b"")
    (one,) = kept_of(trace)
    assert (one.number, one.kernel, one.name, one.found) == (4, 0, "", {})
    assert kept_one(trace, 4) == one
    assert [kept_one(trace, number) for number in (1, 5, 6, 7, 8)] == [None] * 5


def test_a_folder_that_is_a_link_is_no_folder(tmp_path: Path) -> None:
    mine, trace = tmp_path / "mine.viz", tmp_path / "run.viz"
    tried.keep(mine, 1, "k", {}, b"")
    folder_of(trace).symlink_to(folder_of(mine))
    assert kept_of(trace) == [] and kept_one(trace, 1) is None
    with pytest.raises(TraceError, match="their folder is a link"):
        tried.keep(trace, 1, "k", {}, b"")
    assert [one.number for one in kept_of(mine)] == [1]


def test_no_link_is_written_through(tmp_path: Path) -> None:
    trace = tmp_path / "run.viz"
    folder_of(trace).mkdir()
    (folder_of(trace) / "1.json").symlink_to(tmp_path / "elsewhere.json")
    assert tried.keep(trace, 1, "k", {}, b"").number == 2
    assert not (tmp_path / "elsewhere.json").exists()
    assert not (folder_of(trace) / "1.viz").exists()  # no trace without its file is left behind


def test_what_is_read_together_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "run.viz"
    for _ in range(3):
        tried.keep(trace, 1, "k", {"text": "x" * 500}, b"")
    monkeypatch.setattr(tried, "MAX_TOTAL", 1200)
    assert [one.number for one in kept_of(trace)] == [2, 3]
    assert kept_one(trace, 1) is not None


def test_each_run_of_an_exported_file_has_a_folder(tmp_path: Path) -> None:
    trace, file = tmp_path / "bug.viz", tmp_path / "bug.html"
    folders = [folder_of(trace), folder_of(file), folder_of(file, "B")]
    assert [one.name for one in folders] == ["bug.whatif", "bug.html.whatif", "bug.html.B.whatif"]
    tried.keep(file, 1, "k", {}, b"", held_as="B")
    assert kept_of(file) == [] == kept_of(trace)
    assert [one.path.parent for one in kept_of(file, held_as="B")] == [folders[2]]
    assert kept_one(file, 1) is None and kept_one(file, 1, held_as="B") is not None


def test_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "run.viz"
    folder_of(trace).write_text("a file")
    with pytest.raises(TraceError, match="cannot be kept beside the trace"):
        tried.keep(trace, 1, "k", {}, b"")
    folder_of(trace).unlink()
    monkeypatch.setattr(tried, "MOST", 1)
    assert tried.keep(trace, 1, "k", {}, b"").number == 1
    with pytest.raises(TraceError, match="1 variants of this trace are kept already"):
        tried.keep(trace, 1, "k", {}, b"")
