"""The workbench over HTTP: jobs of a kernel, and what is refused before one begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

import viz
from core import Tensor
from core.helpers import Context
from tests.viz.server.client import PORT, TOKEN, TokenClient, ended
from viz.server.app import create_app
from viz.server.security import Guard
from viz.views.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("workbench") / "t.viz"
    with viz.record(path):
        (Tensor.arange(24).float().realize() * 2).realize()
    opened = Store(path)
    yield opened
    opened.close()


@pytest.fixture
def client(store: Store) -> Iterator[FlaskClient]:
    app = create_app(store, Guard(TOKEN, PORT))
    app.test_client_class = TokenClient
    yield app.test_client()
    app.extensions["uopviz"].machine.close()


def post(client: FlaskClient, path: str, **body: object) -> Any:
    return client.post(f"/api/A/kernels/{path}", json=body)


def test_both_sides_and_the_opts_of_a_kernel(store: Store, client: FlaskClient) -> None:
    kernel = store.kernels()[-1]
    begun = post(client, f"{kernel}/opts", target="sm_90").get_json()["job"]
    found = ended(client, begun)
    assert found["state"] == "done", found
    assert found["result"]["target"] == "sm_90"
    job = post(client, f"{kernel}/bench", device="CPU", opts="").get_json()["job"]
    made = ended(client, job)
    assert made["state"] == "done", made
    assert made["result"]["changed"]
    assert made["result"]["times"]["turns"] > 0


def test_a_search_is_a_job_with_progress(
    store: Store, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEAM_SECONDS", "1")
    kernel = store.kernels()[-1]
    made = ended(client, post(client, f"{kernel}/search", device="CPU", width=2).get_json()["job"])
    assert made["state"] == "done", made
    assert made["result"]["tried"] > 0
    refused = ended(
        client, post(client, f"{kernel}/search", device="REFERENCE", width=2).get_json()["job"]
    )
    assert refused["error"]["what"] == "REFERENCE runs no programs"


def test_jobs_have_the_flags_of_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Context(NOOPT=1), viz.record(tmp_path / "t.viz"):
        (Tensor.arange(24).float().realize() * 3).realize()
    opened = Store(tmp_path / "t.viz")
    app = create_app(opened, Guard(TOKEN, PORT))
    app.test_client_class = TokenClient
    asked: list[dict[str, Any]] = []

    def start(request: dict[str, Any], *_: object) -> int:
        asked.append(request)
        return 1

    machine = app.extensions["uopviz"].machine
    monkeypatch.setattr(machine.jobs, "start", start)
    for path, body in (
        ("bench", {}),
        ("opts", {"target": "sm_90"}),
        ("search", {"width": 2}),
    ):
        post(app.test_client(), f"{opened.kernels()[-1]}/{path}", **body)
    assert [request["flags"]["NOOPT"] for request in asked] == [1, 1, 1]
    machine.close()
    opened.close()


@pytest.mark.parametrize(
    ("path", "body", "what"),
    [
        ("bench", {"opts": 3}, "opts is not a text"),
        ("bench", {"opts": "UPCAST(0)x"}, "not an optimisation"),
        ("bench", {"skip": "add_zero"}, "skip is not a list"),
        ("bench", {"skip": ["a"] * 101}, "more than 100 rules"),
        ("bench", {"skip": ["no_such_rule"]}, "no rule 'no_such_rule'"),
        ("bench", {"opts": "UPCAST(0, 4) " * 200}, "opts is too long"),
        ("bisect", {"opts": "UPCAST(0, 4) " * 200}, "opts is too long"),
        ("opts", {"target": "sm_90", "opts": "UPCAST(0, 4) " * 200}, "opts is too long"),
        ("run", {"skip": ["no_such_rule"]}, "no rule 'no_such_rule'"),
        ("emulate", {"opts": "UPCAST(0)x"}, "not an optimisation"),
        ("bench", {"source": {"kind": "llvm", "text": "x" * 600_000}}, "text is too long"),
        ("bench", {"source": {"kind": "llvm"}}, "source is not a text"),
        ("opts", {"target": "nothing"}, "there is no target"),
        ("search", {"device": "CPU"}, "width is not a width"),
        ("search", {"width": 65}, "width is not a width"),
        ("search", {"width": True}, "width is not a width"),
        ("opts", {"target": "sm_90", "opts": 3}, "opts is not a text"),
    ],
)
def test_what_is_refused_at_once(
    store: Store, client: FlaskClient, path: str, body: dict[str, object], what: str
) -> None:
    said = post(client, f"{store.kernels()[-1]}/{path}", **body)
    assert said.status_code == 400
    assert what in said.get_json()["error"]["what"]


def test_a_kernel_that_is_not_there(client: FlaskClient) -> None:
    said = post(client, "999/bench", device="CPU")
    assert said.status_code == 400
    assert "no AST" in said.get_json()["error"]["what"]
