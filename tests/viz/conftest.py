"""Runs that the tests of viz share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from tests.viz.server.client import TokenClient
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share import webpage
from viz.trace import Recorder
from viz.views.store import Store


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A finished trace of two kernels with three passes."""
    path = tmp_path / "run.viz"
    recorder = Recorder(path).start()
    try:
        with context("schedule 2 kernels", "schedule"):
            graph_rewrite(random_graph(1), rules, name="tidy")
        for i in range(2):
            with context(f"kernel_{i}", "kernel", target="x86-64"):
                graph_rewrite(random_graph(10 + i), rules, name="simplify")
                recorder.artifact("llvm", "x86-64", "define\nret\n", [[], []], {"regs": "3"})
    finally:
        recorder.close()
    return path


@pytest.fixture
def store(trace: Path) -> Iterator[Store]:
    made = Store(trace)
    yield made
    made.close()


@pytest.fixture
def dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of a few bytes, so that no test needs the real one to be built."""
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / "index.html").write_text(
        "<!doctype html><html><head>\n"
        '<script type="module" crossorigin src="./app.js"></script>\n'
        '<link rel="stylesheet" crossorigin href="./app.css">\n'
        "</head><body><div id=app></div></body></html>"
    )
    (folder / "app.js").write_text('console.log("</script><!--");')
    (folder / "app.css").write_text("body { margin: 0 }")
    monkeypatch.setattr(webpage, "DIST", folder)
    return folder


@pytest.fixture
def app(store: Store, dist: Path) -> Iterator[Flask]:
    made = create_app(store, Guard("secret", 4711))
    yield made
    made.extensions["uopviz"].machine.jobs.close()
    made.extensions["uopviz"].machine.exports.close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    app.test_client_class = TokenClient
    return app.test_client()


@pytest.fixture
def stranger(app: Flask) -> FlaskClient:
    return FlaskClient(app, use_cookies=False)
