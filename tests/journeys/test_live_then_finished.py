"""My program has ended: does its page show all of it, and can I still look at it?"""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.served import PROGRAMS, ended, run_live, serve
from tests.journeys.reader import Reader

KERNELS = 4


@pytest.mark.parametrize("killed", [False, True])
def test_a_page_outlives_its_program(reader: Reader, tmp_path: Path, killed: bool) -> None:
    trace = tmp_path / "live.viz"
    with run_live(PROGRAMS / "waiting.py", trace, stays=60) as program:
        viewer = program.viewer
        try:
            reader.opens(f"{program.url}#v=graphs")
            reader.sees("Live", reader.page.locator(".live"))
            for _ in range(KERNELS):
                program.say("next")
            counts = reader.page.locator(".status")
            reader.sees(f"{KERNELS} kernels" if killed else re.compile(r"[1-9] kernel"), counts)
            if killed:
                program.kill()
                ended.pop(program.port)  # its page is still there
            else:
                assert program.closes_input() == 0
            reader.sees("Finished", reader.page.locator(".live"))
            reader.sees(f"{KERNELS} kernels", counts)
            if killed:
                reader.sees("the program ended without closing its trace", "Notice")
                reader.clicks("Next notice", within="Notice")
            notices = reader.page.get_by_role("status").filter(has_text="The run has finished")
            reader.sees("stays until it has been closed for 1 minute", notices)
            reader.sees(f"uopviz open {trace}", notices)
            # later, a reload, and by the address that was printed
            reader.page.reload()
            reader.waits_for_a_graph()
            reader.sees("Finished", reader.page.locator(".live"))
            reader.opens(program.url)
            reader.sees("Finished", reader.page.locator(".live"))
            if killed:
                reader.sees("the program ended without closing its trace", "Notice")
                reader.clicks("Next notice", within="Notice")
            expect(notices).to_be_visible()
            reader.clicks("Close the notice")
            expect(notices).to_have_count(0)
            reader.sees("Connected", reader.page.locator(".status"))
        finally:
            ended[program.port] = time.monotonic()
            os.kill(viewer, signal.SIGTERM)
        # it ends later than the program: nothing is lost, and the run can be opened in the same tab
        with reader.explorer.trouble():
            reader.sees(re.compile("server of this page has ended"))
            reader.sees_no("Connection lost")
            reader.sees("Finished", reader.page.locator(".live"))
            again = serve(trace)
            assert again.port == program.port
            with again:
                reader.opens(again.url)
                reader.sees("Connected", reader.page.locator(".status"))
                reader.page.goto("about:blank")  # asks nothing of a server that ends with its test
