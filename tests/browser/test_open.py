"""The page opens, says what was recorded, folds what does not matter, and finds things."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.fixtures import Pass
from tests.browser.served import Process
from viz.server.handover import browser_at

Open = Callable[..., Explorer]
Rows = list[dict[str, Any]]


def test_opens_at_a_change_of_the_first_kernel(open_page: Open, rows: Rows) -> None:
    """Every other test, too, ends with: no errors in the console, no violations of the policy."""
    e = open_page()
    kernel = next(r for r in rows if r["label"] == "kernel" and r["steps"])
    expect(e.subject).to_contain_text(kernel["name"])
    assert e.step == 1
    assert e.page.evaluate("document.title").endswith("recorded.py · uopviz")
    assert "token" not in e.page.url
    expect(e.page.locator(".status")).to_contain_text("Connected")


def test_navigator_counts_and_folds(open_page: Open, rows: Rows, some_pass: Pass) -> None:
    e = open_page(some_pass.at(1))
    tree = e.page.get_by_role("tree", name="Passes of the run")
    kernel = rows[some_pass.row["parent"]]
    expect(tree).to_contain_text(f"Ran: {kernel['arch']}")
    line = tree.get_by_role("treeitem").filter(has_text=some_pass.row["name"]).first
    expect(line).to_contain_text(str(some_pass.row["steps"]))
    expect(line).to_have_attribute("aria-expanded", "true")

    below = [r for r in rows if r["parent"] == kernel["row"] and not r["target"]]
    unchanged = [r for r in below if not r["steps"]]
    fold = tree.get_by_role("treeitem").filter(has_text=f"{len(unchanged)} passes changed nothing")
    before = tree.get_by_role("treeitem").count()
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "true")
    expect(tree.get_by_role("treeitem").filter(has_text=unchanged[-1]["name"]).last).to_be_visible()
    assert tree.get_by_role("treeitem").count() > before

    line.get_by_role("button").click()
    expect(line).to_have_attribute("aria-expanded", "false")
    line.get_by_role("button").click()
    expect(line).to_have_attribute("aria-expanded", "true")
    foot = e.navigator.locator(".foot")
    expect(foot).to_contain_text(re.compile(r"\d+ steps in \d+ passes"))


def test_navigator_shows_the_pass_that_is_looked_at(open_page: Open, rows: Rows) -> None:
    passes = {r["row"] for r in rows if r["kind"] == "rewrite"}
    inner = [r for r in rows if r["steps"] and r["parent"] in passes][-1]
    e = open_page()
    e.page.evaluate("at => { location.hash = at }", f"r={inner['id']}")
    tree = e.page.get_by_role("tree", name="Passes of the run")
    line = tree.locator(f"#nav-list-r{inner['row']}")
    expect(line).to_contain_text(inner["name"])
    expect(line).to_be_in_viewport()
    outer = tree.locator(f"#nav-list-r{inner['parent']}")
    outer.get_by_role("button", name="Fold").click()
    expect(line).to_have_count(0)
    expect(outer).to_contain_text("+")


def test_search_finds_a_kernel(open_page: Open, rows: Rows) -> None:
    kernel = [r for r in rows if r["label"] == "kernel"][-1]
    e = open_page().press("/")
    expect(e.page.locator("#search")).to_be_focused()
    e.page.keyboard.type(kernel["name"])
    hits = e.page.get_by_role("listbox", name="Search results").get_by_role("option")
    hits.filter(has_text=kernel["name"]).first.click()
    expect(e.subject).to_contain_text(kernel["name"])
    assert int(e.address("r") or 0) > kernel["id"]


def test_enter_in_the_search_opens_the_first_hit(open_page: Open, rows: Rows) -> None:
    kernel = [r for r in rows if r["label"] == "kernel"][-1]
    e = open_page().press("/")
    e.page.keyboard.type(kernel["name"])
    hits = e.page.get_by_role("listbox", name="Search results").get_by_role("option")
    expect(hits.first).to_contain_text(kernel["name"])
    e.page.keyboard.press("Enter")
    expect(e.subject).to_contain_text(kernel["name"])
    expect(hits.first).to_have_attribute("aria-selected", "true")


def test_search_finds_a_rule_and_the_passes_it_acts_in(open_page: Open, some_pass: Pass) -> None:
    rule = some_pass.rule(2)["name"]
    e = open_page(some_pass.at(1)).press("/")
    expect(e.page.locator("#search")).to_be_focused()
    e.page.keyboard.type(rule)
    hits = e.page.get_by_role("listbox", name="Search results").get_by_role("option")
    expect(hits.filter(has_text=rule).first.locator("mark")).to_have_text(rule)
    e.press("Enter", "ArrowDown", "Enter")
    e.wait_address("rule", str(some_pass.rule(2)["id"]))
    e.press("Escape")


def test_search_without_a_hit_names_the_query_and_offers_clear(open_page: Open) -> None:
    e = open_page().press("/")
    expect(e.page.locator("#search")).to_be_focused()
    e.page.keyboard.type("no such thing")
    expect(e.navigator).to_contain_text("No results for no such thing")
    e.navigator.get_by_role("button", name="Clear", exact=True).click()
    expect(e.page.get_by_role("tree", name="Passes of the run")).to_be_visible()


def test_the_token_is_needed(new_page: Open, open_page: Open, server: Any) -> None:
    open_page()
    e = new_page()
    e.page.context.route("**/favicon.ico", lambda route: route.fulfill(status=204))
    with e.trouble():
        answer = e.page.goto(server.page)
        assert answer is not None and answer.status == 403
        expect(e.page.get_by_role("heading")).to_have_text("This page needs an access token")
        assert e.page.evaluate("getComputedStyle(document.querySelector('main')).borderRadius") == (
            "10px"  # its policy lets its own style in
        )
        answer = e.page.goto(server.page + "api/A/run")
        assert answer is not None and answer.status == 403
        assert e.page.locator("body").inner_text() == "forbidden"
        answer = e.page.goto(server.page + "?token=" + "x" * 32)
        assert answer is not None and answer.status == 403


def test_a_foreign_page_learns_nothing(open_page: Open, server: Any) -> None:
    """Also one in the same browser: the cookie is not sent, and the answer could not be read."""
    e = open_page()
    e.page.context.route(
        "http://evil.test/", lambda route: route.fulfill(body="<p>hi", content_type="text/html")
    )
    other = e.page.context.new_page()
    other.goto("http://evil.test/")
    ask = "url => fetch(url, {credentials: 'include'}).then(r => r.status, () => 'refused')"
    assert other.evaluate(ask, server.page + "api/A/run") in ("refused", 403)
    frame = f"""() => new Promise(done => {{
      const f = document.createElement('iframe'); f.src = '{server.page}';
      f.onload = () => {{ try {{ done(f.contentDocument ? 'readable' : 'closed'); }}
                          catch {{ done('closed'); }} }};
      document.body.append(f); }})"""
    assert other.evaluate(frame) == "closed"
    other.close()


def test_the_file_that_the_browser_is_handed_leads_to_the_page(
    new_page: Open, server: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    e = new_page()
    with browser_at(server.url, threading.Event()) as file:
        e.page.goto(file.as_uri(), wait_until="commit")
        expect(e.page.locator(".status")).to_contain_text("Connected")
    assert e.page.url.startswith(server.page)
    assert "token" not in e.page.url
    assert e.page.evaluate("document.referrer") == ""
