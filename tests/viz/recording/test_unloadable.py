"""A kernel whose text does not assemble: said by the trace, the commands and a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import core.compile
import core.launch.run
import viz
from core import Tensor
from core.errors import CompileError, TraceError
from core.toolchain import llvm_compiler
from tests.viz.test_cli import run
from viz.views.store import Store
from viz.write import entries
from viz.write.writer import TraceWriter


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The same program, of a compiler that is right and of one whose last text is none."""
    good, bad = tmp_path / "good.viz", tmp_path / "bad.viz"
    parse = llvm_compiler.parse
    monkeypatch.setattr(llvm_compiler, "_kept_object", llvm_compiler.object_code)

    def wrong(text: str) -> Any:
        return parse(text.replace("fadd", "no_such_opcode"))

    for path in (good, bad):
        x = Tensor([0.25, float(path == bad)]).realize()
        for kept in (
            *(core.compile._kept, core.launch.run._kept, core.launch.run._compiled),
            *(llvm_compiler.load, llvm_compiler._optimised),
        ):
            kept.cache_clear()
        with viz.record(path):
            (x * 8.125).realize()
            if path == bad:
                monkeypatch.setattr(llvm_compiler, "parse", wrong)
                with pytest.raises(CompileError):
                    (x + 6.125).realize()
            else:
                (x + 6.125).realize()
    return good, bad


def test_every_view_says_so(traces: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = traces
    store = Store(bad)
    (failed,) = [row for row in store.tree()["rows"] if row["status"] == "error"]
    (problem,) = store.run()["problems"]
    kernels = store.overview()["kernels"]
    store.close()
    assert failed["kind"] == "context" and failed["label"] == "kernel"
    assert problem["where"] == f"kernel {failed['name']}"
    assert "is not valid" in problem["what"]
    assert {k["name"] for k in kernels} >= {failed["name"]}
    for command in ("show", "stats"):
        code, out, _ = run(capsys, command, str(bad))
        assert code == 0
        assert f"problem: {problem['what']}" in out
    code, out, err = run(capsys, "diff", str(good), str(bad), "--fail-on", "errors")
    assert code == 1
    assert f"errors: {failed['name']}: CompileError" in err
    code, _, err = run(capsys, "diff", str(bad), str(good), "--fail-on", "errors")
    assert (code, err) == (0, "")


def test_a_kernel_that_was_compiled_before_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with viz.record(tmp_path / "t.viz") as recorder:
        kernel = (Tensor.empty(4) + 7.5).schedule()[0].ast
        recorder.unloadable(kernel, CompileError("no such instruction"))
    store = Store(tmp_path / "t.viz")
    (failed,) = [row for row in store.tree()["rows"] if row["status"] == "error"]
    (problem,) = store.run()["problems"]
    store.close()
    assert failed["label"] == "kernel"
    assert problem["what"] == "CompileError: no such instruction"


def test_a_context_that_ended_is_known_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MAX_ENDED", 2)
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        ended = [t.context_begin(f"k{i}", "kernel") for i in range(3)]
        for number in ended:
            t.context_end(number)
            t.flush()
        t.context_failed(ended[2], {"message": "late"})
        with pytest.raises(TraceError):
            t.context_failed(ended[0], {"message": "too late"})
    store = Store(tmp_path / "t.viz")
    rows = {row["name"]: row["status"] for row in store.tree()["rows"]}
    store.close()
    assert rows == {"k0": "ok", "k1": "ok", "k2": "error"}
