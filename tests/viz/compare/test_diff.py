"""`uopviz diff`: exit codes, what is printed, conditions, and what cannot be compared."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import TraceError
from tests.viz.compare.made import RULES, Program, opts, program, record
from tests.viz.test_cli import run
from viz.command.line.parser import build_parser
from viz.compare.gate import CONDITIONS, parse_gates
from viz.views.summary import names_apart
from viz.write.writer import TraceWriter

BEFORE = program(3, kernels=3)
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def a(tmp_path: Path) -> Path:
    return record(BEFORE, tmp_path / "a.viz").path


def changed(path: Path, made: Program) -> Path:
    return record(made, path).path


def test_equal_runs(a: Path, tmp_path: Path, capsys: Capture) -> None:
    b = changed(tmp_path / "b.viz", BEFORE)
    code, out, err = run(capsys, "diff", a, b)
    assert (code, err) == (0, "")
    assert "\nequal\n" in out
    assert "changed" not in out


def test_a_rule_that_is_off(a: Path, tmp_path: Path, capsys: Capture) -> None:
    b = changed(tmp_path / "b.viz", replace(BEFORE, rules=RULES[1:]))
    code, out, err = run(capsys, "diff", a, b)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert any(line.split()[:1] == ["add_zero"] and "gone" in line for line in lines)
    assert any("changed" in line and "pass first: step" in line for line in lines)
    assert "kernels: " in out


def test_every_kernel_is_listed_where_all_are_asked_for(
    a: Path, tmp_path: Path, capsys: Capture
) -> None:
    b = changed(tmp_path / "b.viz", BEFORE)
    out = run(capsys, "diff", a, b, "--all")[1]
    assert [line for line in out.splitlines() if line.strip().startswith("equal ")]
    assert sum(kernel.name in out for kernel in BEFORE.kernels) == 3


@pytest.mark.parametrize(
    ("conditions", "code", "said"),
    [
        ("changed", 1, "changed: 1 changed"),
        ("changed-kernels", 1, "changed-kernels: E_3_0_abcd"),
        ("added-kernels,removed-kernels,errors", 0, ""),
        ("more-kernels", 0, ""),
        ("more-steps:1000,gone-rules", 0, ""),
        (" added-kernels , changed ", 1, "changed: "),
    ],
)
def test_conditions(
    a: Path, tmp_path: Path, capsys: Capture, conditions: str, code: int, said: str
) -> None:
    kernels = (replace(BEFORE.kernels[0], opts=opts(4)), *BEFORE.kernels[1:])
    b = changed(tmp_path / "b.viz", replace(BEFORE, kernels=kernels))
    found, out, err = run(capsys, "diff", a, b, "--fail-on", conditions)
    assert (found, said in err) == (code, True)
    assert bool(err) == bool(said)
    assert "1 changed, 2 equal" in out


def test_every_condition_holds_where_it_should_and_only_there(tmp_path: Path) -> None:
    """Each on its own, on figures that are worse by a half: with and without enough allowed."""
    paths = [tmp_path / "a.viz", tmp_path / "b.viz"]
    for path, worse in zip(paths, (1.0, 1.5), strict=True):
        write_figures(path, worse)
    for name, condition in CONDITIONS.items():
        expected = {"changed", "changed-kernels", "added-kernels", "errors"}
        holds = condition.takes_factor or name in expected
        assert code_of(paths, name) == int(holds), name
        assert code_of([paths[0], paths[0]], name) == 0, name
        if condition.takes_factor:
            assert code_of(paths, f"{name}:1.3") == 1, name
            assert code_of(paths, f"{name}:3") == 0, name
    assert code_of(paths[::-1], "removed-kernels") == 1
    assert code_of(paths[::-1], "gone-rules") == 1


def code_of(paths: list[Path], conditions: str) -> int:
    from viz.cli import main  # its streams are those of the test that runs

    return main(["diff", *map(str, paths), "--fail-on", conditions, "--json"])


def about(name: str) -> dict[str, object]:
    return {"target": "mycpu", "metadata": [f"a:1 {name}"]}


def write_figures(path: Path, worse: float) -> None:
    """A run with two kernels (three, where it is worse) and all figures that conditions are on."""
    count = round(10 * worse)
    with TraceWriter(path, {"command": ["mycc"]}) as t:
        rules = [t.rule(name, "rules.cc", 1) for name in ("always", "sometimes")]
        for name in ("k_1", "k_2", "k_3")[: 3 if worse > 1 else 2]:
            kernel = t.context_begin(name, "kernel", meta=about(name), at=0)
            sink = t.node("load", "i32", arg=f'"{name}"')
            one = t.rewrite_begin("pass", sink, context=kernel)
            for n in range(count):
                after = t.node("load", "i32", arg=str(n))
                t.match(one, rules[worse > 1 and n > 9], sink, after, {}, 1)
                sink = after
            t.rewrite_end(one, sink, nodes=count)
            text = "op\n" * count
            t.kernel(kernel, name, target="mycpu", ast=sink, info={"bytes": 100 * count})
            t.artifact(kernel, "mycpu_asm", "mycpu", text, facts={"registers": str(count)})
            if worse > 1:
                bad = t.rewrite_begin("check", sink, context=kernel)
                t.rewrite_end(bad, error={"message": "no", "traceback": ""})
            t.context_end(kernel, at=100 * count)
        for _ in range(count):
            for name in ("k_1", "k_2"):
                t.launch(name, "CPU", 0, 1000 * count, 0)
        t.memory("CPU", 1000 * count)


@pytest.mark.parametrize(
    ("conditions", "what"),
    [
        ("slowr", "there is no condition 'slowr'"),
        ("slower:fast", "'fast' is no factor for slower"),
        ("slower:0.5", "'0.5' is no factor"),
        ("slower:nan", "'nan' is no factor"),
        ("slower:inf", "'inf' is no factor"),
        ("slower:", "'' is no factor"),
        ("changed:2", "changed takes no factor"),
        (",", "no condition is named"),
        ("", "no condition is named"),
    ],
)
def test_conditions_that_are_none(a: Path, capsys: Capture, conditions: str, what: str) -> None:
    with pytest.raises(TraceError):
        parse_gates(conditions)
    code, out, err = run(capsys, "diff", a, a, "--fail-on", conditions)
    assert (code, out) == (2, "")
    assert err.startswith(f"uopviz: {what}") and "\nhint: " in err


def test_a_condition_that_the_traces_do_not_say_is_no_pass(a: Path, capsys: Capture) -> None:
    for condition in ("slower", "more-registers", "more-memory", "slower-kernel"):
        code, _, err = run(capsys, "diff", a, a, "--fail-on", condition)
        assert (code, err.count("cannot be told")) == (2, 1)


def write_launches(path: Path, text: str, times: list[float]) -> Path:
    """A run with one kernel that was launched as often, in so many microseconds each."""
    with TraceWriter(path, {"command": ["mycc"]}) as t:
        kernel = t.context_begin("k_1", "kernel", meta=about("k_1"), at=0)
        sink = t.node("load", "i32", arg='"k_1"')
        t.kernel(kernel, "k_1", target="mycpu", ast=sink, info={})
        t.artifact(kernel, "mycpu_asm", "mycpu", text, facts={})
        t.context_end(kernel, at=100)
        for us in times:
            t.launch("k_1", "CPU", 0, round(1000 * us), 0)
    return path


def test_times_are_judged_by_repeated_launches(tmp_path: Path, capsys: Capture) -> None:
    """What was launched once is no basis for a claim; nor are launches that lie in each other."""
    near = [100.0 + 7 * n % 11 for n in range(40)]
    runs = {
        name: write_launches(tmp_path / f"{name}.viz", text, times)
        for name, text, times in (
            ("once", "one\n", [4.2]),
            ("other", "two\n", [2.36]),
            ("many", "one\n", near),
            ("same", "two\n", near[::-1]),
            ("slow", "two\n", [1.5 * us for us in near]),
            ("again", "one\n", [1.5 * us for us in near]),
        )
    }

    def time_of(b: str) -> str:
        out = run(capsys, "diff", runs["many"], runs[b])[1]
        row = next(line for line in out.splitlines() if "k_1" in line.split())
        assert row.endswith("k_1  the passes are equal, its texts differ") == (b != "again")
        return row

    def gate(a: str, b: str, condition: str) -> tuple[int, str]:
        code, _, err = run(capsys, "diff", runs[a], runs[b], "--fail-on", condition)
        return code, err

    for condition in ("slower", "slower-kernel"):
        code, err = gate("once", "other", condition)
        assert code == 2 and "not judged: each was launched once" in err
        assert gate("many", "once", condition)[0] == 2
        assert gate("many", "same", condition) == (0, "")
        assert gate("many", "slow", f"{condition}:1.6") == (0, "")
        assert gate("many", "slow", f"{condition}:1.2")[0] == 1
        assert gate("many", "again", f"{condition}:1.2")[0] == 1  # its machine code may differ
    assert "50% more time" in gate("many", "slow", "slower")[1]
    assert "50% more time" in time_of("slow")
    assert "no clear difference" in time_of("same")
    assert "0.022×" in time_of("other") and "time" not in time_of("other")
    both = run(capsys, "diff", runs["many"], runs["again"], "--json")[1]
    (scope,) = json.loads(both)["scopes"]
    assert scope["us"]["ratio"] is None, "the same code: times differ by chance"


def test_what_cannot_be_compared(a: Path, tmp_path: Path, capsys: Capture) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_text("no trace")
    for other, said in (
        (foreign, "uopviz: this file is not a trace"),
        (tmp_path / "missing.viz", "uopviz: there is no such trace"),
        (tmp_path, "is a folder, and"),
    ):
        for pair in ((a, other), (other, a)):
            code, out, err = run(capsys, "diff", *pair)
            assert (code, out) == (2, "")
            assert said in err and "Traceback" not in err and "\nhint: " in err
    for alone in (a, foreign, tmp_path / "missing.viz", tmp_path):
        code, out, err = run(capsys, "diff", alone)
        assert (code, out) == (2, "")
        assert "there is nothing to compare it with" in err and "\nhint: " in err


def test_a_damaged_trace_is_never_equal(a: Path, tmp_path: Path, capsys: Capture) -> None:
    whole = a.read_bytes()
    for size in (len(whole) // 2, len(whole) * 3 // 4, len(whole) - 4096):
        cut = tmp_path / "cut.viz"
        cut.write_bytes(whole[:size])
        for pair in ((a, cut), (cut, a), (cut, cut)):
            code, out, err = run(capsys, "diff", *pair)
            assert code == 2 if err else (code == 1 and "could not be read as a whole" in out)
            code, _, err = run(capsys, "diff", *pair, "--fail-on", "added-kernels")
            assert code == 2 and err.startswith("uopviz: ")


def test_other_versions_programs_and_compilers_are_said(
    a: Path, tmp_path: Path, capsys: Capture
) -> None:
    other = tmp_path / "other.viz"
    write_figures(other, 1.0)
    code, out, _ = run(capsys, "diff", a, other)
    assert code == 1
    assert "These are different programs" in out and "0 of 3 kernels begin with the same" in out
    assert "They are of different compilers: uopviz and" in out
    newer = tmp_path / "newer.viz"
    shutil.copy(a, newer)
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version = 9")
    db.close()
    code, out, _ = run(capsys, "diff", a, newer)
    assert code == 1
    assert "B has format version 9" in out or "newer than" in out


def test_two_traces_of_the_same_name(a: Path, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    shutil.copy(a, folder / a.name)
    assert run(capsys, "diff", a, folder / a.name)[0] == 0
    assert run(capsys, "diff", a, a)[0] == 0


def test_one_that_is_still_being_written(a: Path, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "live.viz"
    with TraceWriter(path, {"command": ["mycc"]}) as t:
        sink = t.node("load", "i32", arg='"a"')
        t.rewrite_begin("pass", sink)
        t.flush()
        code, out, err = run(capsys, "diff", path, a)
    assert (code, err) == (1, "")
    assert "removed" in out


def test_no_text_of_a_trace_reaches_the_terminal_as_it_is(
    a: Path, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "bad.viz"
    bad = "\x1b[2Jk"
    with TraceWriter(path, {"command": [bad], "versions": {bad: bad}, "flags": {bad: 1}}) as t:
        rule = t.rule(bad, bad, 1)
        kernel = t.context_begin(bad, "kernel", meta=about(bad))
        one = t.rewrite_begin(bad, t.node(bad, bad, arg='"a"'), context=kernel)
        t.match(one, rule, 1, t.node(bad, bad), {}, 1)
        t.rewrite_end(one, error={"message": bad, "traceback": bad})
        t.context_end(kernel)
    for pair in ((a, path), (path, a)):
        out = run(capsys, "diff", *pair, "--color", "never")[1]
        assert "\x1b" not in out and "\\x1b[2Jk" in out


def test_options_of_the_command() -> None:
    options = build_parser().parse_args(["diff", "a.viz", "b.viz"])
    assert (options.a, options.b, options.fail_on) == ("a.viz", "b.viz", None)


def test_json_goes_with_conditions(a: Path, tmp_path: Path, capsys: Capture) -> None:
    b = changed(tmp_path / "b.viz", replace(BEFORE, rules=RULES[1:]))
    code, out, err = run(capsys, "diff", a, b, "--json", "--fail-on", "gone-rules")
    assert code == 1
    assert json.loads(out)["failed"] == ["gone-rules: add_zero"]
    assert err == "uopviz: gone-rules: add_zero\n"


def test_the_exit_code_is_that_of_the_result_though_nobody_reads_it(
    a: Path, tmp_path: Path
) -> None:
    b = changed(tmp_path / "b.viz", replace(BEFORE, rules=RULES[1:]))
    for words, expected in (((a, b), 1), ((a, b, "--json"), 1), ((a, a), 0)):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [sys.executable, "-m", "viz", "diff", *map(str, words)], stdout=writer, stderr=-1
        )
        os.close(writer)
        assert (done.returncode, done.stderr) == (expected, b"")


def test_files_of_one_name_are_told_apart(a: Path, tmp_path: Path, capsys: Capture) -> None:
    for folder in ("before", "now"):
        (tmp_path / folder).mkdir()
        shutil.copy(a, tmp_path / folder / "t.viz")
    out = run(capsys, "diff", tmp_path / "before/t.viz", tmp_path / "now/t.viz")[1]
    assert [line.split()[-1] for line in out.splitlines()[:2]] == ["before/t.viz", "now/t.viz"]
    out = run(capsys, "diff", a, tmp_path / "now/t.viz")[1]
    assert [line.split()[-1] for line in out.splitlines()[:2]] == ["a.viz", "t.viz"]
    paths = [Path("/x/a/t.viz"), Path("/x/b/t.viz"), Path("/y/a/t.viz"), Path("/x/a/t.viz")]
    assert names_apart(paths) == ["x/a/t.viz", "b/t.viz", "y/a/t.viz", "x/a/t.viz"]


def test_what_one_run_does_not_state_is_a_dash(tmp_path: Path, capsys: Capture) -> None:
    for name, flags in (("a", {"OPT": 1}), ("b", {"OPT": 1, "BEAM": 0}), ("none", {})):
        with TraceWriter(tmp_path / f"{name}.viz", {"flags": flags}):
            pass
    out = run(capsys, "diff", tmp_path / "a.viz", tmp_path / "b.viz")[1]
    (line,) = [line for line in out.splitlines() if "BEAM" in line]
    assert line.split() == ["flag", "BEAM", "-", "0"]
    out = run(capsys, "diff", tmp_path / "none.viz", tmp_path / "b.viz")[1]
    assert "BEAM" not in out
    (line,) = [line for line in out.splitlines() if line.split()[:1] == ["flags"]]
    assert line.split() == ["flags", "not", "recorded", "recorded"]


def test_the_time_of_rules(tmp_path: Path, capsys: Capture) -> None:
    for name, ns in (("a", 1000), ("b", 4000)):
        with TraceWriter(tmp_path / f"{name}.viz", {}) as t:
            x, y = t.node("CONST", "int", arg="1"), t.node("CONST", "int", arg="2")
            for at in range(2):
                made = t.rewrite_begin("pass", x, at=at)
                t.match(made, t.rule("slow", "rules.py", 1), x, y, {}, ns)
                t.match(made, t.rule("untimed", "rules.py", 2), y, x, {}, 0)
                t.rewrite_end(made, x)
    _, out, _ = run(capsys, "diff", tmp_path / "a.viz", tmp_path / "b.viz", "--json")
    times = {rule["name"]: rule["us"] for rule in json.loads(out)["rules"]}
    assert times == {"slow": {"a": 2, "b": 8}, "untimed": {"a": None, "b": None}}


def test_kernels_whose_texts_differ_come_first(tmp_path: Path, capsys: Capture) -> None:
    """Times of the same text differ by chance, however much."""
    for name, rule, text, ns in (("a", "add", "x = 1", 1_000), ("b", "sub", "x = 2", 9_000_000)):
        with TraceWriter(tmp_path / f"{name}.viz", {}) as t:
            for kernel, own, time in (("same", "y = 1", ns), ("other", text, 1_000)):
                x = t.node("CONST", "int", arg=kernel)
                group = t.context_begin(kernel, "kernel")
                t.kernel(group, kernel, target="x86-64", device="CPU", ast=x)
                made = t.rewrite_begin("pass", x, context=group)
                after = t.node("CONST", "int", arg=rule)
                t.match(made, t.rule(rule, "rules.py", 1), x, after, {}, 0)
                t.rewrite_end(made, after)
                t.artifact(group, "c", "x86-64", own)
                t.context_end(group)
                t.launch(kernel, "CPU", 0, time)
    _, out, _ = run(capsys, "diff", tmp_path / "a.viz", tmp_path / "b.viz", "--json")
    listed = [(scope["name"]["a"], scope["us"]["b"]) for scope in json.loads(out)["scopes"]]
    assert listed == [("other", 1), ("same", 9000)]
