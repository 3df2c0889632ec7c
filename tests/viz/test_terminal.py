"""No text of a trace, of an exported file, of a path or of a message drives a terminal."""

from __future__ import annotations

import ast
import base64
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.viz.pseudoterminal import in_terminal
from tests.viz.test_cli import run
from viz.format.schema import META
from viz.share.html import export_html
from viz.terminal import clean, width
from viz.views.store import Store
from viz.write.writer import TraceWriter

ROOT = Path(__file__).resolve().parents[2]
EVIL = "\x1b]0;owned\x07\x9b31m\x7f\u202e\u2028\r\nfake line"
BAD = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028]")
COMMANDS = (
    ("show",),
    ("show", "--all"),
    ("show", 1),
    ("show", 2),
    ("show", 2, 0),
    ("show", 2, 1),
    ("show", 99),
    ("stats",),
    ("graph", 2),
    ("graph", 2, "--step", 1),
    ("graph", 2, "--step", 9),
    ("query", "select 'a', name as \"b\x1b\" from rewrites"),
    ("query", "select * from meta"),
    ("query", "select * from rules"),
    ("query", "select * from nodes"),
    ("query", "select \x1b"),
)


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A trace in which every text is an escape sequence."""
    path = tmp_path / "t\x1b[31m.viz"
    info = dict.fromkeys(META, EVIL) | {
        "command": [EVIL, EVIL],
        "commit": {"id": EVIL, "dirty": 1},
        "versions": {EVIL: EVIL},
        "flags": {EVIL: EVIL},
        "left_out": [{"what": EVIL, "where": EVIL, "hint": EVIL}],
    }
    with TraceWriter(path, info) as t:
        fold = t.rule(EVIL, EVIL, 3, matcher=EVIL, equation=EVIL, source=EVIL, doc=EVIL)
        context = t.context_begin(EVIL, "kernel", meta={"metadata": [EVIL], "target": EVIL})
        x = t.node(EVIL, EVIL, arg=json.dumps(EVIL), tag=EVIL, origin=f"{EVIL}:3", loc=EVIL)
        y = t.node(EVIL + "y", EVIL, (x,), extra={"shape": EVIL, "lo": EVIL})
        number = t.rewrite_begin(EVIL, y, context=context, matcher=EVIL, caller=f"{EVIL}:1")
        t.match(number, fold, y, x, {EVIL: x}, ns=5)
        error = {"message": EVIL, "traceback": EVIL, "full": EVIL, "place": f"{EVIL}:1"}
        t.rewrite_end(number, 0, error=error)
        t.kernel(context, EVIL, target=EVIL, device=EVIL, ast=y, info={"inputs": [{"name": EVIL}]})
        t.artifact(context, EVIL, EVIL, EVIL, lines=[(y,)], facts={EVIL: EVIL}, title=EVIL)
        t.launch(EVIL, EVIL, 1, 2)
        t.memory(EVIL, 3)
        t.meta("stopped", EVIL)
    return path


def spoilt(value: Any) -> Any:
    """An answer in which every text, and every number that is not needed to find one's way, is an
    escape sequence."""
    if isinstance(value, dict):
        return {
            key: part if key in ("row", "id", "parent", "kind", "label") else spoilt(part)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [spoilt(part) for part in value]
    return value if isinstance(value, int | float) else EVIL


def exports(evil: Path, folder: Path) -> Iterator[Path]:
    """The exported file; without its trace; and with answers that were changed one by one."""
    store = Store(evil)
    html = export_html(store).html
    store.close()
    whole, answers = folder / "w\x1b.html", folder / "a\x1b.html"
    whole.write_text(html)
    alone = re.sub(r'<script type="application/octet-stream".*?</script>', "", html)
    answers.write_text(alone)
    yield whole
    yield answers

    def changed(match: re.Match[str], change: Any) -> str:
        block = {}
        for paths, packed in json.loads(match[2]).items():
            items = json.loads(gzip.decompress(base64.b64decode(packed)))
            body = gzip.compress(json.dumps([change(i) for i in items]).encode())
            block[paths] = base64.b64encode(body).decode()
        return match[1] + json.dumps(block) + match[3]

    def field(name: str) -> Any:
        def change(value: Any) -> Any:
            if isinstance(value, dict):
                return {k: EVIL if k == name else change(v) for k, v in value.items()}
            return [change(v) for v in value] if isinstance(value, list) else value

        return change

    names = ("status", "us", "truncated", "name", "seconds", "ms", "processes", "steps", "pass",
             "rule", "place", "message", "bytes", "commit", "dirty", "what", "where", "hint",
             "matches", "tries", "id", "calls", "kernels", "silent", "removed", "slot", "args",
             "ops", "dtypes", "tags", "shapes", "error")  # fmt: skip
    for change in (spoilt, *map(field, names)):
        block = r'(<script type="application/json" id="uopviz-data-\d+">)(.*?)(</script>)'
        path = folder / "changed.html"
        path.write_text(re.sub(block, lambda m, c=change: changed(m, c), alone))
        yield path


@pytest.mark.usefixtures("dist")
def test_no_command_prints_what_drives_a_terminal(
    evil: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, path in enumerate((evil, *exports(evil, tmp_path))):
        for command, *rest in COMMANDS if number < 4 else COMMANDS[1:7:2] + COMMANDS[7:8]:
            for json_too in ([], ["--json"]) if number < 4 else ([],):
                _, out, err = run(capsys, command, path, *rest, *json_too)
                said = out + err
                allowed = said.replace("\t", "") if command == "query" else said
                assert not BAD.search(allowed), (command, rest, BAD.search(allowed))
                assert "\nfake line" not in said
    for n, command in enumerate(["export", "timeline"]):
        _, out, err = run(capsys, command, evil, "-o", tmp_path / f"{n}\x1b")
        assert not BAD.search(out + err)


def test_a_path_in_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "\x1b[2Jpipe")
    for name in ("\x1b[2Jmissing", "\x1b[2Jpipe"):
        for command in ("show", "open", "stats", "timeline", "export"):
            code, out, err = run(capsys, command, tmp_path / name)
            assert code == 2
            assert not BAD.search(out + err)


def test_clean() -> None:
    assert clean("a b\tc\x1b") == "a b\\tc\\x1b"
    assert clean("größer ≤ 4") == "größer ≤ 4"


PROGRESS = """
import sys, time
from viz.terminal import Progress, say
with Progress("exporting") as progress:
    for i in range(4000):
        progress.update(i / 4000, "pass \\x1b[2J")
        time.sleep(0.0005)
        if i == 3000:
            say("said")
    if sys.argv[1:]:
        raise SystemExit(3)
