"""`uopviz record` on TVM as it is published: the passes that an instrument of the program hears of,
the same output, and the module as TVM prints it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.peers.test_dumps import ops_of, python_of
from tests.peers.test_tinygrad import PROGRAMS, ROOT, is_exact
from tests.peers.test_xdsl import run
from viz.views.store import Store

pytestmark = pytest.mark.nightly


def test_passes_are_those_that_an_instrument_hears_of(tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    command = [python_of("apache-tvm"), str(PROGRAMS / "relax.py")]
    plain, _ = run(command)
    viz = [sys.executable, "-m", "viz", "record", "-o", str(path)]
    assert run([*viz, *command], PYTHONPATH=str(ROOT))[0] == plain
    heard = plain.partition("\n")[0].split()[1:]
    store = Store(path)
    file = store.files[0]
    assert store.run()["problems"] == [] and store.dialect.title == "TVM"
    names = [one.name for one in file.rewrites.values()]
    assert names == [*heard, "DeadCodeElimination"] and len(heard) > 5
    assert all(is_exact(file, one) for one in file.rewrites.values())
    last = [*file.rewrites.values()][-1]
    texts = store.pass_texts(last.id)
    assert texts is not None and plain.strip().endswith(texts["after"]["text"].strip())
    assert "R.add" in texts["before"]["text"] and "R.add" in ops_of(store, last.sink)
    assert "R.add" not in ops_of(store, last.result)
    store.close()
