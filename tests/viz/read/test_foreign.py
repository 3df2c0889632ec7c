"""A trace of another compiler is shown as it is: never compiled, and never called damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.viz.server.client import TokenClient
from viz.format.schema import COMPILER
from viz.recording.runinfo import run_info
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share.copy import write_trace
from viz.views.store import Store
from viz.write.writer import TraceWriter


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A kernel of another compiler; its ops have names that ours have, too."""
    path = tmp_path / "t.viz"
    with TraceWriter(path, {"command": ["mycc", "a.c"]}) as t:
        kernel = t.context_begin("kernel a", "kernel", meta={"target": "dsp"})
        x = t.node("CONST", "int32", arg="1")
        y = t.node("SINK", "void", (x,))
        number = t.rewrite_begin("fold", y, context=kernel)
        t.match(number, t.rule("r"), x, t.node("CONST", "int32", arg="2"), {}, ns=1)
        t.rewrite_end(number, y)
        t.kernel(kernel, "a", target="dsp", ast=y)
        t.artifact(kernel, "mlir", "dsp", "func @a()\n", lines=[(x,)])
        t.context_end(kernel)
    return path


@pytest.fixture
def client(foreign: Path, dist: Path) -> Iterator[FlaskClient]:
    store = Store(foreign)
    app = create_app(store, Guard("secret", 4711))
    app.test_client_class = TokenClient
    yield app.test_client()
    app.extensions["uopviz"].close()


def test_it_is_never_compiled(client: FlaskClient) -> None:
    run = client.get("/api/A/run").get_json()
    assert (run["targets"], run["devices"], run["editable"], run["problems"]) == ([], [], [], [])
    (kernel,) = (
        r["id"] for r in client.get("/api/A/tree").get_json()["rows"] if r["label"] == "kernel"
    )
    for job, asked in (("compile", {"target": "sm_90"}), ("run", {"device": "CPU", "count": 1})):
        answer = client.post(f"/api/A/kernels/{kernel}/{job}", json=asked)
        assert answer.status_code == 400
        said = answer.get_json()["error"]
        assert "another compiler" in said["what"] and "damaged" not in str(said)
    (own,) = client.get(f"/api/A/kernels/{kernel}").get_json()["artifacts"]
    assert (own["kind"], own["text"], own["error"]) == ("mlir", "func @a()\n", None)


def test_who_compiled_is_kept_in_copies(foreign: Path, trace: Path, tmp_path: Path) -> None:
    for path, own in ((foreign, False), (trace, True)):
        store = Store(path)
        assert store.compiles is own
        for n, redact in enumerate([False, True]):
            write_trace(store, tmp_path / f"{own}{n}.viz", redact=redact)
            copy = Store(tmp_path / f"{own}{n}.viz")
            assert copy.compiles is own
            copy.close()
        store.close()


def test_a_trace_of_before_the_compiler_was_noted(tmp_path: Path) -> None:
    info = run_info(None, True)
    assert info.pop("compiler") == COMPILER
    TraceWriter(tmp_path / "old.viz", info).close()
    store = Store(tmp_path / "old.viz")
    assert store.compiles
    write_trace(store, tmp_path / "copy.viz", redact=True)
    store.close()
    copy = Store(tmp_path / "copy.viz")
    assert copy.compiles
    copy.close()
