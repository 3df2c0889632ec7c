"""A process that is killed as it keeps or forgets a variant: the variant is whole or absent, and no
log of another one is taken for its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from viz.views.store import Store
from viz.whatif.variants import tried

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import os, signal, sys
from pathlib import Path
from viz.whatif.variants import tried

trace, left, doing = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

def step(frame, event, _):
    global left
    if frame.f_code.co_filename != tried.__file__:
        return None
    if event == "line":
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return step

(first,) = tried.kept_of(trace)
sys.settrace(step)
if doing == "keep":
    tried.keep(trace, 1, "two", {"n": 2}, trace.read_bytes())
else:
    tried.forget(first)
"""


def killed(trace: Path, steps: int, doing: str) -> bool:
    """Whether it came to an end only by a signal after so many lines."""
    words = [sys.executable, "-c", PROGRAM, str(trace), str(steps), doing]
    code = subprocess.run(words, check=False, cwd=ROOT).returncode
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.sampled(7)
@pytest.mark.parametrize("steps", range(0, 42, 3))
@pytest.mark.parametrize("doing", ["keep", "forget"])
def test_a_process_that_is_killed(trace: Path, doing: str, steps: int) -> None:
    first = tried.keep(trace, 1, "one", {"n": 1}, trace.read_bytes())
    Path(f"{first.path}-wal").write_bytes(b"of a reader that was killed")
    ended = not killed(trace, steps, doing)
    found = {one.name: one for one in tried.kept_of(trace)}
    assert set(found) <= {"one", "two"}
    if doing == "keep":
        assert "one" in found
        assert ended == ("two" in found) or not ended
    else:
        assert not ended or not found
    for name, one in found.items():
        assert dict(one.found) == {"n": ["one", "two"].index(name) + 1}
        assert one.path.read_bytes() == trace.read_bytes()
    more = tried.keep(trace, 1, "more", {"n": 3}, trace.read_bytes())
    assert not Path(f"{more.path}-wal").exists()
    store = Store(more.path)
    assert store.run()["problems"] == []
    store.close()


def test_the_log_of_one_that_is_gone_is_not_that_of_the_next(trace: Path) -> None:
    first = tried.keep(trace, 1, "one", {}, trace.read_bytes())
    stray = Path(f"{first.path}-wal")
    tried.forget(first)
    stray.write_bytes(b"\x37\x7f\x06\x82" + bytes(5000))
    again = tried.keep(trace, 1, "two", {}, trace.read_bytes())
    assert again.path == first.path
    assert not stray.exists()
    assert json.loads(again.path.with_suffix(".json").read_text())["name"] == "two"
