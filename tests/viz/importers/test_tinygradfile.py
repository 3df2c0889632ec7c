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
from collections.abc import Callable
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
    dumps = [str(tmp_path / "rewrites.pkl")]
    import_dumps(argparse.Namespace(dumps=dumps, output=str(path), open=False, sources=None))
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


def within(levels: int) -> list[Any]:
    """A list of 200 times the same list, and so on: each level has 200 times the text."""
    value: list[Any] = [0] * 200
    for _ in range(levels):
        value = [value] * 200
    return value


def inside_itself(classes: dict[str, Any]) -> Any:
    number: list[Any] = []
    number.append(classes["Ops"](number))
    return number[0]


ODD_VALUES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a list that is in another one many times": lambda _: within(5),
    "a number of many digits": lambda _: 10**6000,
    "an op whose number holds the op": inside_itself,
}


@pytest.mark.parametrize("make", ODD_VALUES.values(), ids=ODD_VALUES)
def test_arguments_of_any_kind_are_text(
    classes: dict[str, Any], tmp_path: Path, make: Callable[[Any], Any]
) -> None:
    trace = a_file(classes)
    ops, dtype, sources, _, tag = trace.uop_fields[11]
    trace.uop_fields[11] = ops, dtype, sources, make(classes), tag
    store = imported(tmp_path, pickle.dumps(trace))
    assert len([row for row in store.tree()["rows"] if row["kind"] == "rewrite"]) == 2
    store.close()


ODD_FIELDS = {
    "a source that is a list": (2, ([], 1)),
    "a source that is no node": (2, (77, 1)),
}


@pytest.mark.parametrize(("at", "value"), ODD_FIELDS.values(), ids=ODD_FIELDS)
def test_nodes_of_another_form_are_refused(
    classes: dict[str, Any], tmp_path: Path, at: int, value: Any
) -> None:
    trace = a_file(classes)
    fields = [*trace.uop_fields[11]]
    fields[at] = value
    trace.uop_fields[11] = tuple(fields)
    with pytest.raises(TraceError, match=r"rewrites\.pkl cannot be read"):
        imported(tmp_path, pickle.dumps(trace))


def test_dtypes_of_any_form_are_text(classes: dict[str, Any], tmp_path: Path) -> None:
    trace = a_file(classes)
    pointer = type("PtrDType", (Made,), {"__module__": "tinygrad.uop"})
    vars(sys.modules["tinygrad.uop"])["PtrDType"] = pointer
    base = trace.uop_fields[0][1]
    for space in (classes["Ops"](), classes["Ops"]([])):
        value = pointer(0, 8, "int", None, 1, None, base, space, 1, 10**6000)
        ops, _, *rest = trace.uop_fields[12]
        trace.uop_fields[12] = (ops, value, *rest)
        imported(tmp_path, pickle.dumps(trace)).close()


@pytest.mark.parametrize("made", [b"\x8c\x01m\x8c\x01n\x93)\x81", b"}", b"]", b"("])
def test_what_a_pickle_makes_is_counted(made: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.importers.inert._MEMORY", 10_000)
    assert read(io.BytesIO(b"\x80\x04" + made + b"N."), "here") is None
    with pytest.raises(TraceError, match="holds too much"):
        read(io.BytesIO(b"\x80\x04" + made * 1000 + b"N."), "here")


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
