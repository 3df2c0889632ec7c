"""Which dialect a trace is in, and that no adapter and no trace can end a view."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.errors import EnvError
from core.uop.ops import GroupOp, Ops
from viz.cli import main
from viz.dialect import registry
from viz.dialect.dialect import Action, ContextKind, Dialect, Fact, Op
from viz.dialect.registry import dialect_of
from viz.dialect.saidfacts import View, each_node
from viz.format.schema import CORE_DIALECT
from viz.read.records import Role
from viz.recording.runinfo import run_info
from viz.share.copy import write_trace
from viz.views.store import Store
from viz.write.writer import TraceWriter

OTHER = {"name": "mycc", "version": 3}


def write(path: Path, info: dict[str, object]) -> int:
    """A pass over -7 / 2, in the words of `core`; its number."""
    with TraceWriter(path, {"command": ["mycc"], **info}) as t:
        seven, two = (t.node("CONST", "int32", arg=str(n)) for n in (-7, 2))
        quotient = t.node("IDIV", "int32", (seven, two))
        root = t.node("SINK", "void", (quotient,), extra={"shape": "4x4"})
        rewrite = t.rewrite_begin("fold", root)
        t.match(rewrite, t.rule("r"), quotient, t.node("CONST", "int32", arg="-4"), {}, ns=1)
        t.rewrite_end(rewrite, root)
    return rewrite


@contextmanager
def opened(path: Path, **info: object) -> Generator[tuple[dict[str, str], list[Any], Store]]:
    """The lower bound of each op of such a trace as it is shown, its problems, and the run."""
    rewrite = write(path, {"ended": 1.0, **info})
    store = Store(path)
    bundle = store.bundle(rewrite)
    assert bundle is not None and len(bundle["steps"]) == 1
    lows = {
        bundle["ops"][op]: low
        for op, low in zip(bundle["nodes"]["op"], bundle["nodes"]["lo"], strict=True)
    }
    assert bundle["shapes"] == ["4x4"], "what a node says of itself is always shown"
    yield lows, store.run()["problems"], store
    store.close()


def install(monkeypatch: pytest.MonkeyPatch, dialect: Dialect) -> None:
    def find(name: str, named: str = "") -> Dialect:
        return dialect

    monkeypatch.setattr(registry, "find", find)


def test_another_compilers_division_is_its_own(tmp_path: Path) -> None:
    """C truncates -7 / 2 to -3; another compiler may not, and nothing is worked out for it."""
    with opened(tmp_path / "t.viz") as (lows, problems, store):
        assert (lows["IDIV"], lows["CONST"], problems) == ("", "", [])
        assert not store.compiles and not store.is_of_core


@pytest.mark.parametrize(
    "info",
    [
        {"dialect": CORE_DIALECT},
        {"compiler": "uopviz"},
        {"flags": {"VIZ": 1}},
        {"dialect": CORE_DIALECT, "compiler": "mycc"},
    ],
)
def test_what_core_wrote_is_cores_in_old_traces_too(tmp_path: Path, info: dict[str, Any]) -> None:
    with opened(tmp_path / "t.viz", **info) as (lows, problems, store):
        assert (lows["IDIV"], problems) == ("-3", [])
        assert store.compiles and store.is_of_core


def test_the_recorder_says_its_dialect() -> None:
    assert run_info(None, True)["dialect"] == CORE_DIALECT


def floor(op: str, dtype: str, arg: str, src: tuple[View, ...]) -> Fact:
    if op == "CONST":
        return Fact(low=arg, high=arg)
    if op == "IDIV":
        low = int(src[0].fact.low) // int(src[1].fact.low)
        return Fact(low=str(low), high=str(low))
    return Fact()


def test_facts_are_the_dialects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Dialect(name="mycc", version=3, facts=each_node(floor)))
    with opened(tmp_path / "t.viz", dialect=OTHER) as (lows, problems, _):
        assert (lows["IDIV"], problems) == ("-4", [])


class Nonsense:
    """Facts that are none."""

    def __init__(self, found: object) -> None:
        self._found = found

    def of(self, nodes: Sequence[int]) -> Any:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found

    def left_out(self, nodes: Sequence[int]) -> list[str]:
        return []


def explodes(*_: object) -> Any:
    raise ZeroDivisionError("of the adapter")


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        (Dialect(name="mycc", version=2), "is newer than version 2"),
        (None, "is not installed"),
        (Dialect(name="mycc", version=3, facts=explodes), "ZeroDivisionError: of the adapter"),
        (Dialect(name="mycc", version=3, facts=each_node(explodes)), "ZeroDivisionError"),
        *(
            (Dialect(name="mycc", version=3, facts=lambda _, f=found: Nonsense(f)), said)
            for found, said in (
                ([], "no texts of each node"),
                (None, "no texts of each node"),
                (7, "no texts of each node"),
                ([("", 1, "", "", "")] * 5, "no texts of each node"),
                ([Fact(low=7)] * 5, "no texts of each node"),  # type: ignore[arg-type]
                (EnvError("out of its mind"), "out of its mind"),
            )
        ),
    ],
)
def test_an_adapter_that_fails_is_one_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: Dialect | None, said: str
) -> None:
    install(monkeypatch, dialect)  # type: ignore[arg-type]
    with opened(tmp_path / "t.viz", dialect=OTHER) as (lows, problems, store):
        assert lows["IDIV"] == ""
        (problem,) = problems
        assert said in problem["what"] and "mycc 3" in problem["where"]
        assert store.bundle(1) is not None and store.run()["problems"] == problems


@pytest.mark.parametrize(
    "stated", [7, [], {}, {"name": 5}, {"name": "x" * 5000, "version": "1"}, {"name": "a\x00b"}]
)
def test_a_dialect_that_is_none(tmp_path: Path, stated: object) -> None:
    with opened(tmp_path / "t.viz", dialect=stated) as (lows, problems, _):
        assert lows["IDIV"] == "" and len(problems) <= 1


ADAPTER = """
from viz.dialect.dialect import Dialect, Op
DIALECT = Dialect(name="mycc", version=3, ops={"IDIV": Op(group="arithmetic")})
"""


def test_the_user_names_an_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mycc.py"
    file.write_text(ADAPTER)
    monkeypatch.setenv("UOPVIZ_DIALECTS", f" {file},")
    with opened(tmp_path / "t.viz", dialect=OTHER) as (_, problems, store):
        assert problems == [] and store.dialect.ops["IDIV"].group == "arithmetic"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "FileNotFoundError"),
        ("DIALECT = 7", "no viz.dialect"),
        ("x = 1 / 0", "ZeroDivisionError"),
        (ADAPTER.replace('"arithmetic"', '"loud"'), "no Op of a group for 'IDIV'"),
    ],
)
def test_an_adapter_that_the_user_names_wrongly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, said: str
) -> None:
    file = tmp_path / "wrong.py"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("UOPVIZ_DIALECTS", str(file))
    write(tmp_path / "t.viz", {"dialect": OTHER})
    with pytest.raises(EnvError, match=said):
        Store(tmp_path / "t.viz")


def test_no_trace_says_what_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that can be imported, and a file that is there, under all names that a trace has."""
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("evil", "evil:DIALECT", "evil.py", str(tmp_path / "evil.py"), "../evil"):
        with opened(tmp_path / f"{len(name)}.viz", dialect={"name": name, "version": 1}) as found:
            assert "is not installed" in found[1][0]["what"]
    assert "evil" not in sys.modules and "uopviz_dialect_evil" not in sys.modules


