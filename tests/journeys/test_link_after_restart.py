"""I sent myself a link to a step while the program ran: does it lead there tomorrow?"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.browser.served import PROGRAMS, ended, run_live, serve
from tests.journeys.reader import Reader


def test_a_link_leads_there_after_a_restart(reader: Reader, tmp_path: Path) -> None:
    trace = tmp_path / "live.viz"
    with run_live(PROGRAMS / "waiting.py", trace, stays=60) as program:
        viewer = program.viewer
        try:
            reader.opens(f"{program.url}#v=graphs")
            program.say("next")
            reader.waits_for_a_graph()
            program.closes_input()
            reader.sees("Finished", reader.page.locator(".live"))
            passes = [row for row in program.rows() if row["kind"] == "rewrite"]
            longest = max(passes, key=lambda row: row["steps"])
            reader.page.evaluate("hash => { location.hash = hash }", f"r={longest['id']}&k=3")
            reader.explorer.at_step(3)
            reader.waits_for_a_graph().presses("ArrowRight")
            reader.explorer.at_step(4)
            reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
            reader.clicks("Share").clicks("Copy a link to this view")
            reader.sees("Link copied")
            link = reader.page.evaluate("navigator.clipboard.readText()")
            assert program.token not in link
            heading = reader.explorer.inspector.locator("h2").inner_text()
            reader.page.goto("about:blank")
        finally:
            ended[program.port] = time.monotonic()
            os.kill(viewer, signal.SIGTERM)
            while is_there(viewer):
                time.sleep(0.05)
    with serve(trace) as again:
        reader.opens(again.url)  # as the browser does that `uopviz open` opens
        reader.sees("Finished", reader.page.locator(".live"))
        reader.page.goto("about:blank")
        reader.opens(link)
        reader.waits_for_a_graph()
        reader.explorer.at_step(4)
        assert reader.explorer.inspector.locator("h2").inner_text() == heading
        reader.page.goto("about:blank")


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
