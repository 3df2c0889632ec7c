"""What if, over HTTP: variants as jobs, kept and opened; replays; scripts; changed rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.docs.of_viz import MESSAGES
from tests.docs.shapes import Shapes, declarations, needed
from tests.viz.server.client import TokenClient, ended
from tests.viz.whatif.running import kernel_named, record
from viz.coreserver import whatif
from viz.coreserver.actions import CoreActions
from viz.jobs import jobs
from viz.jobs.jobs import Kind
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share.html import export_html
from viz.share.reopened import open_run
from viz.views.store import Store
from viz.whatif import changed
from viz.whatif.subject import subject_of
from viz.whatif.variants.tried import folder_of, keep
from viz.work import kinds
from viz.write.writer import TraceWriter

DECLARED = declarations(
    "\n".join(path.read_text("utf-8") for path in sorted(MESSAGES.rglob("*.ts")))
)
NAMES = ("VariantRow", "VariantText", "OpenedVariant", "Replayed", "ChangedRules")
SHAPES = Shapes({name: DECLARED[name] for name in needed(NAMES, DECLARED)})


class Served:
    """A server of a run with two kernels."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = Store(path)
        self.app = create_app(self.store, Guard("secret", 4711))
        self.app.test_client_class = TokenClient
        self.client: FlaskClient = self.app.test_client()
        self.kernel = kernel_named(self.store, "r_")

    def get(self, path: str) -> Any:
        return self.client.get(f"/api/A/{path}").get_json()

    def post(self, path: str, body: Any = None) -> Any:
        return self.client.post(f"/api/A/{path}", json={} if body is None else body).get_json()

    def job(self, path: str, body: Any = None) -> dict[str, Any]:
        """A job, once it has ended."""
        return ended(self.client, self.post(path, body)["job"])

    def variant(self, **body: Any) -> dict[str, Any]:
        return self.job(f"kernels/{self.kernel}/variants", body)

    def close(self) -> None:
        self.app.extensions["uopviz"].close()


@pytest.fixture
def served(tmp_path: Path, dist: Path) -> Iterator[Served]:
    record(tmp_path / "run.viz")
    made = Served(tmp_path / "run.viz")
    yield made
    made.close()


def test_a_variant_is_tried_kept_opened_and_removed(served: Served) -> None:
    state = served.variant(opts="", skip=[], inside="", target="", stop_after=None)
    assert state["state"] == "done", state
    made = state["result"]
    assert made["outcome"]["equal"]
    assert made["differences"]["passes"]
    assert made["kept"]["number"] == 1
    (row,) = served.get(f"kernels/{served.kernel}/variants")
    assert SHAPES.problems(row, "VariantRow") == []
    assert row["variant"]["said"] == "no opts"
    assert row["times"] == made["times"]
    other = kernel_named(served.store, "E_")
    assert served.get(f"kernels/{other}/variants") == []
    assert served.get("variants") == [row]
    opened = served.post("variants/1/open")
    assert SHAPES.problems(opened, "OpenedVariant") == []
    assert opened["run"] == "B"
    assert served.post("variants/1/open") == opened
    compared = served.client.get("/api/compare/A/B").get_json()
    assert any(scope["state"] == "changed" for scope in compared["scopes"])
    script = served.client.get("/api/A/variants/1/script")
    assert script.content_type == "text/plain; charset=utf-8"
    assert "VARIANT = {" in script.text
    assert served.client.delete("/api/A/variants/1").status_code == 200
    assert served.get("variants") == []
    assert [run["name"] for run in served.client.get("/api/runs").get_json()] == ["A"]
    assert not (folder_of(served.path) / "1.viz").exists()


def test_a_pass_that_needs_the_rule_names_it_in_the_row(served: Served) -> None:
    state = served.variant(skip=["reduce_in_loop"])
    assert state["state"] == "done", state
    (row,) = served.get("variants")
    assert "reduce cannot do without what was changed" in row["error"]["what"]
    smaller = served.job("variants/1/minimise")
    assert smaller["state"] == "done", smaller
    assert "made smaller" in smaller["result"]["text"]
    assert "nodes before" in smaller["result"]["said"]


