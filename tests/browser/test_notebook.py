"""A run in a frame of a notebook: without a server, and where it was after it was taken away."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Frame, Page

import uopviz


def frame_in(page: Page) -> Frame:
    page.wait_for_selector("iframe")
    handle = page.query_selector("iframe")
    found = handle.content_frame() if handle else None
    assert found is not None
    found.wait_for_selector("text=Kernels")
    return found


def test_a_frame_asks_nobody_and_comes_back_where_it_was(browser: Browser, trace: Path) -> None:
    shown = uopviz.show(trace)
    with uopviz.open(trace) as run:
        steps = f"{run.facts['totals']['steps']:,} steps"
    page = browser.new_page()
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(f"<main>{shown.html}</main>")
    frame = frame_in(page)
    assert steps in frame.inner_text("body") and steps in page.inner_text("main")
    frame.click("nav >> text=Rules") if frame.query_selector("nav >> text=Rules") else frame.click(
        "text=Rules >> nth=0"
    )
    frame.wait_for_function("location.hash.includes('rules')")
    there = frame.evaluate("location.href")
    page.evaluate(  # as a front end that keeps only the cells that are in sight
        "() => { const f = document.querySelector('iframe'); const copy = f.cloneNode();"
        " f.replaceWith(copy); }"
    )
    page.wait_for_timeout(100)
    handle = page.query_selector("iframe")
    again = handle.content_frame() if handle else None
    assert again is not None
    again.wait_for_function("location.hash.includes('rules')")
    assert again.evaluate("location.href") == there
    assert [url for url in asked if not url.startswith(("data:", "blob:", "about:"))] == []
    assert errors == []
    page.close()
