"""Why a rule did not fire, as the page shows it: every kind of answer, drawn, linked, offline. How
one comes to an answer is a journey."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.served import Process, export
from tests.browser.why import why_places

Open = New = Callable[..., Explorer]
Data = dict[str, Any]
SLOW = 60_000
"""The first question loads the compiler, and a function is called in a process of its own, ms."""


@pytest.fixture(scope="module")
def places(server: Process) -> dict[str, Data]:
    """Where a rule did not fire, by the kind of answer."""
    return why_places(server)


def asked(server: Process, place: Data) -> Data:
    """What the server answers there."""
    node, rule = place["node"], place["rule"]
    said: Data = server.get(f"why-not/{place['rewrite']}?node={node}&rule={rule}")
    return said


def shown(e: Explorer) -> Any:
    """The answer that the page shows."""
    return e.inspector.get_by_role("region", name=re.compile("^Why .* did not fire$"))


def test_the_graph_shows_what_fits(open_page: Open, places: dict[str, Data]) -> None:
    place = places["pattern"]
    e = open_page(place["selected"])
    before = e.still()
    e.page.evaluate("h => { location.hash = h; }", place["at"])
    expect(shown(e).get_by_role("heading").first).to_be_visible(timeout=SLOW)
    assert e.still() != before
    colors = e.canvas().evaluate(
        """canvas => {
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          const probe = document.createElement("i"); document.body.append(probe);
          const rgb = (name) => { probe.style.setProperty("color", `var(${name})`);
            return getComputedStyle(probe).color.match(/\\d+/g).slice(0, 3).join(); };
          const wanted = { fits: rgb("--accent"), fails: rgb("--del") };
          const found = { fits: 0, fails: 0 };
          for (let i = 0; i < data.length; i += 4) {
            const at = `${data[i]},${data[i + 1]},${data[i + 2]}`;
            if (at === wanted.fits) found.fits++;
            else if (at === wanted.fails) found.fails++;
          }
          probe.remove();
          return found;
        }"""
    )
    assert colors["fits"] > 40
    assert colors["fails"] > 40


def test_the_line_on_which_a_function_declined(open_page: Open, places: dict[str, Data]) -> None:
    place = places["declined"]
    e = open_page(place["at"])
    expect(shown(e)).to_contain_text("Its function declined", timeout=SLOW)
    code = shown(e).locator(".snip .ln.hl")
    expect(code).to_have_count(1, timeout=SLOW)
    expect(code).to_contain_text("return")
    values = shown(e).locator(".why-values dt")
    line = code.inner_text()
    for name in values.all_inner_texts():
        assert name in line


def test_another_rule_came_first(open_page: Open, places: dict[str, Data], server: Process) -> None:
    place = places["overtaken"]
    by = asked(server, place)["by"]
    e = open_page(place["at"])
    expect(shown(e)).to_contain_text("Another rule came first", timeout=SLOW)
    shown(e).get_by_role("button", name=f"Go to step {by['step']}").press("Enter")
    e.at_step(by["step"])
    e.wait_address("why", str(place["rule"]))
    others = shown(e).get_by_role("list", name="Other rules at this node")
    expect(others.get_by_role("button").first).to_be_visible()


def test_a_rule_of_another_pass(open_page: Open, places: dict[str, Data]) -> None:
    place = places["not in pass"]
    e = open_page(place["at"])
    expect(shown(e)).to_contain_text("Not a rule of this pass", timeout=SLOW)
    links = shown(e).locator(".why-passes button")
    if links.count():
        name = links.first.inner_text()
        links.first.press("Enter")
        expect(e.subject).to_contain_text(name)


def test_near_misses_and_what_a_link_keeps(
    open_page: Open, places: dict[str, Data], server: Process
) -> None:
    place = places["pattern"]
    misses = server.get(f"near-misses/{place['rewrite']}?rule={place['rule']}")
    e = open_page(f"{place['pass']}&tab=why&why={place['rule']}")
    rows = shown(e).get_by_role("list", name="Near misses").get_by_role("button")
    expect(rows).to_have_count(len(misses["rows"]), timeout=SLOW)
    expect(rows.first).to_contain_text(f"u{misses['rows'][0]['node']}")
    rows.first.press("Enter")
    expect(shown(e).get_by_role("heading").first).to_have_text("The pattern does not fit")
    e.page.set_viewport_size({"width": 1280, "height": 720})
    e.give("Where in this pass the rule nearly fires")  # the list stands below the answer
    e.wait_address("near", "1")
    current = shown(e).locator(".why-miss[aria-current=true]")
    expect(current).to_be_in_viewport()
    expect(current).to_contain_text(f"u{misses['rows'][0]['node']}")
    e.page.reload()
    e.ready()
    expect(current).to_contain_text(f"u{misses['rows'][0]['node']}", timeout=SLOW)


def test_the_page_of_a_rule(open_page: Open, places: dict[str, Data], server: Process) -> None:
    place = places["fired"]
    page = server.get(f"rule-page?rule={place['rule']}")
    e = open_page(f"{place['pass']}")
    e.press("Control+k")
    e.page.keyboard.type(f"page of rule {place['name']}")
    option = e.page.get_by_role("option", name=f"Open the page of rule {place['name']}")
    expect(option.first).to_be_visible()
    option.first.click()
    e.wait_address("ru", str(place["rule"]))
    table = e.page.get_by_role("table", name="By pass")
    expect(table.get_by_role("row")).to_have_count(1 + len(page["passes"]), timeout=SLOW)
    expect(table.get_by_role("row").nth(1)).to_contain_text(page["passes"][0]["pass"])
    where = e.page.get_by_role("listbox", name="Passes in which it matched")
    expect(where.get_by_role("option").first).to_be_visible()
    where.focus()
    e.press("ArrowDown", "Enter")
    e.ready()
    e.wait_address("rule", str(place["rule"]))
    e.page.go_back()
    expect(table).to_be_visible()
    table.get_by_role("link", name="near misses").first.press("Enter")
    e.wait_address("near", "1")
    expect(shown(e)).to_be_visible()


def test_an_exported_file_says_what_it_needs(
    new_page: New, trace: Path, places: dict[str, Data], tmp_path: Path
) -> None:
    place = places["pattern"]
    file = export(trace, tmp_path / "why.html")
    e = new_page(offline=True).goto(f"{file.as_uri()}#{place['at']}")
    expect(e.inspector).to_contain_text("This answer needs the trace")
    expect(e.inspector).to_contain_text("uopviz open")
    e.page.evaluate("h => { location.hash = h; }", f"v=rules&ru={place['rule']}")
    expect(e.page.get_by_role("table", name="By pass")).to_be_visible()
