"""The report of changes: what it says, and that it runs and asks for nothing."""

from __future__ import annotations

from html.parser import HTMLParser

from viz.fleet.changes import changes
from viz.fleet.report import PLOTTED, is_report, report
from viz.fleet.since import Found, Series

HOSTILE = "<script>alert(1)</script>\" onload='x'<img src=//evil>&amp;"


class Read(HTMLParser):
    """The elements of a document, and its text."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def found(of: str, ratio: float) -> Found:
    values = [[100.0, 101.0, 102.0] for _ in range(10)] + [[100 * ratio, 99 * ratio]] * 10
    (change,) = changes(values)
    commits = [f"commit{number}" for number in range(20)]
    series = Series("rule-time", of, HOSTILE, commits, [["run"]] * 20, values)
    return Found(
        "rule-time", of, commits[change.at], HOSTILE, 2, change, ("a.viz", of), series, ("", "")
    )


def test_a_report_has_every_change_and_draws_those_that_are_largest() -> None:
    names = [f"rule{number}" for number in range(PLOTTED + 3)]
    read = Read(report("runs", [found(n, 1.5 + at / 10) for at, n in enumerate(names)]))
    assert read.count("h2") == 1 and "commit10" in read.text
    assert all(name in read.text for name in names)
    assert read.count("svg") == PLOTTED
    assert read.text.index(names[-1]) < read.text.index(names[0])
    assert is_report(report("runs", [])[:4096].encode())
    assert not is_report(b"<!doctype html><html><head><title>a page</title>")
    assert "No figure has changed" in report("runs", [])


def test_a_report_neither_runs_nor_asks_for_anything() -> None:
    document = report(HOSTILE, [found(HOSTILE, 2.0)])
    read = Read(document)
    assert HOSTILE in read.text
    assert {tag for tag, _ in read.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "code"),
        *("table", "thead", "tbody", "tr", "th", "td", "svg", "line", "circle"),
    }
    for _, attributes in read.elements:
        assert not any(name.startswith("on") or name in ("src", "href") for name in attributes)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    assert any(attributes.get("content") == policy for _, attributes in read.elements)
