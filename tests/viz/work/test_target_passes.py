"""A kernel compiled on request is a part of the run: its passes, rules and history. No figure of
what the program did is changed by it."""

from __future__ import annotations

import json
import shutil
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from flask.testing import FlaskClient

import viz
from core.errors import ServerError, TraceError
from core.tensor import Tensor
from tests.viz.server.client import TokenClient
from viz.check.message import message
from viz.cli import main
from viz.compare.comparison import Comparison
from viz.corecommand.check import lines
from viz.jobs.compiled import Wanted, compiled_for
from viz.jobs.jobs import Jobs
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share.copy import write_trace
from viz.views.kernels import compiled as limits
from viz.views.kernels.compiled import FIRST
from viz.views.nodes.history import node_history
from viz.views.runs.process import STRIDE
from viz.views.store import Store
from viz.why.answers import RULES_AT
from viz.work import worker
from viz.work.compiling import Compiler, graph_of
from viz.work.kinds import KINDS
from viz.work.targets import compiled as targets
from viz.write.writer import TraceWriter

Row = dict[str, Any]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of two kernels."""
    path = tmp_path_factory.mktemp("targets") / "run.viz"
    with viz.record(path):
        x = Tensor(np.arange(64, dtype=np.float32).reshape(8, 8))
        ((x @ x).relu() + 1).realize()
        (x.exp() * 3).sum().realize()
    return path


BOTH: Final = Wanted(passes=["sm_90", "gfx1100"])


@pytest.fixture(scope="module")
def compiled(recorded: Path) -> Iterator[tuple[Store, int]]:
    """The run, and its first kernel, which was compiled for two targets."""
    store = Store(recorded)
    kernel = store.kernels()[0]
    with compiled_for(store, [kernel], BOTH, lambda *_: None) as failed:
        assert failed == []
        yield store, kernel
        store.close()


def rows_of(store: Store, target: str) -> tuple[Row, list[Row]]:
    """The row of what was compiled for a target, and those of its passes."""
    rows = store.tree()["rows"]
    (root,) = [row for row in rows if row["target"] == target]
    inside = {root["row"]}
    found: list[Row] = []
    for row in rows:
        if row["parent"] in inside:
            inside.add(row["row"])
            found.append(row)
    return root, found


def test_a_check_says_how_many_passes_it_leaves_out(compiled: tuple[Store, int]) -> None:
    store, _ = compiled
    found = [row for target in ("sm_90", "gfx1100") for row in rows_of(store, target)[1]]
    left_out = message(store, [])["on_request"]
    assert left_out == sum(row["kind"] == "rewrite" for row in found) > 0
    assert any(f"{left_out} passes" in str(line) for line in lines(message(store, [])))


@pytest.mark.parametrize("target", ["sm_90", "gfx1100"])
def test_the_passes_lie_below_the_kernel(compiled: tuple[Store, int], target: str) -> None:
    store, kernel = compiled
    root, passes = rows_of(store, target)
    above = store.tree()["rows"][root["parent"]]
    assert above["id"] == kernel and above["label"] == "kernel"
    assert (root["name"], root["label"]) == (f"Passes for {target}", "kernel")
    names = [row["name"] for row in passes]
    assert {"lower", "expand", "gpudims", "loadstore", "devectorize"} <= {*names}
    assert root["steps"] == sum(row["steps"] for row in passes) > 50
    for row in passes:
        bundle = store.bundle(row["id"])
        assert bundle is not None and len(bundle["steps"]) == row["steps"], row["name"]
        for step in bundle["steps"]:
            assert store.rule_name(step["rule"]) != "?"


def test_the_figures_of_the_run_are_those_of_the_program(
    compiled: tuple[Store, int], recorded: Path
) -> None:
    store, _ = compiled
    alone = Store(recorded)
    both = store.run(), alone.run()
    assert len(both[0]["compilations"]) == 2 and both[1]["compilations"] == []
    assert both[0] | {"compilations": []} == both[1]
    assert store.timeline() == alone.timeline()
    assert store.kernels() == alone.kernels()
    mine, theirs = store.rule_totals(), alone.rule_totals()
    assert mine == theirs
    counts = {rule["id"]: rule for rule in store.rules()}
    for rule in alone.rules():
        assert counts[rule["id"]]["matches"] == rule["matches"], rule["name"]
    rows = {row["id"]: row for row in alone.tree()["rows"]}
    for row in store.tree()["rows"]:
        if row["id"] in rows:
            assert row == rows[row["id"]], "what is above counts nothing of it"
    alone.close()


def test_rules_at_every_node_of_a_pass(compiled: tuple[Store, int]) -> None:
    """Those of the kernel's AST too, which have the numbers that they have in the run."""
    store, _ = compiled
    _, rows = rows_of(store, "sm_90")
    first = next(row for row in rows if row["kind"] == "rewrite" and row["steps"])
    bundle = store.bundle(first["id"])
    assert bundle is not None
    numbers = {bundle["nodes"]["id"][step["before"]] for step in bundle["steps"]}
    assert {number // STRIDE for number in numbers} == {0, first["id"] // STRIDE}
    for number in numbers:
        assert store.ask(RULES_AT, first["id"], number)["rows"]


def test_rules_are_those_of_the_run(compiled: tuple[Store, int]) -> None:
    store, _ = compiled
    keys = [(r["name"], r["file"], r["line"], r["source"]) for r in store.rules()]
    assert len(keys) == len(set(keys)), "the same rule is one"
    _, passes = rows_of(store, "sm_90")
    used = {step["rule"] for row in passes for step in (store.bundle(row["id"]) or {})["steps"]}
    assert any(rule < FIRST * STRIDE for rule in used)


def test_the_nodes_of_the_ast_are_those_of_the_run(compiled: tuple[Store, int]) -> None:
    store, kernel = compiled
    found = store.kernel_graph(kernel)
    assert found is not None
    _, passes = rows_of(store, "sm_90")
    lower = store.bundle(passes[0]["id"]) or {}
    first = {lower["nodes"]["id"][node] for node in lower["initial"]["node"]}
    assert first == set(found[1])
    origins = store.origins(passes[0]["id"] // STRIDE * STRIDE + 1) or {}
    assert {n for places in origins["origin"] for n in places} <= set(found[1])


@pytest.mark.parametrize("target", ["sm_90", "gfx1100"])
def test_lines_lead_over_the_targets_passes_to_the_users_line(
    compiled: tuple[Store, int], target: str
) -> None:
    store, kernel = compiled
    root, passes = rows_of(store, target)
    artifacts = (store.kernel(kernel) or {})["artifacts"]
    mine = [a for a in artifacts if a["passes"] == root["id"]]
    assert {a["target"] for a in mine} == {target} and len(mine) >= 2
    assert {a["passes"] for a in artifacts if a["target"] == "x86-64"} == {None}
    last = store.bundle([row for row in passes if row["steps"]][-1]["id"]) or {}
    final = set(last["nodes"]["id"])
    for artifact in mine:
        linked = [line for line in artifact["lines"] if line]
        assert len(linked) > 5, artifact["kind"]
        assert {n for line in linked for n in line} & final, artifact["kind"]
    node = next(n for line in mine[0]["lines"] for n in line if n in final)
    history = node_history(store, node, last["rewrite"], 60)
    text = json.dumps(history)
    assert __file__.rsplit("/", 1)[1] in text, "the user's line"
    scopes = {store.scope_of(r) for r in _rewrites(history)}
    assert root["id"] in scopes, "over the target's passes"
    assert len(scopes) > 1, "and the schedule"


def _rewrites(history: Any) -> set[int]:
    return {row["rewrite"] for row in history["rows"]}


def test_the_history_of_the_ast_goes_on_in_every_target(compiled: tuple[Store, int]) -> None:
    store, kernel = compiled
    start = (store.lineage(kernel) or {})["from"]
    schedule = store.lineage(start["scope"]) or {}
    known = {k["scope"] for k in schedule["kernels"]}
    roots = {rows_of(store, target)[0]["id"] for target in ("sm_90", "gfx1100")}
    assert {kernel, *roots} <= known
    for root in roots:
        assert (store.lineage(root) or {})["from"] == start


def test_search_finds_them_after_the_programs_own(compiled: tuple[Store, int]) -> None:
    store, _ = compiled
    hits = [h for h in store.search("gpudims")["hits"] if h["kind"] == "pass"]
    rows = store.tree()["rows"]
    assert {rows[rows[h["row"]]["parent"]]["target"] for h in hits} == {"sm_90", "gfx1100"}
    lowered = [rows[h["row"]]["id"] for h in store.search("lower")["hits"] if h["kind"] == "pass"]
    assert lowered == sorted(lowered)


@pytest.mark.parametrize("query", ["lower", "MUL(x, CONST 8)", "relu"])
def test_what_was_compiled_is_a_group_of_its_own(
    recorded: Path, compiled: tuple[Store, int], tmp_path: Path, query: str
) -> None:
    """Hits of the program, and how many there are, do not depend on what was compiled."""
    alone = Store(Path(shutil.copyfile(recorded, tmp_path / "alone.viz")))
    own, now = alone.search(query), compiled[0].search(query)
    others = now["totals"].pop("compiled")
    assert now["totals"] == own["totals"]
    assert now["total"] == own["total"] + others and others > 0
    assert now["hits"][: len(own["hits"])] == own["hits"]
    alone.close()


def wait(jobs: Jobs, number: int) -> Any:
    for _ in range(1200):
        job = jobs.get(number)
        assert job is not None
        if job.state != "running":
            return job
        time.sleep(0.05)
    raise AssertionError("the job did not end")


def test_what_is_recorded_is_the_users_alone_and_goes(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store, jobs = Store(recorded), Jobs(KINDS)
    kernel = store.kernels()[0]
    with Compiler(jobs) as compiler:
        graph, _ = graph_of(store, kernel)
        job = compiler.start(store, kernel, "sm_90", graph)
        assert compiler.start(store, kernel, "sm_90", graph) == job, "one for all who ask"
        assert wait(jobs, job).state == "done"
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [p.name for p in folder.rglob("*.viz")] == ["passes.viz"]
        again = wait(jobs, compiler.start(store, kernel, "sm_90", graph))
        assert again.state == "done"
        assert len(store.compilations) == 1, "the later one takes the place of the earlier one"
        assert len([*folder.rglob("*.viz")]) == 1
    assert [*tmp_path.iterdir()] == []
    store.close()


def test_few_are_kept_and_the_run_says_so(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KEPT", 1)
    store, jobs = Store(recorded), Jobs(KINDS)
    first, second = store.kernels()[:2]
    before = len(store.tree()["rows"])
    with Compiler(jobs) as compiler:
        for kernel in (first, second, first):
            graph, _ = graph_of(store, kernel)
            assert wait(jobs, compiler.start(store, kernel, "sm_90", graph)).state == "done"
            assert [one.kernel for one in store.compilations] == [kernel]
            rows = store.tree()["rows"]
            gone = {row["row"] for row in rows if row["status"] == "gone"}
            assert not any(row["parent"] in gone for row in rows)
        assert len(store.tree()["rows"]) < before + 80, "rows are used again"
        assert store.compiled(first, "sm_90") and not store.compiled(second, "sm_90")
        assert any("are not kept any more" in p["what"] for p in store.run()["problems"])
    store.close()


def test_answers_that_read_one_that_goes_are_finished(recorded: Path) -> None:
    store, jobs = Store(recorded), Jobs(KINDS)
    kernel = store.kernels()[0]
    graph, _ = graph_of(store, kernel)
    wrong: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                for one in store.compilations:
                    store.lineage(one.context)
                    store.kernel(kernel)
        except BaseException as error:
            wrong.append(error)

    reader = threading.Thread(target=read)
    with Compiler(jobs) as compiler:
        reader.start()
        for _ in range(3):
            assert wait(jobs, compiler.start(store, kernel, "sm_90", graph)).state == "done"
        done.set()
        reader.join()
    assert wrong == []
    store.close()


def test_a_failure_leaves_the_passes_up_to_it(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(recorded)
    kernel = store.kernels()[0]
    graph, _ = graph_of(store, kernel)
    request = {
        "graph": graph,
        "target": "sm_90",
        "trace": str(tmp_path / "passes.viz"),
        "run": store.files[0].meta["run"],
        "kernel": kernel,
    }

    def fail(*_: object) -> None:
        raise ServerError("it was to fail", "here", "do so")

    monkeypatch.setattr("core.compile.verify_program", fail)
    said = worker.compile_job(request)
    assert said == {"error": {"what": "it was to fail", "where": "here", "hint": "do so"}}
    store.attach(tmp_path / "passes.viz")
    root, passes = rows_of(store, "sm_90")
    assert root["status"] == "error" and len(passes) > 10
    store.close()


def test_one_that_is_refused_costs_no_other_its_passes(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(recorded)
    kernels = store.kernels()
    assert len(kernels) > 1
    known = graph_of

    def damaged(run: Store, kernel: int) -> tuple[dict[str, Any], list[int]]:
        graph, numbers = known(run, kernel)
        return (graph | {"nodes": [["NO SUCH OP"]]} if kernel == kernels[1] else graph), numbers

    monkeypatch.setattr(targets, "graph_of", damaged)
    monkeypatch.setattr(targets, "_requests", lambda tasks, _: [tuple(range(len(tasks)))])
    with compiled_for(store, kernels, Wanted(passes=("sm_90",)), lambda *_: None) as said:
        assert len(said) == 1 and "sm_90" in said[0]
        for kernel in kernels:
            kinds = [a["kind"] for a in (store.kernel(kernel) or {})["artifacts"]]
            assert ("cuda" in kinds) == (kernel != kernels[1])
    store.close()


def test_passes_that_are_too_large_leave_the_texts(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(recorded)
    kernel = store.kernels()[0]
    graph, _ = graph_of(store, kernel)
    request = {
        "graph": graph,
        "target": "sm_90",
        "trace": str(tmp_path / "passes.viz"),
        "run": store.files[0].meta["run"],
        "kernel": kernel,
    }
    monkeypatch.setattr(worker, "limit_files", lambda _: None)
    monkeypatch.setattr(worker.PassRecorder, "flush", lambda _: None)
    once: list[int] = []

    def full(self: Any, *given: object, **named: object) -> None:
        if not once:
            once.append(1)
            self._stop(TraceError("the trace cannot be written: the file is too large"))

    monkeypatch.setattr(worker.PassRecorder, "kernel", full)
    assert worker.compile_job(request) == {"error": None}
    monkeypatch.undo()
    store.attach(tmp_path / "passes.viz")
    _, passes = rows_of(store, "sm_90")
    assert passes == []
    made = (store.kernel(kernel) or {})["artifacts"]
    assert {"ptx", "cuda"} <= {a["kind"] for a in made if a["target"] == "sm_90"}
    assert any("take more than 64 MB" in p["what"] for p in store.run()["problems"])
    store.close()


@pytest.mark.parametrize(
    ("meta", "kind"),
    [
        ({}, "kernel"),
        ({"passes_for": 7}, "kernel"),
        ({"passes_for": {"kernel": "1", "target": "sm_90"}}, "kernel"),
        ({"passes_for": {"kernel": 10**30, "target": "sm_90"}}, "kernel"),
        ({"passes_for": {"kernel": "first", "target": []}}, "kernel"),
        ({"passes_for": {"kernel": "first", "target": "sm_90"}}, "group"),
        ({"passes_for": {"kernel": "first", "target": "sm_90"}, "run": "other"}, "kernel"),
    ],
)
def test_a_file_that_claims_to_be_one(
    recorded: Path, tmp_path: Path, meta: dict[str, Any], kind: str
) -> None:
    store = Store(recorded)
    if isinstance(passes := meta.get("passes_for"), dict) and passes["kernel"] == "first":
        meta = meta | {"passes_for": passes | {"kernel": store.kernels()[0]}}
    path = tmp_path / "made.viz"
    with TraceWriter(path, {"run": store.files[0].meta["run"]} | meta) as t:
        t.context_end(t.context_begin("x", kind))
    rows = store.tree()["rows"]
    with pytest.raises(TraceError):
        store.attach(path)
    assert store.tree()["rows"] == rows and store.compilations == []
    store.close()


def test_one_that_lies_believes_itself_alone(recorded: Path, tmp_path: Path) -> None:
    """A graph that is not the kernel's gets none of the kernel's numbers."""
    store = Store(recorded)
    kernel = store.kernels()[0]
    info = {
        "run": store.files[0].meta["run"],
        "passes_for": {"kernel": kernel, "target": "sm_90"},
    }
    path = tmp_path / "made.viz"
    with TraceWriter(path, info) as t:
        root = t.context_begin("x", "kernel")
        leaf = t.node("CONST", "float")
        top = t.node("SINK", "void", [leaf, leaf])
        t.kernel(root, "x", ast=top)
        step = t.rewrite_begin("y", top, context=root)
        t.rewrite_end(step, top)
        outside = t.rewrite_begin("z", top)
        t.rewrite_end(outside, top)
        t.context_end(root)
    number = store.attach(path)
    one = store.compilations[0]
    assert one.node(leaf) >= FIRST * STRIDE
    row, below = rows_of(store, "sm_90")
    assert row["id"] == number and [r["name"] for r in below] == ["y", "z"]
    bundle = store.bundle(one.id(step)) or {}
    assert len(set(bundle["nodes"]["id"])) == 2
    store.close()


def test_copies_keep_them_with_their_numbers(compiled: tuple[Store, int], tmp_path: Path) -> None:
    store, _ = compiled
    other = store.kernels()[1]
    write_trace(store, tmp_path / "all.viz")
    write_trace(store, tmp_path / "without.viz", kernels=[other])
    again, without = Store(tmp_path / "all.viz"), Store(tmp_path / "without.viz")
    assert [(c.number, c.target) for c in again.compilations] == [
        (c.number, c.target) for c in store.compilations
    ]
    assert without.compilations == []
    for row in store.tree()["rows"]:
        if row["kind"] == "rewrite":
            assert again.bundle(row["id"]) == store.bundle(row["id"]), row["name"]
    again.close()
    without.close()


def test_another_compilers_kernels_are_not_compiled(tmp_path: Path) -> None:
    path = tmp_path / "foreign.viz"
    with TraceWriter(path, {"compiler": "other", "run": "ab"}) as t:
        kernel = t.context_begin("k", "kernel")
        node = t.node("SINK")
        t.kernel(kernel, "k", ast=node)
        t.context_end(kernel)
    store = Store(path)
    with (
        pytest.raises(ServerError, match="another compiler"),
        compiled_for(store, store.kernels(), Wanted(passes=["sm_90"]), lambda *_: None),
    ):
        raise AssertionError("it was compiled")
    store.close()


def test_the_command_compiles_and_includes(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.viz"
    assert main(["export", str(recorded), "--targets", "sm_90,gfx1100", "-o", str(file)]) == 0
    store = Store(file)
    made = {(one.kernel, one.target) for one in store.compilations}
    assert made == {(k, t) for k in store.kernels() for t in ("sm_90", "gfx1100")}
    store.close()
    assert main(["show", str(file), "--tree"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(i for i, line in enumerate(lines) if "Passes for sm_90" in line)
    assert "lower" in lines[at + 1]
    assert main(["export", str(recorded), "--targets", "sm_1", "-o", str(file)]) == 2
    assert "there is no target 'sm_1'" in capsys.readouterr().err


@pytest.fixture
def client(recorded: Path) -> Iterator[FlaskClient]:
    app = create_app(Store(recorded), Guard("secret", 4711))
    app.test_client_class = TokenClient
    yield app.test_client()
    app.extensions["uopviz"].close()


def test_the_server_attaches_what_it_compiles(client: FlaskClient) -> None:
    rows = client.get("/api/A/tree").get_json()["rows"]
    kernel = next(row["id"] for row in rows if row["label"] == "kernel")
    path = f"/api/A/kernels/{kernel}/compile"
    job = client.post(path, json={"target": "gfx1100"}).get_json()["job"]
    for _ in range(1200):
        state = client.get(f"/api/jobs/{job}").get_json()
        if state["state"] != "running":
            break
        time.sleep(0.05)
    assert state["state"] == "done", state
    (number,) = client.get("/api/A/run").get_json()["compilations"]
    assert {a["passes"] for a in state["result"]} == {number}
    new = client.get(f"/api/A/tree?since={len(rows)}").get_json()["rows"]
    root = next(row for row in new if row["id"] == number)
    assert root["target"] == "gfx1100"
    first = next(row for row in new if row["parent"] == root["row"] and row["steps"])
    assert client.get(f"/api/A/rewrites/{first['id']}").status_code == 200
    again = client.post(path, json={"target": "gfx1100"}).get_json()["job"]
    assert client.get(f"/api/jobs/{again}").get_json()["result"] == state["result"]


def test_files_that_a_stranger_names_are_not_read(tmp_path: Path) -> None:
    """An origin may name any file of the user's: compiling must not put its lines into a trace that
    is exported."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the users secret\n" * 5)
    path = tmp_path / "run.viz"
    with viz.record(path):
        x = Tensor(np.arange(8, dtype=np.float32))
        y = (x * 2 + 1).exp()
        for node in y.uop.toposort():
            node.origin = f"{secret}:2 exp"
        y.realize()
    copy = tmp_path / "copy.viz"
    store = Store(path)
    write_trace(store, copy)
    store.close()
    store = Store(copy)
    kernel = store.kernels()[0]
    graph, _ = store.kernel_graph(kernel) or ({}, [])
    assert any(len(node) == 6 and str(secret) in node[5] for node in graph["nodes"])
    with compiled_for(store, [kernel], Wanted(passes=["sm_90"]), lambda *_: None) as failed:
        assert failed == []
        (one,) = store.compilations
        assert one.file.user_lines == []
        _, passes = rows_of(store, "sm_90")
        bundle = store.bundle(passes[0]["id"]) or {}
        assert any("secret.txt:2" in origin for origin in bundle["origins"]), "named, not read"
        store.close()


def test_a_comparison_says_which_texts_were_compiled_on_request(
    recorded: Path, compiled: tuple[Store, int]
) -> None:
    store, kernel = compiled
    other = Store(recorded)
    found = Comparison(store, other).scopes(kernel, kernel)
    assert found is not None
    said = {(one["kind"], one["target"]): one["onRequest"] for one in found["sources"]}
    assert said["ptx", "sm_90"] and said["llvm", "gfx1100"]
    assert not any(later for (_, target), later in said.items() if target == "x86-64")
    assert sum(not later for later in said.values()) >= 2, "what was recorded"
    other.close()