print("done")
"""


@pytest.mark.parametrize("failing", [[], ["fail"]])
def test_progress_in_a_terminal(failing: list[str]) -> None:
    text = in_terminal(sys.executable, "-c", PROGRESS, *failing)
    drawn = re.findall(r"\r(exporting [^\r]*)\x1b\[K", text)
    assert 3 <= len(drawn) <= 60, "a few times a second, however often it is told"
    assert all(width(line) < 40 for line in drawn)
    assert all("\x1b" not in line for line in drawn)
    assert drawn[0].endswith("…")
    assert "\r\x1b[Kuopviz: said\r\n" in text
    assert text.endswith("\r\x1b[K" + ("" if failing else "done\r\n"))


def test_no_progress_elsewhere() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRESS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("done\n", "uopviz: said\n")
    assert "\r" not in in_terminal(sys.executable, "-c", PROGRESS, TERM="dumb").replace(
        "\r\n", "\n"
    )


def test_one_module_prints() -> None:
    """Whatever is printed goes through viz/terminal.py; a worker's answers are JSON for its
    parent, and a script that is written for the user prints for itself."""
    written = {"viz/whatif/scripts/onbindings.py"}
    found: set[str] = set()
    for path in ROOT.glob("viz/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("print", "sys.stdout.write", "sys.stderr.write"):
                    found.add(path.relative_to(ROOT).as_posix())
    workers = {
        *("viz/jobs/lines.py", "viz/bisect/worker.py", "viz/foreign/torchrun.py"),
        "viz/fleet/asker.py",
    }
    assert found - {"viz/web/build_hook.py"} - written <= {"viz/terminal.py", *workers}
