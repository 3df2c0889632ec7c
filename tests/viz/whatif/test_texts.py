"""Edited texts as variants: checked, run, timed, kept, compared, carried by scripts."""

from __future__ import annotations

import ast as python
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.compile import compile_kernel
from core.errors import CompileError, ServerError, UopvizError
from core.runtime.device import Device
from core.target import Target, target_named
from core.toolchain import sass
from core.uop.data.serial import from_data, to_data
from tests.core.passes.kernels import elementwise
from tests.viz.test_json import SHAPES
from tests.viz.whatif.running import Here, kernel_named, record
from viz.cli import main
from viz.compare.comparison import Comparison
from viz.corecommand.whatif import attempt_lines
from viz.terminal import plain
from viz.views.store import Store
from viz.whatif import worker
from viz.whatif.attempt import attempt
from viz.whatif.reproduce import on_bindings, reproduction
from viz.whatif.scripts.script import script_text
from viz.whatif.subject import subject_of
from viz.whatif.variants.recompile import compile_variant
from viz.whatif.variants.rows import variant_row
from viz.whatif.variants.tried import keep, kept_one
from viz.whatif.variants.variant import EditedText, Variant

Data = dict[str, Any]
ONE, FIVE = "float 1.000000e+00", "float 5.000000e+00"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    record(tmp_path / "run.viz")
    made = Store(tmp_path / "run.viz")
    yield made
    made.close()


def kernel_of(store: Store) -> int:
    """x * 2 + 1, elementwise."""
    return kernel_named(store, "E_")


def recorded_text(store: Store) -> str:
    text = subject_of(store, kernel_of(store)).text
    assert text is not None and text[0] == "llvm"
    return text[1]


def tried(store: Store, text: EditedText, target: str = "", **options: Any) -> Data:
    variant = Variant(target=target, text=text)
    return attempt(store, kernel_of(store), variant, executor=Here(), **options)


def emulated() -> Target:
    target = Device["PTX:EMU"].target
    assert target is not None
    return target


def ptx_of(store: Store) -> str:
    ast, _ = worker.kernel_of(subject_of(store, kernel_of(store)).data())
    return compile_kernel(ast, emulated()).source.text


def test_a_text_is_run_in_turn_with_the_recorded_one(store: Store) -> None:
    own = recorded_text(store)
    made = tried(store, EditedText("llvm", own, "CPU"))
    assert SHAPES.problems(made, "WhatIf") == []
    assert made["variant"]["said"] == "edited LLVM IR (+0 -0)"
    assert made["device"] == "CPU" and made["outcome"]["equal"]
    assert made["times"]["low"] <= made["times"]["ratio"] <= made["times"]["high"]
    assert made["code"] == made["oldCode"]
    wrong = tried(store, EditedText("llvm", own.replace(ONE, FIVE), "CPU"))
    assert wrong["outcome"]["equal"] is False
    assert "in place of" in wrong["outcome"]["said"]
    assert wrong["edited"]["added"] == wrong["edited"]["removed"] > 0
    (source,) = wrong["differences"]["sources"]
    assert (source["kind"], source["equal"]) == ("llvm", False)
    assert wrong["differences"]["passes"] == wrong["differences"]["rules"] == []
    assert wrong["differences"]["pair"]["first"] is None
    said = "\n".join(map(plain, attempt_lines(wrong)))
    assert "no pass made the text" in said and "the llvm text differs" in said
    assert "opts" not in said


def test_a_text_that_is_refused_says_where(store: Store) -> None:
    text = recorded_text(store).replace("entry:", "entry:\n  nonsense", 1)
    made = tried(store, EditedText("llvm", text, "CPU"))
    assert SHAPES.problems(made, "WhatIf") == []
    assert made["error"]["where"].startswith("line ")
    assert made["outcome"] is None and made["kept"]["number"] == 1


def test_an_emulated_device_counts_instructions(store: Store) -> None:
    text = EditedText("ptx", ptx_of(store), "PTX:EMU")
    made = tried(store, text, emulated().name)
    assert made["device"] == "PTX:EMU" and made["outcome"]["equal"]
    assert made["times"] is None
    assert any("PTX:EMU counts instructions" in note for note in made["notes"])
    with pytest.raises(UopvizError, match=r"PTX:EMU runs code for sm_.*, and this text is"):
        tried(store, text)


