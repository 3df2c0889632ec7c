"""The command line: exit codes, sentences, and JSON."""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import viz
from core.errors import ServerError
from core.tensor import Tensor
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from viz.cli import main
from viz.command.line.parser import build_parser, commands_of
from viz.recording.runinfo import run_info
from viz.server.connections.listen import listen, listen_for, port_of
from viz.share.drawing import ADDED, REMOVED, drawing
from viz.share.html import export_html
from viz.views.runs.process import STRIDE
from viz.views.store import Store
from viz.write.writer import TraceWriter

ROOT = Path(__file__).resolve().parents[2]


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_show(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", trace)
    assert code == 0
    assert "schedule 2 kernels" in out
    assert "Slowest passes" in out
    assert re.search(r"\d+ +[\d.]+ (?:us|ms) +simplify", run(capsys, "show", trace, "--tree")[1])
    code, out, _ = run(capsys, "show", trace, 2)
    assert "add_zero" in out
    code, out, _ = run(capsys, "show", trace, 2, 1)
    assert re.search(r"^step 1 of \d+: \w+$", out, re.MULTILINE)
    for said in ("equation  ", "rule      tests/viz/samples.py:", "bound     "):
        assert said in out
    assert "\n-" in out


def test_json(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "show", trace, "--json")
    assert len(json.loads(out)["rows"]) == 6
    _, out, _ = run(capsys, "show", trace, 2, "--json")
    assert json.loads(out)["rewrite"] == 2
    _, out, _ = run(capsys, "stats", trace, "--json")
    stats = json.loads(out)
    assert stats["rewrites"] == 3
    assert stats["steps"] == sum(row["matches"] for row in stats["rules"])
    _, out, _ = run(capsys, "query", trace, "select count(*) n from matches", "--json")
    assert json.loads(out) == {"columns": ["n"], "rows": [[stats["steps"]]]}


def test_query_knows_every_table(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for sql, wanted in (
        ("select name from rewrites order by id", ["tidy", "simplify", "simplify"]),
        ("select count(*) > 5 from nodes", ["1"]),
        ("select count(*) > 5 from edges", ["1"]),
        ("select count(*) > 5 from rebuilds", ["1"]),
        ("select count(*) > 0 from declines", ["1"]),
        ("select sum(matches) = (select count(*) from matches) from rule_totals", ["1"]),
        ("select kind from artifacts", ["llvm", "llvm"]),
        ("select count(*) from launches", ["0"]),
        ("select count(*) from rules where source like '%def%'", ["7"]),
        ("select count(*) from meta where key = 'command'", ["1"]),
        ("select count(*) from contexts", ["3"]),
    ):
        code, out, _ = run(capsys, "query", trace, sql)
        assert (code, out.splitlines()[1:]) == (0, wanted), sql


@pytest.mark.parametrize(
    "sql",
    ["delete from nodes", "select", "attach 'x' as y", "pragma query_only=0", "select 1; select 2",
     "create table t(a)", "select load_extension('x')"],
)  # fmt: skip
def test_query_only_reads(trace: Path, capsys: pytest.CaptureFixture[str], sql: str) -> None:
    before = trace.read_bytes()
    code, out, err = run(capsys, "query", trace, sql)
    assert (code, out) == (2, "")
    assert err.startswith("uopviz: this query failed")
    assert "hint: " in err
    assert trace.read_bytes() == before


@pytest.mark.usefixtures("dist")
def test_export(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "bug.html"
    code, out, _ = run(capsys, "export", trace, "-o", target)
    assert code == 0
    assert f"{target.stat().st_size:,} bytes" in out
    assert target.read_text().startswith("<!doctype html>")
    code, _, err = run(capsys, "export", trace, "-o", tmp_path / "no" / "x.html")
    assert code == 2
    assert "cannot be written" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "missing.viz"], "uopviz: there is no such trace (missing.viz)"),
        (["show", __file__], "uopviz: this file is not a trace"),
        (["stats", "missing.viz"], "uopviz: there is no such trace"),
        (["open", "missing.viz", "--no-browser"], "uopviz: there is no such trace"),
        (["query", "missing.viz", "select 1"], "uopviz: there is no such trace"),
    ],
)
def test_a_problem_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)
    assert "Traceback" not in err
    assert err.count("\n") <= 2