def test_arguments_and_searches_are_the_dialects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A foreign ADD commutes where its dialect says so, and its objects are written as it says."""

    def write_sum(path: Path) -> None:
        with TraceWriter(path, {"command": ["mycc"], "ended": 1.0, "dialect": OTHER}) as t:
            view = t.node("LOAD", "int32", arg='{"view":{"shape":[2]}}')
            root = t.node("ADD", "int32", (view, t.node("CONST", "int32", arg="1")))
            t.rewrite_end(t.rewrite_begin("p", root), root)

    def hits_and_args() -> tuple[int, list[str]]:
        store = Store(tmp_path / "t.viz")
        found = store.search("ADD(CONST, LOAD)")["total"], sorted(store.bundle(1)["args"])  # type: ignore[index]
        store.close()
        return found

    write_sum(tmp_path / "t.viz")
    install(monkeypatch, Dialect(name="mycc", version=3))
    assert hits_and_args() == (0, ["(2,)", "1"])
    ops = {"ADD": Op(commutes=True)}
    spelled = Dialect(name="mycc", version=3, ops=ops, spell=lambda fields, show: "|".join(fields))
    install(monkeypatch, spelled)
    assert hits_and_args() == (1, ["1", "view"])
    install(monkeypatch, Dialect(name="mycc", version=3, ops=ops, spell=explodes))
    assert hits_and_args()[1] == ["(2,)", "1"]


def test_cores_adapter_knows_every_op_and_action() -> None:
    core = registry.find(str(CORE_DIALECT["name"]))
    assert core is not None and core.actions == frozenset(Action)
    assert [*core.ops] == [op.name for op in Ops]
    groups = {name: op.group for name, op in core.ops.items()}
    assert groups["LDMATRIX"] == groups["COPY_ASYNC"] == "memory"
    assert groups["COMMIT"] == groups["WAIT"] == "control" and groups["SHUFFLE"] == "movement"
    arithmetic = {name for name, group in groups.items() if group == "arithmetic"}
    assert arithmetic == {op.name for op in GroupOp.Elementwise}


def test_kinds_of_contexts_are_the_dialects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a trace calls functions and plans is a kernel and a schedule to the explorer."""
    contexts: dict[Role, ContextKind] = {
        "kernel": ContextKind("function", "functions", ("func", "proc")),
        "schedule": ContextKind("plan", "plans", ("plan",)),
    }
    install(monkeypatch, Dialect(name="mycc", version=3, contexts=contexts))
    path = tmp_path / "t.viz"
    with TraceWriter(path, {"command": ["mycc"], "dialect": OTHER, "ended": 1.0}) as t:
        for name, kind in (("p", "plan"), ("f", "func"), ("g", "proc"), ("h", "kernel"), ("i", "")):
            context = t.context_begin(name, kind)
            root = t.node("CONST", "int32", arg="1")
            t.rewrite_end(t.rewrite_begin("fold", root, context=context), root)
            t.context_end(context)
    store = Store(path)
    labels = [(r["name"], r["label"]) for r in store.tree()["rows"] if r["kind"] == "context"]
    assert labels == [("p", "schedule"), *((n, "kernel") for n in "fgh"), ("i", "group")]
    assert len(store.kernels()) == store.run()["totals"]["kernels"] == 3
    assert store.run()["dialect"]["contexts"] == {
        "kernel": {"title": "function", "plural": "functions"},
        "schedule": {"title": "plan", "plural": "plans"},
    }
    copy = tmp_path / "copy.viz"
    write_trace(store, copy)
    kinds = [context.kind for context in Store(copy).files[0].contexts.values()]
    assert kinds == ["plan", "func", "proc", "kernel", ""], "a copy says what the trace said"
    assert main(["show", str(path)]) == 0


def test_what_the_page_is_told_of_devices_and_targets() -> None:
    data = dialect_of({"dialect": CORE_DIALECT}).dialect.data()
    assert data["devices"]["REFERENCE"] == "Reference, NumPy"
    assert data["reference"] == "REFERENCE" and data["usual"] == ["sm_90", "gfx942"]
    assert data["ops"]["SINK"]["passing"] is True
