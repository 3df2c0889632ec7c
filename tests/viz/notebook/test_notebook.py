"""What a notebook displays keeps to what front ends allow, and says the facts without a frame."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import uopviz
import viz
from core import Tensor
from core.uop.uop import UOp
from viz.notebook import frame as frames
from viz.notebook.magic import viz as magic
from viz.share.html import export_html
from viz.views.store import Store


class Read(HTMLParser):
    """The elements of a display, with their attributes as a browser has them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def frame_of(html: str) -> dict[str, str]:
    [frame] = [attributes for tag, attributes in Read(html).found if tag == "iframe"]
    return frame


@pytest.mark.usefixtures("dist")
def test_a_frame_has_no_address_and_no_right(trace: Path, store: Store) -> None:
    shown = uopviz.show(trace)
    elements = Read(shown.html).found
    addresses = ("src", "href", "action", "data", "poster")
    given = [a[name] for _, a in elements for name in addresses if name in a]
    assert [text.partition(",")[0] for text in given] == ["data:image/svg+xml;base64"]
    frame = frame_of(shown.html)
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert re.fullmatch(r"uopviz-[0-9a-f]{16}", frame["name"])
    inside = Read(frame["srcdoc"]).found
    assert not [a["src"] for _, a in inside if "src" in a] and "Content-Security-Policy" in str(
        inside
    )
    assert str(store.run()["totals"]["steps"]) in shown.text


@pytest.mark.usefixtures("dist")
def test_lost_line_ends_change_nothing(trace: Path) -> None:
    """A front end that drops them leaves the frame as it was, and the script around it complete."""
    html = uopviz.show(trace).html
    assert "\n" not in html and "\r" not in html
    store = Store(trace)
    document = export_html(store).html
    store.close()
    assert "\n" in document
    version = re.compile(r'<script type="application/octet-stream".*?</script>', re.DOTALL)
    kept = frame_of(html)["srcdoc"]
    assert version.sub("", kept) == version.sub("", document)
    [keeper] = re.findall(r"<script>(.*?)</script>", html.split("<iframe")[0])
    assert "//" not in keeper


@pytest.mark.usefixtures("dist")
def test_a_large_run_is_an_excerpt_and_says_so(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = uopviz.show(trace)
    assert "An excerpt:" not in whole.text
    monkeypatch.setattr(frames, "MOST", 6_000)
    part = uopviz.show(trace)
    assert len(part.html) < len(whole.html)
    assert "An excerpt:" in part.text and f"uopviz open {trace}" in part.text
    assert "An excerpt:" in part.html.split("<iframe")[0]


def test_what_a_trace_says_stays_text(dist: Path, tmp_path: Path) -> None:
    evil = '"><script>alert(1)</script>'
    with viz.TraceWriter(tmp_path / "evil.viz", {"command": [evil], "name": evil}) as t:
        t.context_end(t.context_begin(evil, "kernel"))
    shown = uopviz.show(tmp_path / "evil.viz")
    tags = ["div", "div", "div", "script", "div", "img", "div", "iframe"]
    assert [tag for tag, _ in Read(shown.html).found] == tags
    kind, html = shown._mime_()  # marimo puts HTML with a script into a low frame of its own
    tags.remove("script")
    assert kind == "text/html" and [tag for tag, _ in Read(html).found] == tags


@pytest.mark.usefixtures("dist")
def test_the_magic_records_a_cell(tmp_path: Path) -> None:
    values: list[Any] = []

    def run_cell(cell: str) -> None:
        assert cell == "a cell"
        # a kernel that no other test compiles: one that is there already is not recorded again
        values.append((Tensor([1.0, 2.0]) * 41.25 + 0.375).tolist())

    path = tmp_path / "cell.viz"
    shown = magic(str(path), "a cell", SimpleNamespace(run_cell=run_cell))
    assert values == [[41.625, 82.875]]
    with uopviz.open(path) as run:
        steps = run.facts["totals"]["steps"]
        assert steps and f"{steps:,} steps" in shown.text and len(run.kernels) == 1


def test_graphs_and_schedules_are_pictures_and_text(trace: Path) -> None:
    root = UOp.variable("a", 0, 9) + 1
    shown = uopviz.show(root)
    forms = shown._repr_mimebundle_()
    assert all(node.op.name in forms["image/svg+xml"] for node in root.toposort())
    assert shown._mime_() == ("image/svg+xml", forms["image/svg+xml"])
    assert shown.text.count("\n") == len(root.toposort()) - 1
    schedule = ((Tensor([1.0, 2.0]) + 1).contiguous().sum() + 1).schedule()
    forms = uopviz.show(schedule)._repr_mimebundle_()
    assert forms["image/svg+xml"].count("<rect") >= len(schedule)
    with uopviz.open(trace) as run:
        kernel = run.kernels[0]
        assert "<svg" in uopviz.show(kernel)._repr_mimebundle_()["image/svg+xml"]
        step = run.matches()[0]
        assert unescape(uopviz.show(step).text) == step.after.text


def test_the_extension_displays_a_run_and_a_node_and_takes_it_back(dist: Path, trace: Path) -> None:
    kinds: dict[type, Any] = {}
    formatter = SimpleNamespace(for_type=kinds.__setitem__, pop=kinds.pop)
    shell = SimpleNamespace(
        register_magic_function=lambda *_, **__: None,
        display_formatter=SimpleNamespace(mimebundle_formatter=formatter),
        magics_manager=SimpleNamespace(magics={"cell": {}}),
    )
    uopviz.load_ipython_extension(shell)
    with uopviz.open(trace) as run:
        forms = kinds[uopviz.Run](run, include=None, exclude=None)
        steps = f"{run.facts['totals']['steps']:,} steps"
    assert steps in forms["text/plain"] and "<iframe" in forms["text/html"]
    assert "image/svg+xml" in kinds[UOp](UOp.variable("a", 0, 9) + 1)
    uopviz.unload_ipython_extension(shell)
    assert not kinds