def test_a_folder_is_no_trace(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    code, _, err = run(capsys, "show", folder)
    assert code == 2
    assert err == f"uopviz: this is a folder ({folder})\nhint: there is no trace in it\n"
    (folder / "a.viz").write_bytes(trace.read_bytes())
    assert run(capsys, "stats", folder)[2].endswith("hint: name a trace in it: a.viz\n")


@pytest.mark.parametrize("at", ["file", "folder"])
def test_a_file_that_may_not_be_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    at: str,
) -> None:
    def denied(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    (tmp_path / "a.viz").write_bytes(b"")
    with monkeypatch.context() as patch:
        patch.setattr(*((os, "open") if at == "file" else (Path, "stat")), denied)
        code, _, err = run(capsys, "show", tmp_path / "a.viz")
    assert code == 2
    assert err.startswith("uopviz: this file cannot be read: Permission denied (")
    assert "hint: check who may read it" in err


def test_a_query_that_writes_says_that_it_may_not(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "query", trace, "DELETE FROM nodes")
    assert code == 2
    assert err.startswith("uopviz: this query failed: a query only reads (DELETE FROM nodes)\n")


def test_numbers_that_are_not_there(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "show", trace, 999)
    assert (code, err.startswith("uopviz: there is no pass 999")) == (2, True)
    code, _, err = run(capsys, "show", trace, 2, 9999)
    assert (code, err.startswith("uopviz: there is no step 9999")) == (2, True)


def test_the_command_line_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["dance"],
        ["show", "--port", "1"],
        ["query", "t.viz"],
        ["graph", "t.viz"],
        ["export", "--budget", "-1"],
        ["export", "--budget", "0"],
        ["open", "--port", "99999"],
        ["open", "--port", "-1"],
    ):
        with pytest.raises(SystemExit) as error:
            main(arguments)
        assert error.value.code == 2
    with pytest.raises(SystemExit) as error:
        main(["--version"])
    assert error.value.code == 0
    assert capsys.readouterr().out.startswith("uopviz ")