def test_an_edited_text_is_kept_as_a_row(served: Served) -> None:
    subject = subject_of(served.store, served.kernel)
    own = subject.text
    assert own is not None
    text = {"kind": own[0], "text": own[1].replace("float 0.0", "float 5.0", 1), "device": "CPU"}
    state = served.variant(text=text)
    assert state["state"] == "done", state
    (row,) = served.get(f"kernels/{served.kernel}/variants")
    assert SHAPES.problems(row, "VariantRow") == []
    assert row["variant"]["said"] == "edited LLVM IR (+1 -1)"
    assert row["variant"]["edited"] == "llvm" and row["outcome"]["equal"] is False
    assert row["times"] == state["result"]["times"] and row["code"]["instructions"] > 0
    again = served.get("variants/1/text")
    assert SHAPES.problems(again, "VariantText") == []
    assert again == {**text, "target": subject.target, "opts": None, "skip": []}
    assert "TEXT = (" in served.client.get("/api/A/variants/1/script").text
    said = served.client.post("/api/A/variants/1/minimise", json={})
    assert said.status_code == 400
    assert "a smaller kernel would need another text" in said.get_json()["error"]["what"]
    opened = served.post("variants/1/open")
    compared = served.client.get(f"/api/compare/A/{opened['run']}").get_json()
    assert compared["runs"]["b"]["edited"] is True
    served.variant(opts="")
    said = served.client.get("/api/A/variants/2/text")
    assert "variant 2 has no edited text" in said.get_json()["error"]["what"]


def test_a_replay_takes_the_place_of_the_one_before(served: Served) -> None:
    one = served.job(f"kernels/{served.kernel}/replay")["result"]
    assert one["equal"] and one["run"] == "B"
    assert SHAPES.problems(one, "Replayed") == []
    every = served.job("replay")["result"]
    assert every["run"] == "B"
    assert len(every["kernels"]) == 2
    compared = served.client.get("/api/compare/A/B").get_json()
    states = {scope["kind"]: scope["state"] for scope in compared["scopes"]}
    assert states["kernel"] == "equal"


def left(served: Served) -> list[Path]:
    """What lies in the folder of the server."""
    folder: Path | None = vars(served.app.extensions["uopviz"].part(CoreActions).whatif)["_folder"]
    return [] if folder is None else sorted(folder.iterdir())


def test_nothing_is_left_of_what_did_not_end_well(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert served.job("replay", {"seconds": 0.01})["state"] == "error"
    job = served.post("replay")["job"]
    served.client.delete(f"/api/jobs/{job}")
    assert "cancelled" in ended(served.client, job)["error"]["what"]
    path = f"kernels/{served.kernel}/variants"
    assert "sm_1" in served.post(path, {"target": "sm_1"})["error"]["what"]
    monkeypatch.setattr(jobs, "MAX_BEGUN", 0)
    for asked in ("replay", path):
        assert "are running or waiting" in served.post(asked)["error"]["what"]
    assert left(served) == []
    monkeypatch.undo()
    assert served.job("replay")["state"] == "done"
    assert len(left(served)) == 1


def test_a_replay_of_a_run_that_was_closed_is_not_opened(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = served.app.extensions["uopviz"]
    real = whatif.replay_rows

    def closed_meanwhile(*asked: Any) -> Any:
        state.machine.forget(state.first.serial)
        return real(*asked)

    monkeypatch.setattr(whatif, "replay_rows", closed_meanwhile)
    made = served.job("replay")
    assert "was closed meanwhile" in made["error"]["what"]
    assert left(served) == [] and len(state.runs()) == 1


def test_another_trace_has_changed_rules_of_its_own(served: Served, tmp_path: Path) -> None:
    """The run goes on with another trace while it is asked."""
    state = served.app.extensions["uopviz"]
    record(tmp_path / "other.viz")
    lock, first = vars(state.part(CoreActions).whatif)["_lock"], [True]

    class Late:
        """A lock for which another request comes first."""

        def __enter__(self) -> None:
            if first.pop() if first else False:
                state.first.go_on(tmp_path / "other.viz")
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    vars(state.part(CoreActions).whatif)["_lock"] = Late()
    assert served.get("changed")["changed"] == []
    assert vars(state.part(CoreActions).whatif)["_watches"] == {}  # none for a trace that is closed
    served.get("changed")
    assert [*vars(state.part(CoreActions).whatif)["_watches"]] == [state.first.serial]


def test_what_cannot_be_kept_beside_the_trace_is_kept_by_the_server(served: Served) -> None:
    folder_of(served.path).write_text("a file where the folder would be")
    made = served.variant(opts="")["result"]
    assert "kept until the server ends" in made["notes"][0]
    path = Path(made["kept"]["trace"])
    assert path.exists() and path.parent != folder_of(served.path)
    (row,) = served.get("variants")
    assert row["number"] == 1
    assert served.post("variants/1/open")["run"] == "B"
    served.close()
    assert not path.exists()


def test_a_rule_that_hangs_is_ended(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    state = served.variant(seconds=0.01)
    assert state["state"] == "error"
    assert "took longer than" in state["error"]["what"]
    assert served.get("variants") == []
    job = served.post(f"kernels/{served.kernel}/variants", {})["job"]
    served.client.delete(f"/api/jobs/{job}")
    assert "cancelled" in ended(served.client, job)["error"]["what"]
    monkeypatch.setitem(kinds.KINDS, "variant", Kind(1 << 20, None, "viz.whatif.worker"))
    assert served.variant()["state"] == "error"


def test_changed_rules_are_read_again_only_where_a_file_has_changed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = served.get("changed")
    assert SHAPES.problems(first, "ChangedRules") == []
    assert first["changed"] == []

    def never(store: Store) -> list[Any]:
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(changed, "changed_rules", never)
        assert served.get("changed") == first

    def later(path: Path) -> tuple[int, int, int]:
        return 0, 0, 1

    monkeypatch.setattr(changed, "_stat", later)
    assert served.get("changed")["state"] != first["state"]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"skip": "x"}, "skip is not a list"),
        ({"skip": [3]}, "skip is not a list"),
        ({"skip": ["no_such_rule"]}, "no rule 'no_such_rule'"),
        ({"skip": ["a"] * 101}, "more than 100"),
        ({"stop_after": -1}, "stop_after"),
        ({"stop_after": True}, "stop_after"),
        ({"inside": 3}, "inside"),
        ({"opts": 3}, "opts"),
        ({"opts": "NO_SUCH(1)"}, "NO_SUCH"),
        ({"target": "sm_1"}, "sm_1"),
        ({"seconds": "x"}, "seconds"),
        ({"seconds": 0}, "seconds"),
        ({"text": "x"}, "no edited text"),
        ({"text": {"kind": "sh", "text": "x", "device": "CPU"}}, "no device runs"),
        ({"text": {"kind": "llvm", "text": "x", "device": "CPU"}, "stop_after": 1}, "of a whole"),
    ],
)
def test_requests_that_are_wrong(served: Served, body: dict[str, Any], what: str) -> None:
    said = served.client.post(f"/api/A/kernels/{served.kernel}/variants", json=body)
    assert said.status_code == 400
    assert what in said.get_json()["error"]["what"]


