"""A command that is stopped while processes work for it: they are gone, with what they started, and
what is kept of their answers is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import viz
from core import Tensor

ROOT = Path(__file__).resolve().parents[3]
MARK = "OF_THIS_TEST"

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of kernels that take a while to compile for other targets."""
    path = tmp_path_factory.mktemp("recorded") / "run.viz"
    with viz.record(path):
        for n in range(4, 7):
            x = Tensor.ones(8 * n, 8 * n).contiguous().realize()
            (x @ x).softmax().realize()
    return path


def marked(mark: str) -> list[int]:
    """The processes that have a mark in their environment and have not ended."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:  # it has ended, or is another user's
                continue
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.sampled(4)
def test_an_export_that_compiles(
    run: Path, tmp_path: Path, number: signal.Signals, count: int
) -> None:
    mark, cache = str(tmp_path), tmp_path / "cache"
    (tmp_path / "tmp").mkdir()
    words = ["export", str(run), "-o", str(tmp_path / "x.viz"), "--targets", "sm_90,gfx942"]
    process = subprocess.Popen(
        [sys.executable, "-m", "viz", *words],
        cwd=ROOT,
        env={
            **os.environ,
            MARK: mark,
            "XDG_CACHE_HOME": str(cache),
            "TMPDIR": str(tmp_path / "tmp"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(marked(mark)) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate()
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    deadline = time.monotonic() + 60
    while left := marked(mark):
        assert time.monotonic() < deadline, left
        time.sleep(0.01)
    assert not (tmp_path / "x.viz").exists()
    if number != signal.SIGKILL:
        assert not [*(tmp_path / "tmp").iterdir()]
        assert {path.name for path in tmp_path.iterdir()} <= {"cache", "tmp"}
        assert not [path for path in cache.rglob("tmp*") if path.is_file()]
