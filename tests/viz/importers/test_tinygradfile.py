"""`rewrites.pkl` of tinygrad is read without running anything of it: made here with classes of the
names that tinygrad's have."""

from __future__ import annotations

import argparse
import io
import os
import pickle
import random
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from core.errors import TraceError
from viz.command.importing import import_dumps
from viz.importers.inert import Record, read
from viz.read.steps import read_steps
from viz.views.store import Store


class Named:
    """A class that a pickle names as it is told to."""

    def __init__(self, *given: Any) -> None:
        self.given = given


class Made(Named):
    def __reduce__(self) -> tuple[type[Named], tuple[Any, ...]]:
        return type(self), self.given


@pytest.fixture
def classes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Classes that say to be of tinygrad."""
    made: dict[str, Any] = {}
    for name in ("tinygrad", "tinygrad.uop"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    for name, base in (
        *(("Ops", Made), ("DType", Made), ("UOp", Made)),
        *(("TracingKey", Named), ("TrackedGraphRewrite", Named), ("RewriteTrace", Named)),
    ):
        made[name] = type(name, (base,), {"__module__": "tinygrad.uop"})
        setattr(sys.modules["tinygrad.uop"], name, made[name])
    return made


def with_fields(made: Any, **fields: Any) -> Any:
    vars(made).update(fields)
    return made


def a_file(classes: dict[str, Any], add: int = 33) -> Any:
    """In 0.14: (2 + 3) + 4 becomes 5 + 4, and then 9."""
    ops, dtype = classes["Ops"], classes["DType"](0, 800, "weakint", None)
    nodes: dict[int, Any] = {}
    for at, value in enumerate((2, 3, 4, 5, 9)):
        nodes[at] = (ops(59), dtype, (), value, None)
    nodes[10] = (ops(add), dtype, (0, 1), None, None)
    nodes[11] = (ops(add), dtype, (10, 2), None, None)
    nodes[12] = (ops(add), dtype, (3, 2), None, None)
    rule = ("/lib/tinygrad/uop/symbolic.py", 40)
    rewrite = with_fields(
        classes["TrackedGraphRewrite"](),
        loc=("/lib/tinygrad/a.py", 7),
        sink=11,
        matches=[(10, 3, rule, 2e-6), (12, 4, rule, 1e-6)],
        name="fold",
        depth=0,
        bottom_up=False,
        walk=False,
    )
    inside = with_fields(classes["TrackedGraphRewrite"](), **{**vars(rewrite), "depth": 1})
    key = with_fields(classes["TracingKey"](), display_name="a schedule", ret=None)
    return with_fields(
        classes["RewriteTrace"](), keys=[key], rewrites=[[rewrite, inside]], uop_fields=nodes
    )


def imported(tmp_path: Path, data: bytes) -> Store:
    (tmp_path / "rewrites.pkl").write_bytes(data)
    path = tmp_path / "run.viz"
    import_dumps(argparse.Namespace(dumps=[str(tmp_path / "rewrites.pkl")], output=str(path)))
    return Store(path)


def test_a_file_becomes_a_trace(classes: dict[str, Any], tmp_path: Path) -> None:
    store = imported(tmp_path, pickle.dumps(a_file(classes)))
    assert store.run()["problems"] == []
    rows = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    assert [(row["name"], row["steps"]) for row in rows] == [("fold", 2), ("fold", 2)]
    assert rows[1]["parent"] == rows[0]["row"]
    file = store.files[0]
    for rewrite in file.rewrites.values():
        op, arg = file.nodes.field("op"), file.nodes.field("arg")
        steps = read_steps(file, rewrite).steps
        results = [file.text(int(arg[match.after])) for match, _ in steps]
        assert results == ["5", "9"]
        assert file.text(int(op[rewrite.result])) == "CONST"
        assert file.text(int(arg[rewrite.result])) == "9"
    assert [rule["name"] for rule in store.rules()] == ["symbolic.py:40"]
    store.close()


def test_a_file_of_another_version_is_refused(classes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"its ops are not those of tinygrad 0\.14"):
        imported(tmp_path, pickle.dumps(a_file(classes, add=24)))


def test_nothing_of_a_pickle_is_run(tmp_path: Path) -> None:
    touched = tmp_path / "touched"

    class Harm:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(touched),)

    made = read(io.BytesIO(pickle.dumps([Harm()])), "here")
    assert isinstance(made[0], Record) and made[0].named == "mkdir"
    assert not touched.exists()


HARMFUL = {
    "huge bytes": b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x0f.",
    "a class by number": b"\x80\x02\x82\x01.",
    "many classes": b"".join(b"cm%d\nn\n0" % n for n in range(600)) + b"N.",
    "nothing": b"",
    "not hashable": b"\x80\x02}]Ns.",
}


@pytest.mark.parametrize("data", HARMFUL.values(), ids=HARMFUL)
def test_harmful_pickles_are_refused(data: bytes) -> None:
    with pytest.raises(TraceError):
        read(io.BytesIO(data), "here")


def test_damaged_files_never_raise_anything_else(classes: dict[str, Any], tmp_path: Path) -> None:
    data = pickle.dumps(a_file(classes))
    chosen = random.Random(3)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(chosen.randint(1, 4)):
            damaged[chosen.randrange(2, len(damaged))] = chosen.randrange(256)
        try:
            imported(tmp_path, bytes(damaged)).close()
        except TraceError:
            continue
