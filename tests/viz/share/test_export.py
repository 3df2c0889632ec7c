"""The export: one file, no network, nothing inline but what its hashes allow, within its budget."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.errors import ServerError
from viz.format import schema
from viz.format.schema import REDACTED
from viz.share.exportfile import VERSION, version_of, version_tag
from viz.share.html import export_html
from viz.share.packed.dense import restored
from viz.share.redaction import NO_TEXT, SAID, exception, without_folders
from viz.views.store import Store

BLOCK = re.compile(
    r'<script type="application/json" id="uopviz-data-\d+">(.*?)</script>', re.DOTALL
)
TRACE = re.compile(
    r'<script type="application/octet-stream" id="uopviz-trace-\d+">([A-Za-z0-9+/=]*)</script>'
)


def entries(html: str) -> dict[str, Any]:
    """The data of an export by API path, as the page reads it."""
    found: dict[str, Any] = {}
    for block in BLOCK.findall(html):
        for paths, packed in json.loads(block).items():
            items = map(restored, json.loads(gzip.decompress(base64.b64decode(packed))))
            found.update(zip(paths.split(" "), items, strict=True))
    return found


def test_the_data_is_what_the_server_answers(store: Store, dist: Path) -> None:
    made = export_html(store)
    assert made.left_out == []
    data = entries(made.html)
    assert data["/api/A/run"]["live"] is False
    assert data["/api/A/run"]["file"] == "run.viz"
    assert data["/api/A/tree?since=0"] == json.loads(json.dumps(store.tree()))
    assert data["/api/A/rules"] == json.loads(json.dumps(store.rules()))
    for row in store.tree()["rows"]:
        if row["kind"] == "rewrite":
            path = f"/api/A/rewrites/{row['id']}"
            assert data[path] == json.loads(json.dumps(store.bundle(row["id"])))
        elif row["label"] == "kernel":
            assert data[f"/api/A/kernels/{row['id']}"]["name"] == row["name"]
            assert f"/api/A/origins/{row['id']}" in data


def test_no_network_and_only_what_the_hashes_allow(store: Store, dist: Path) -> None:
    html = export_html(store).html
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert html.index(policy[0]) < html.index("<style")
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert "connect-src" not in policy[1]
    without_data = TRACE.sub("", BLOCK.sub("", html))
    assert not re.search(r"(?:https?|wss?|ftp):|//[a-z]|@import|url\(|\bsrc=|<link", without_data)
    hashes = set(re.findall(r"'sha256-([^']*)'", policy[1]))
    scripts = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert len(scripts) == len(styles) == 1
    for text in scripts + styles:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert digest in hashes
    assert r"console.log(\"" not in scripts[0]
    assert "<!--" not in scripts[0], "neither comments nor the end of the script end it early"


def test_a_budget_is_kept_and_said(store: Store, dist: Path) -> None:
    whole = len(export_html(store).html)
    made = export_html(store, budget=whole // 2)
    assert len(made.html) < 0.6 * whole
    assert any("passes do not fit" in said for said in made.left_out)
    problems = entries(made.html)["/api/A/run"]["problems"]
    assert any("do not fit" in problem["what"] for problem in problems)


def test_chosen_kernels(store: Store, dist: Path) -> None:
    first, second = store.kernels()
    data = entries(export_html(store, kernels=[second]).html)
    assert f"/api/A/kernels/{second}" in data
    assert f"/api/A/kernels/{first}" not in data
    rows = data["/api/A/tree?since=0"]["rows"]
    assert [r["row"] for r in rows] == list(range(len(rows)))
    assert [r["name"] for r in rows if r["label"] in ("kernel", "schedule")] == [
        "schedule 2 kernels", "kernel_1",
    ]  # fmt: skip
    for row in rows:
        assert row["parent"] < row["row"]


def test_redaction(store: Store, dist: Path) -> None:
    data = entries(export_html(store, redact=True).html)
    text = json.dumps(data)
    assert "tests/viz" not in text
    assert "def add_zero" not in text
    assert {r["source"] for r in data["/api/A/rules"]} == {REDACTED}
    assert data["/api/A/run"]["command"] == ""


def test_redaction_of_errors(tmp_path: Path, dist: Path) -> None:
    from viz.write.writer import TraceWriter

    secret = "/home/ada/secret/data.csv"
    with TraceWriter(tmp_path / "t.viz", {"command": ["python", secret]}) as t:
        step = t.rewrite_begin("pass", t.node("ADD"))
        t.rewrite_end(step, 0, error={"message": f"ValueError: no {secret}", "traceback": secret})
    store = Store(tmp_path / "t.viz")
    plain, data = (entries(export_html(store, redact=r).html) for r in (False, True))
    store.close()
    assert secret in json.dumps(plain)
    for word in ("ada", "secret", "data.csv"):
        assert word not in json.dumps(data)
    said = f"ValueError: {NO_TEXT}"
    assert [p["what"] for p in data["/api/A/run"]["problems"]] == [said, SAID]
    error = next(v["error"] for k, v in data.items() if k.startswith("/api/A/rewrites/"))
    assert (error["message"], error["traceback"]) == (said, REDACTED)


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("cannot read /home/ada/x/run.viz: truncated", "cannot read run.viz: truncated"),
        (r"no C:\Users\ada\run.viz", "no run.viz"),
        ("in ~/work/run.viz (line 3)", "in run.viz (line 3)"),
        ("3 of 4 passes / 2 kernels", "3 of 4 passes / 2 kernels"),
    ],
)
def test_folders_of_a_sentence(sentence: str, left: str) -> None:
    assert without_folders(sentence) == left


def test_exceptions_keep_their_kind() -> None:
    assert exception("core.errors.SpecError: a: b") == f"core.errors.SpecError: {NO_TEXT}"
    assert exception("nothing of the kind") == NO_TEXT


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>"])
def test_text_of_a_trace_cannot_end_its_block(tmp_path: Path, dist: Path, text: str) -> None:
    from viz.write.writer import TraceWriter

    with TraceWriter(tmp_path / "t.viz", {"command": [text]}) as t:
        step = t.rewrite_begin(text, t.node(text, arg=text))
        t.rewrite_end(step, 1)
    store = Store(tmp_path / "t.viz")
    html = export_html(store).html
    store.close()
    assert "alert(1)" not in html
    assert entries(html)["/api/A/tree?since=0"]["rows"][0]["name"] == text


def test_a_budget_counts_kernels_once_and_names_itself(store: Store, dist: Path) -> None:
    whole = len(export_html(store).html)
    kernels = sum(row["label"] == "kernel" for row in store.tree()["rows"])
    with pytest.raises(ServerError, match="the page and the list of passes alone take"):
        export_html(store, budget=whole // 10)
    for part in range(50, 100, 5):
        made = export_html(store, budget=whole * part // 100)
        assert len(made.html) <= whole * part // 100 + 200, part
        for said in made.left_out:
            found = re.match(r"(\d+) (.*) do not fit in |the trace itself does not fit", said)
            assert found is not None
            assert found[2] != "kernels" or int(found[1]) <= kernels
            assert said.endswith("in 0 MB"), "the budget as it was given, not what is left of it"


def test_a_kernel_that_is_not_there(store: Store, dist: Path) -> None:
    with pytest.raises(ServerError, match="no kernel 12345") as error:
        export_html(store, kernels=[12345])
    assert "its kernels are 3, 5" in error.value.hint


def test_the_version_is_stated(store: Store, dist: Path) -> None:
    html = export_html(store).html
    assert version_of(html) == VERSION
    assert entries(html)["/api/A/run"]["format"] == {"trace": schema.VERSION, "export": VERSION}
    assert store.run()["format"] == {"trace": schema.VERSION, "export": None}
    assert version_of("<!doctype html><head></head>" + version_tag(1)) == 1, "of the head only"