def test_nothing_else_is_run_in_place_of_a_text(store: Store) -> None:
    """The linear program is that of the compiler: it says nothing of an edited text."""
    made = tried(store, EditedText("ptx", "nonsense", "PTX:EMU"), emulated().name)
    assert made["error"] is not None and made["outcome"] is None and made["device"] is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"text": 3}, "no edited text"),
        ({"text": {"kind": "llvm", "text": "x"}}, "no edited text"),
        ({"text": {"kind": "llvm", "text": 3, "device": "CPU"}}, "no edited text"),
        ({"text": {"kind": "exe", "text": "x", "device": "CPU"}}, "no device runs an edited 'exe'"),
        ({"text": {"kind": "ptx", "text": "x", "device": "C" * 500}}, "no device runs an edited"),
        ({"text": {"kind": "llvm", "text": "x" * (1 << 20), "device": "CPU"}}, "too long"),
        ({"text": {"kind": "llvm", "text": "x", "device": "CPU"}, "stop_after": 1}, "of a whole"),
        ({"text": {"kind": "llvm", "text": "x", "device": "CPU"}, "inside": "a"}, "of a whole"),
    ],
)
def test_what_is_no_edited_text(data: Data, said: str) -> None:
    with pytest.raises(ServerError, match=said):
        Variant.from_data(data)


def test_two_texts_are_compared_by_their_source(store: Store) -> None:
    own = recorded_text(store)
    for text in (own, own.replace(ONE, FIVE)):
        tried(store, EditedText("llvm", text, "CPU"), running=False)
    kept = [kept_one(store.path, number) for number in (1, 2)]
    runs = [store, *(Store(one.path) for one in kept if one is not None)]
    for a, b, what in ((0, 2, "B is a text"), (1, 2, "A is a text")):
        made = Comparison(runs[a], runs[b])
        overview = made.overview()
        assert any(note.startswith(what) for note in overview["notes"])
        assert overview["runs"]["b"]["edited"] is True and overview["equal"] is False
        assert overview["rules"] == overview["passes"] == []
        (scope,) = (s for s in overview["scopes"] if s["kind"] == "kernel")
        assert scope["state"] == "changed" and scope["first"] is None
        assert scope["by"] == "structure"
        sources = made.scopes(scope["a"], scope["b"])
        assert sources is not None
        assert [(s["kind"], s["equal"]) for s in sources["sources"]] == [("llvm", False)]
    assert Comparison(runs[0], runs[1]).overview()["scopes"][0]["state"] == "equal"
    for run in runs[1:]:
        run.close()


def test_rows_of_texts_hold_no_text(store: Store) -> None:
    tried(store, EditedText("llvm", recorded_text(store), "CPU"), running=False)
    one = kept_one(store.path, 1)
    assert one is not None and one.variant.text is not None
    row = variant_row(one)
    assert row["variant"]["edited"] == "llvm"
    assert "define void" not in json.dumps(row)


def test_a_script_holds_the_text_to_the_character(store: Store) -> None:
    hostile = "x\u2028y\x0bz\r\n'''\"\"\"\\\n#\ttext without an end of line"
    graph = to_data([elementwise((2, 2)).ast])
    for text in (hostile, ""):
        variant = Variant(text=EditedText("llvm", text, "CPU"))
        script = script_text("k", graph, "x86-64", {}, variant)
        assert script.isascii()
        python.parse(script)
        scope: Data = {}
        exec(script.partition("\nast = ")[0], scope)
        assert Variant.from_data(scope["VARIANT"]) == variant