def test_what_is_not_there(served: Served) -> None:
    client = served.client
    for path in ("variants/9/open", "variants/9/minimise"):
        assert client.post(f"/api/A/{path}", json={}).status_code == 404
    assert client.get("/api/A/variants/9/script").status_code == 404
    assert client.get("/api/A/variants/9/text").status_code == 404
    assert client.delete("/api/A/variants/9").status_code == 404
    assert client.post("/api/A/kernels/99999/variants", json={}).status_code == 400


def test_what_lies_beside_a_trace_is_believed_nothing(served: Served) -> None:
    for found in (
        {"variant": 3, "times": [], "error": {"what": 5}, "changed": 3},
        {"times": {"ratio": float("nan"), "low": 1, "high": 1, "old": 1, "new": True}},
        {"times": dict.fromkeys(("ratio", "low", "high", "old", "new"), 10**400)},
        {"code": {"registers": -1, "lines": "x"}, "outcome": {"equal": 1}, "notes": [{}]},
        {"variant": {"text": {"kind": ["x"], "text": 3}, "said": {}}},
        {"variant": {"text": {"kind": "x" * 9999, "text": "x", "device": "CPU"}}},
    ):
        keep(served.path, served.kernel, "k", found, b"no trace")
    rows = served.get("variants")
    assert [p for row in rows for p in SHAPES.problems(row, "VariantRow")] == []
    assert [row["times"] for row in rows] == [None] * 6
    for path in ("1/script", "1/open", "5/text", "5/script", "6/text", "6/script"):
        path = f"variants/{path}"
        method = served.client.post if path.endswith("open") else served.client.get
        said = method(f"/api/A/{path}", json={})
        assert said.status_code == 400
        assert said.get_json()["error"]["what"]


def test_foreign_runs_say_what_they_need(trace: Path, tmp_path: Path, dist: Path) -> None:
    foreign, file = tmp_path / "foreign.viz", tmp_path / "run.html"
    with TraceWriter(foreign, {"compiler": "mycc"}) as t:
        t.context_begin("k", "kernel")
    with_trace = Store(trace)
    held = r'<script type="application/octet-stream".*?</script>'
    file.write_text(re.sub(held, "", export_html(with_trace).html))
    with_trace.close()
    for store, what in (
        (Store(foreign), "of another compiler"),
        (open_run(file), "this exported file holds no trace"),
    ):
        app = create_app(store, Guard("secret", 4711))
        app.test_client_class = TokenClient
        client = app.test_client()
        for path in ("kernels/1/variants", "replay", "kernels/1/replay"):
            said = client.post(f"/api/A/{path}", json={})
            assert said.status_code == 400, said.text
            words = said.get_json()["error"]
            assert what in words["what"], path
            assert words["hint"]
        app.extensions["uopviz"].close()


def test_kernels_compiled_on_request_have_rules_of_their_own(served: Served) -> None:
    files = len(changed.own_rules(served.store))
    job = served.post(f"kernels/{served.kernel}/compile", {"target": "sm_90"})["job"]
    assert ended(served.client, job)["state"] == "done"
    assert len(served.store.rule_records()) > files
    assert len(changed.own_rules(served.store)) == files