def test_the_youngest_trace_is_the_default(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    code, _, err = run(capsys, "show")
    assert (code, "there is no trace yet" in err) == (2, True)
    (tmp_path / "uopviz").mkdir()
    trace.rename(tmp_path / "uopviz" / "run.viz")
    code, out, _ = run(capsys, "show")
    assert (code, "schedule 2 kernels" in out) == (0, True)


def test_a_terminal_is_not_driven_by_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with TraceWriter(tmp_path / "t.viz", {"command": ["\x1b]0;owned\x07"]}) as t:
        made = t.context_begin("\x1b[2J\r\nfake line", "kernel")
        step = t.rewrite_begin("\x9b31m", t.node("A\x1b[1m"), context=made)
        t.match(step, t.rule("\x1brule"), 1, t.node("B", arg="\x1b"), {}, 1)
        t.rewrite_end(step, 2)
        t.context_end(made)
    for arguments in (["show"], ["show", "--all"], ["stats"]):
        _, out, err = run(capsys, arguments[0], tmp_path / "t.viz", *arguments[1:])
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out + err)
        assert "\nfake line" not in out
    for extra in ([2], [2, 1]):
        _, out, _ = run(capsys, "show", tmp_path / "t.viz", *extra)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out)


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_what_is_nested_deep_is_indented_a_little(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        parent = 0
        for i in range(300):
            parent = t.context_begin(f"level {i}", parent=parent)
    code, out, _ = run(capsys, "show", tmp_path / "t.viz", "--tree")
    assert code == 0
    lines = [line for line in out.splitlines() if "level" in line]
    assert len(lines) == 300
    assert lines[3].index("level") - lines[2].index("level") == 2
    assert max(map(len, lines)) < 100


def test_serve(trace: Path) -> None:
    process = start("-m", "viz", "serve", trace)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S+", url)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        base, token = url.split("/?token=")
        asked = urllib.request.Request(f"{base}/api/A/run", headers={"X-Uopviz-Token": token})
        with opener.open(asked, timeout=10) as answer:
            assert json.load(answer)["totals"]["rewrites"] == 3
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0  # a busy machine may take a while
        assert process.stderr is not None
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.communicate()


def test_a_port_in_use(trace: Path) -> None:
    taken, _ = listen(0)
    with taken:
        port = taken.getsockname()[1]
        process = start("-m", "viz", "serve", trace, "--port", port)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (2, "")
        assert err.startswith(f"uopviz: port {port} cannot be used")
        process = start("-m", "viz", "serve", trace, UOPVIZ_PORT=str(port))
        try:
            assert process.stderr is not None
            assert f"port {port} is in use" in process.stderr.readline()
            assert process.stdout is not None
            assert process.stdout.readline().startswith("http://127.0.0.1:")
        finally:
            process.kill()
            process.communicate()


def test_a_trace_keeps_its_port(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is named and wherever from; what is asked for or wished comes first."""
    monkeypatch.chdir(trace.parent)
    usual = port_of(trace)
    assert usual == port_of(Path(trace.name)) == port_of(trace.parent / "x" / ".." / trace.name)
    ports = {port_of(trace.with_name(f"{i}.viz")) for i in range(200)}
    assert len(ports) > 150
    assert min(ports) >= 61_000 and max(ports) < 65_536
    for _ in range(2):
        sock, notice = listen_for(trace, None, None)
        with sock:
            assert (sock.getsockname(), notice) == (("127.0.0.1", usual), "")
            other, notice = listen_for(trace, None, None)  # it is taken: any other one, in silence
            with other:
                assert other.getsockname()[1] != usual
                assert notice == ""
    free, _ = listen(0)
    port = free.getsockname()[1]
    free.close()
    for asked, wished in ((port, usual), (None, port), (0, usual), (None, 0)):
        sock, notice = listen_for(trace, asked, wished)
        with sock:
            got = sock.getsockname()[1]
            assert got == port if port in (asked, wished) else got != usual
            assert notice == ""
            if asked:
                with pytest.raises(ServerError, match="cannot be used"):
                    listen_for(trace, asked, None)
            elif asked is None and wished:
                again, notice = listen_for(trace, None, wished)
                again.close()
                assert f"port {port} is in use" in notice


def test_a_server_started_again_has_the_port_of_before(trace: Path) -> None:
    for _ in range(2):
        process = start("-m", "viz", "serve", trace)
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(f"http://127.0.0.1:{port_of(trace)}/?token")
        finally:
            process.kill()
            process.communicate()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("value", ["abc", "-1", "70000", "²"])
def test_a_port_that_is_none(trace: Path, value: str) -> None:
    process = start("-m", "viz", "serve", trace, UOPVIZ_PORT=value)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "")
    assert err.startswith(f"uopviz: UOPVIZ_PORT={value!r} is not a port\nhint: ")


def test_every_argument_is_explained() -> None:
    commands = commands_of(build_parser())
    assert set(commands) >= {"open", "show", "export", "graph", "query"}
    for name, command in commands.items():
        for action in command._actions:
            assert action.help, f"{name} {action.dest}"


def test_every_command_leads_to_a_function() -> None:
    parser = build_parser()
    for command in (parser, *commands_of(parser).values()):
        module, _, function = str(command.get_default("run")).partition(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_show_a_group(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = Store(trace).tree()["rows"]
    kernel = next(row for row in rows if row["name"] == "kernel_1")
    code, out, _ = run(capsys, "show", trace, kernel["id"])
    lines = out.splitlines()
    assert (code, len(lines)) == (0, 3)
    assert "kernel_1" in lines[1]
    assert "simplify" in lines[2]
    code, _, err = run(capsys, "show", trace, kernel["id"], 1)
    assert code == 2
    assert "is a group of passes" in err


def test_a_number_alone_is_of_the_youngest_trace(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "uopviz").mkdir()
    whole = run(capsys, "show", trace, 2)[1], run(capsys, "show", trace, 2, 1)[1]
    trace.rename(tmp_path / "uopviz" / "run.viz")
    assert run(capsys, "show", 2)[:2] == (0, whole[0])
    assert run(capsys, "show", 2, 1)[:2] == (0, whole[1])
    assert run(capsys, "show", 2, 1, 1)[0] == 2


def test_a_port_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServerError, match="0 to 65535"):
        listen(70_000)

    def forbidden(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("socket.socket.bind", forbidden)
    with pytest.raises(ServerError, match="more rights"):
        listen(80)


def test_query_reads_all_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.viz"
    with viz.record(path) as recorder:
        graph_rewrite(random_graph(0), rules, name="main")
    with TraceWriter(tmp_path / "t.p7.viz", run_info(recorder.run, False)) as t:
        step = t.rewrite_begin("other", t.node("A"))
        t.match(step, t.rule("r"), 1, t.node("B"), {}, 1)
        t.rewrite_end(step, 2)
    asked = "select id, parent, sink, result from rewrites order by id desc limit 1"
    _, out, _ = run(capsys, "query", path, asked)
    assert out.splitlines()[1] == f"{STRIDE + 1}\t0\t{STRIDE + 1}\t{STRIDE + 2}"
    asked = "select w.name, n.op from matches m join rewrites w on w.id = m.rewrite"
    asked += f" join nodes n on n.id = m.after where m.rewrite > {STRIDE}"
    _, out, _ = run(capsys, "query", path, asked)
    assert out.splitlines()[1:] == ["other\tB"]


def test_graph(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "graph", trace, 2)
    assert code == 0
    assert out.startswith("digraph {")
    assert REMOVED[0] not in out, "the input graph has no changes"
    bundle = Store(trace).bundle(2)
    assert bundle is not None
    for k, step in enumerate(bundle["steps"], 1):
        _, out, _ = run(capsys, "graph", trace, 2, "--step", k)
        nodes = [line for line in out.splitlines() if re.match(r"  [rs]\d+ \[", line)]
        for look, slots in ((REMOVED, step["removed"]), (ADDED, step["added"])):
            marked = [line for line in nodes if f'label="{look[2]}' in line and look[0] in line]
            assert len(marked) == len(slots), (k, look)
        named = {line.split()[0] for line in nodes}
        for line in out.splitlines():
            if edge := re.match(r"  ([rs]\d+) -> ([rs]\d+) ", line):
                assert {edge[1], edge[2]} <= named, line
    target = tmp_path / "x.dot"
    assert run(capsys, "graph", trace, 2, "--step", 1, "-o", target)[0] == 0
    assert target.read_text() == run(capsys, "graph", trace, 2, "--step", 1)[1]
    for arguments, sentence in (
        ((2, "--step", 9999), "there is no step 9999"),
        ((1,), "is a group of passes"),
        ((2, "-o", "x.png"), "as .svg, .dot or .gv"),
    ):
        code, _, err = run(capsys, "graph", trace, *arguments)
        assert (code, sentence in err) == (2, True)


def test_graph_as_svg_needs_no_other_program(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    target = tmp_path / "x.svg"
    for step in (0, 1):
        assert run(capsys, "graph", trace, 2, "--step", step, "-o", target)[0] == 0
        root = ElementTree.fromstring(target.read_text())
        picture = drawing(Store(trace).bundle(2) or {}, step)
        boxes = root.findall("{*}g")
        assert [box.findtext("{*}title") for box in boxes] == [n.label for n in picture.nodes]
        paths = [path for path in root.findall("{*}path") if path.get("fill") == "none"]
        assert len(paths) == len(picture.edges)
        rows: dict[str, list[tuple[float, float]]] = {}
        for box in boxes:
            rect = box.find("{*}rect")
            assert rect is not None
            left = float(rect.get("x", ""))
            rows.setdefault(rect.get("y", ""), []).append(
                (left, left + float(rect.get("width", "")))
            )
        assert len(rows) > 3
        for places in rows.values():
            places.sort()
            assert all(a[1] < b[0] for a, b in pairwise(places)), "boxes overlap"
    target.write_text("mine")
    assert run(capsys, "graph", trace, 2, "-o", target)[0] == 2
    assert target.read_text() == "mine"


def test_names_as_people_say_them(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_name = run(capsys, "show", trace, "--kernel", "kernel_1")
    number = next(r["id"] for r in Store(trace).tree()["rows"] if r["name"] == "kernel_1")
    assert by_name == run(capsys, "show", trace, number)
    one = run(capsys, "show", trace, "--kernel", "kernel_1", "--pass", "simp", "--step", 1)
    assert one[0] == 0
    assert "in kernel_1" in one[1]
    for arguments, sentence, hint in (
        (("--kernel", "kernel"), "2 kernels answer to 'kernel'", "kernel_0"),
        (("--kernel", "kernel_7"), "there is no kernel 'kernel_7'", "did you mean kernel_"),
        (("--pass", "simplify"), "2 passes answer to 'simplify'", "simplify#2"),
        (("--pass", "simplifi"), "there is no pass 'simplifi'", "did you mean simplify?"),
    ):
        code, out, err = run(capsys, "show", trace, *arguments)
        assert (code, out) == (2, "")
        assert sentence in err
        assert hint in err
    _, out, _ = run(capsys, "query", trace, "select count(*) from rewrites", "--kernel", "kernel_1")
    assert out.splitlines()[1:] == ["1"]
    again = run(capsys, "graph", trace, "--pass", "simplify#2")
    assert again == run(capsys, "graph", trace, "--kernel", "kernel_1", "--pass", "simplify")


def test_the_youngest_traces_by_age_and_by_name(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "uopviz").mkdir()
    for age, name in enumerate(("digits-2", "digits-1", "other")):
        path = tmp_path / "uopviz" / f"{name}.viz"
        path.write_bytes(trace.read_bytes())
        os.utime(path, (10_000 - age, 10_000 - age))
    for said, name in (("-1", "digits-2"), ("-3", "other"), ("oth", "other")):
        code, _, err = run(capsys, "show", said)
        assert (code, err) == (0, f"uopviz: {tmp_path / 'uopviz' / name}.viz\n")
    for said, sentence in (
        ("digits", "2 traces have 'digits' in their name"),
        ("digit-3", "there is no such trace"),
        ("-4", "there is no trace -4"),
    ):
        code, _, err = run(capsys, "show", said)
        assert (code, sentence in err) == (2, True)


def test_slots_of_a_stranger_are_numbers(store: Store) -> None:
    """Text in their place would be read by Graphviz as links and files."""
    bundle = store.bundle(2)
    assert bundle is not None
    evil = '1 [URL="javascript:alert(1)", image="/etc/passwd"]; x'
    initial = bundle["initial"]
    count = len(initial["slot"])
    for changed in ({"slot": [f"{evil}{i}" for i in range(count)]}, {"src": [[evil]] * count}):
        with pytest.raises((ValueError, TypeError)):
            drawing({**bundle, "initial": {**initial, **changed}}, 0)


def test_texts_of_kernels_and_schedules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.viz"
    with viz.record(path):
        x = Tensor.ones(61, 53).contiguous()  # a shape of its own: kernels are compiled once
        (x - x.sum(1, keepdim=True)).max().realize()
    store = Store(path)
    kernel = store.kernels()[0]
    store.close()
    code, out, _ = run(capsys, "show", path, "--text")
    assert code == 0
    assert out.startswith("texts of schedule 3 kernels\n")
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["grouping", "order", "memory"]
    code, out, _ = run(capsys, "show", path, "--text", "order")
    assert (code, out.count("\nitem ")) == (0, 3)
    code, inside, _ = run(capsys, "show", path, "--pass", "group", "--text", "order")
    assert (code, inside) == (0, out)
    code, out, _ = run(capsys, "show", path, "--kernel", kernel, "--text", "linear", "--json")
    assert code == 0
    assert json.loads(out)["kind"] == "linear"
    code, out, err = run(capsys, "show", path, "--text", "ptx")
    assert (code, out) == (2, "")
    assert err == (
        "uopviz: schedule 3 kernels has no text 'ptx'\nhint: name one of: grouping, order, memory\n"
    )


def test_texts_are_in_an_export_without_its_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dist: Path
) -> None:
    path, made = tmp_path / "t.viz", tmp_path / "t.html"
    with viz.record(path):
        Tensor.ones(6, 5).contiguous().sum().realize()
    store = Store(path)
    html = export_html(store, page=dist).html
    store.close()
    made.write_text(re.sub(r'<script[^>]*id="uopviz-trace.*?</script>', "", html, flags=re.DOTALL))
    code, out, _ = run(capsys, "show", made, "--text", "memory")
    assert code == 0
    assert "intermediate result" in out


def test_a_run_without_a_schedule_has_no_text_of_one(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        alone = t.rewrite_begin("alone", t.node("A"))
        t.rewrite_end(alone, 1)
    for arguments, said in (
        ([], "this run has no schedule"),
        ([1], "number 1 is no part of a kernel or schedule"),
        ([77], "number 77 is no part of a kernel or schedule"),
    ):
        code, _, err = run(capsys, "show", tmp_path / "t.viz", *arguments, "--text")
        assert (code, err.startswith(f"uopviz: {said}")) == (2, True), err