def test_the_script_of_a_kept_text_runs(store: Store, tmp_path: Path) -> None:
    text = recorded_text(store).replace(ONE, FIVE)
    tried(store, EditedText("llvm", text, "CPU"), running=False)
    out = tmp_path / "repro.py"
    assert main(["script", str(store.path), "--variant", "1", "-o", str(out)]) == 0
    assert FIVE in out.read_text()
    done = subprocess.run([sys.executable, str(out)], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "edited LLVM IR, on CPU: data0 is off by" in done.stdout


def test_a_script_for_the_bindings_holds_the_text(store: Store) -> None:
    text = ptx_of(store) + "// the reader was here\n"
    variant = Variant(target=emulated().name, text=EditedText("ptx", text, "CUDA"))
    made = on_bindings(store, kernel_of(store), variant, executor=Here())
    assert "// the reader was here" in made.text
    llvm = Variant(text=EditedText("llvm", recorded_text(store), "CPU"))
    with pytest.raises(CompileError, match="holds PTX, and this is llvm"):
        on_bindings(store, kernel_of(store), llvm, executor=Here())


def test_a_text_is_not_made_smaller(store: Store) -> None:
    variant = Variant(text=EditedText("llvm", "x", "CPU"))
    with pytest.raises(ServerError, match="a smaller kernel would need another text"):
        reproduction(store, kernel_of(store), variant, minimal=True)


def test_the_commands(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, file = str(store.path), tmp_path / "mine.ll"
    file.write_text(recorded_text(store).replace(ONE, FIVE))
    words = ["what-if", trace, "--kernel", "E_", "--text", str(file)]
    assert main(words) == 1  # its result is wrong
    assert "edited LLVM IR (+" in capsys.readouterr().out
    assert main(["variants", trace]) == 0
    (row,) = capsys.readouterr().out.splitlines()[1:]
    assert "edited LLVM IR (+" in row and row.endswith("wrong")
    for more, said in (
        ([*words, "--stop-after", "3"], "of a whole compilation"),
        ([*words[:-1], str(tmp_path / "none.ll")], "cannot be read"),
        ([*words[:-1], trace], "ending of this file names no text"),
        (["script", trace, "--variant", "9"], "no variant 9"),
        (["script", trace, "--variant", "1", "--minimise"], "another text"),
    ):
        assert main(more) == 2
        assert said in capsys.readouterr().err, more
    for more in ([], ["--variant", "1", "--opts", ""], ["--variant", "1", "--kernel", "E_"]):
        with pytest.raises(SystemExit):
            main(["script", trace, *more])


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU"])
def test_a_text_keeps_the_opts_and_rules_that_it_was_made_with(
    store: Store, device: str, tmp_path: Path
) -> None:
    """Without its optimisations a kernel has another grid: the text of one in the launch of the
    other computes a part of the result, or goes beyond it."""
    number = kernel_named(store, "r_")
    target = Device[device].target
    assert target is not None
    graph = subject_of(store, number).graph
    way = Variant(opts="", skip=("multiply_add",), target="" if device == "CPU" else target.name)
    made = compile_variant(from_data(graph)[0], target, way).program
    assert made is not None
    text = EditedText(made.source.kind, made.source.text, device)
    found = attempt(store, number, replace(way, text=text), executor=Here())
    assert found["error"] is None and found["outcome"]["equal"], found
    assert found["edited"] == {"added": 0, "removed": 0}
    assert found["variant"]["said"].startswith("without multiply_add; no opts; edited ")
    one = kept_one(store.path, 1)
    assert one is not None and one.variant == replace(way, text=text)
    out = tmp_path / "repro.py"
    assert main(["script", str(store.path), "--variant", "1", "-o", str(out)]) == 0
    done = subprocess.run([sys.executable, str(out)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_lies_beside_a_trace_names_no_kernel(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    text = {"kind": "llvm", "text": "x", "device": "CPU"}
    for kernel, variant in ((1 << 40, {"text": text}), (1, {"text": 3}), (kernel_of(store), 3)):
        number = keep(store.path, kernel, "k", {"variant": variant}, b"").number
        assert main(["script", str(store.path), "--variant", str(number)]) == 2
        assert capsys.readouterr().err


def test_machine_code_of_a_text_without_nodes() -> None:
    """The lines of an edited text belong to no nodes."""
    made = compile_kernel(elementwise((8, 8)).ast, target_named("sm_90"))
    located = vars(sass)["_located"]
    plain_text = located(replace(made, source=replace(made.source, lines=())), 0)
    assert ".loc" not in plain_text and made.source.text.strip() in plain_text
    assert ".loc" in located(made, 0)
