"""Programs that Ctrl-C interrupts at random moments, by real signals, lose nothing that they did to
the end: their traces are compared with what such a program records without them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import viz
from tests.fuzzing import seeds
from tests.viz.recording.test_interrupts import shape, tree, work

ROOT = Path(__file__).resolve().parents[3]
NAMES = [f"{number:02} " for number in range(30)]
PROGRAM = """
import json, os, random, signal, sys, threading, time
from tests.viz.recording.test_interrupts import work
from viz.trace import Recorder

path, seed, names = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
armed, caught, done, ended = False, 0, [], threading.Event()

def interrupt(*_):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt

def press():
    moments = random.Random(seed)
    while not ended.wait(moments.expovariate(30)):
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, interrupt)
recorder = Recorder(path).start()
threading.Thread(target=press).start()
for name in names:
    try:
        armed = True
        work(name)
        armed = False
        done.append(name)
    except KeyboardInterrupt:
        caught += 1
ended.set()
recorder.close()
print(json.dumps([done, caught, recorder.stopped is None]))
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds(metafunc.config, 2, 0))


def test_a_program_that_is_interrupted_at_random_moments(seed: int, tmp_path: Path) -> None:
    path, whole = tmp_path / "t.viz", tmp_path / "whole.viz"
    made = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(seed), json.dumps(NAMES)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert made.returncode == 0, made.stderr
    done, caught, recorded = json.loads(made.stdout)
    assert recorded
    assert len(done) + caught == len(NAMES)
    with viz.record(whole):
        for name in NAMES:
            work(name)
    expected, (found, _) = tree(whole)[0], tree(path)
    for name in done:
        assert shape(found, name) == shape(expected, name)
    assert all(row["status"] != "open" for row in found)
