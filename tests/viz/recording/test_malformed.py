"""Graphs that are none: recording ends with one sentence that says what is wrong, the program
goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.dtype import dtypes
from core.uop import Ops, UOp, graph_rewrite
from tests.viz.samples import random_graph, rules
from viz.recording.malformed import malformed
from viz.trace import Recorder
from viz.views.store import Store

one = UOp.const(dtypes.int, 1)
ORIGIN = "model.py:12 relu"


class Shy:
    def __repr__(self) -> str:
        raise ValueError


def made(op: Any, dtype: Any, src: Any, origin: str | None = ORIGIN) -> UOp:
    return UOp(op, dtype, src, origin=origin)


@pytest.mark.parametrize(
    ("node", "what", "where"),
    [
        (made(Ops.ADD, dtypes.int, (one, 2)), "2 (int) is no node", "source 1 of ADD from model"),
        (made(Ops.ADD, dtypes.int, (None, 2)), "None (NoneType) is no node", "source 0 of ADD"),
        (made("ADD", dtypes.int, (one,)), "its op is 'ADD' (str)", "a node from model.py:12"),
        (made(Ops.NEG, "int", (one,), None), "its dtype is 'int' (str)", "NEG in source 0 of SINK"),
        (made(Ops.NEG, dtypes.int, None), "its sources are None (NoneType)", "NEG from"),
        (made(Ops.NEG, dtypes.int, (Shy(),)), "... (Shy) is no node", "source 0 of NEG"),
    ],
)
def test_what_is_wrong_and_where(node: UOp, what: str, where: str) -> None:
    sink = UOp(Ops.SINK, dtypes.void, (one, node)[1:], origin=None)
    error = malformed([one, sink])
    assert error is not None
    assert what in error.what
    assert where in error.where
    assert "tuple of UOps" in error.hint
    assert malformed([one, one + one]) is None


@pytest.mark.parametrize("src", [(one, 2), (one, None)])
def test_the_program_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], src: tuple[Any, ...]
) -> None:
    recorder = Recorder(tmp_path / "t.viz").start()
    kept = graph_rewrite(random_graph(5), rules, name="before")
    bad = UOp(Ops.ADD, dtypes.int, src, origin=ORIGIN)
    with pytest.raises(AttributeError):  # the engine's: it walks the graph, too
        graph_rewrite(bad, rules)
    recorder.flush()
    assert graph_rewrite(random_graph(5), rules) is kept
    recorder.close()
    said = capsys.readouterr().err
    assert said.count("recording stopped") == 1
    assert f"is no node (source 1 of ADD from {ORIGIN})" in said
    assert "tuple of UOps" in said
    assert "AttributeError" not in said
    store = Store(tmp_path / "t.viz")
    assert "is no node" in str(store.run()["problems"])
    assert store.run()["totals"]["steps"] > 0
    store.close()
