"""The documents say what the code says, and their snippets run."""

from __future__ import annotations

import ast
import dataclasses
import os
import re
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from core import Context, Tensor, Variable
from core.helpers import Flag, Text
from core.isolation.edited import EDITABLE
from core.isolation.isolate import MAX_TEXT
from core.nn.files import pickles
from core.passes.pipeline import PASSES, TEXT_PASSES
from core.passes.schedule import pipeline as schedule
from core.render.llvm import INTRINSICS
from core.target import Target
from core.uop import Ops
from core.uop.engine.observe import NullObserver, observing
from core.uop.kernelinfo import OptOps
from tests.docs.generate import FILES, documents, generated, parts_in
from tests.docs.markdown import cell
from tests.docs.of_core import MEANINGS, ROOT, modules, op_docs, rule_sets
from tests.docs.of_viz import columns, commands, routes
from tests.docs.tables import PARTS
from viz.command.line.parser import build_parser
from viz.format import schema
from viz.format.blocks import PACKED
from viz.jobs import jobs
from viz.server.app import MAX_REQUEST
from viz.server.connections import channel, log
from viz.work import kinds

DOCUMENTS = documents()
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def read(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(text) if kind == language]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_generated_parts_are_up_to_date(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert generated(text) == text, "run: python -m tests.docs.generate"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_generated_files_are_up_to_date(path: Path) -> None:
    assert FILES[path]() == path.read_text(encoding="utf-8"), "run: python -m tests.docs.generate"


def test_every_generated_part_is_in_a_document() -> None:
    used = [part for path in DOCUMENTS for part in parts_in(path.read_text(encoding="utf-8"))]
    assert sorted(used) == sorted(PARTS)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_snippets_run(path: Path, tmp_path: Path) -> None:
    snippets = blocks(path.read_text(encoding="utf-8"), "python")
    if not snippets:
        return
    script = tmp_path / "snippets.py"
    script.write_text("\n".join(snippets), encoding="utf-8")
    ours = ("VIZ", "UOPVIZ", "DEV")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    done = subprocess.run(
        [sys.executable, "-W", "error", script.name],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_are_understood(path: Path) -> None:
    for block in blocks(path.read_text(encoding="utf-8"), "sh"):
        for line in block.replace("\\\n", " ").splitlines():  # a line may go on in the next one
            words = shlex.split(line, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words = words[1:]
            if words[:1] == ["uopviz"] and words[1:] not in (["--version"], ["--help"]):
                build_parser().parse_args(words[1:])


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        if anchor:
            titles = HEADING.findall(target.read_text(encoding="utf-8"))
            slugs = [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles]
            assert anchor in slugs, link


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_named_files_exist(path: Path) -> None:
    """A file of this repository that a document names in code is there."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for found in re.findall(r"`((?:core|viz|tests|docs|examples)/[\w./-]+)`", text):
        assert (ROOT / found).exists(), found


SOURCES = [
    *(
        path
        for folder in ("core", "viz", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ),
    *sorted((ROOT / "viz/web/src").rglob("*.ts*")),
]
PATH = re.compile(r"(?<![\w./-])((?:core|viz|tests|docs|examples)/[\w./-]*\w(?:\.\w+|/))")


def test_files_that_the_code_names_exist() -> None:
    """In docstrings, comments, and the hints of errors."""
    made = (
        "core/a",
        "examples/net.py",
        "viz/web/dist",
        "viz/web/node_modules",
        "docs/x",
        "viz/web/test/fixtures",
    )
    missing = [
        f"{name_of(path)}: {found}"
        for path in SOURCES
        if "node_modules" not in path.parts
        for found in PATH.findall(path.read_text(encoding="utf-8"))
        if not found.startswith(made) and not (ROOT / found).exists()
    ]
    assert not missing, "\n".join(missing)


def test_passes_never_ask_which_target_it_is() -> None:
    for path in sorted((ROOT / "core/passes").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("family", "arch"):
                raise AssertionError(f"{name_of(path)}:{node.lineno} asks for {node.attr}")


def test_every_field_of_a_target_is_read() -> None:
    text = "".join(p.read_text(encoding="utf-8") for p in SOURCES if name_of(p).startswith("core/"))
    fields = [field.name for field in dataclasses.fields(Target)]
    unread = [n for n in fields if n != "title" and not re.search(rf"\w\.{n}\b", text)]
    assert not unread


def test_tests_that_documents_name_exist() -> None:
    """`file::test`, below tests/; and each line of the tables on what is checked names one."""
    text = read("security.md")
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", text)
    assert len(named) > 30
    for file, test in named:
        code = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert re.search(rf"^ *def {test}\(", code, re.MULTILINE), test
    for title in (
        "The server",
        "The port of a trace",
        "A trace",
        "Running a kernel",
        "Running an edited text",
    ):
        section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
        table = re.sub(r"^\|.*\n\|-.*\n", "", section, flags=re.MULTILINE)  # without heads
        rows = [line for line in table.splitlines() if line.startswith("| ")]
        assert rows
        assert not [row for row in rows if "::test_" not in row], title


def test_limits_in_the_documents_are_those_of_the_code() -> None:
    http, security = (" ".join(read(name).split()) for name in ("http.md", "security.md"))
    assert f"At most {jobs.MAX_RUNNING} jobs run at once" in http
    assert f"a job may take {jobs.LIMIT:.0f} seconds" in http
    assert f"results of the last {jobs.KEPT} are kept" in http
    assert f"JSON objects of at most {MAX_REQUEST >> 20} MiB" in http
    assert f"a request must have come within {channel.ASKING:.0f} seconds" in security
    assert f"closed after {channel.IDLE:.0f}" in security
    assert f"after {channel.READING:.0f} seconds without a byte" in security
    assert f"less than {channel.SLOWEST >> 10} KiB per second" in security
    assert f"at most {channel.MOST} connections, and {channel.MOST_NEW} where some" in security
    assert f"strangers without the token hold at most {channel.MOST_NEW}" in security
    assert f"at most {log.MOST} lines a minute" in security
    assert f"a time limit of {jobs.LIMIT:.0f} seconds" in security
    assert f"(an export {jobs.EXPORT_LIMIT:.0f})" in http
    assert f"a function that is called again {kinds.KINDS['decline'].limit:.0f}" in http
    memory = jobs.KINDS["export"].memory >> 30
    assert f"within {jobs.EXPORT_LIMIT:.0f} seconds and {memory} GiB" in security
    assert f"answer at most {jobs.MAX_ANSWER >> 20} MiB" in security
    assert f"more than {MAX_TEXT >> 10} Ki characters" in security
    assert f"at most {pickles.ROOM >> 20} MiB, and {pickles.ROOM_RATIO} bytes more" in security
    assert f"at most {pickles.OPCODES_LIMIT >> 20} Mi opcodes" in security


def test_what_is_judged_of_each_kind_of_edited_text_is_said() -> None:
    section = read("security.md").partition("## Running an edited text\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| ")]
    names = {"llvm": "LLVM IR", "ptx": "PTX", "cuda": "CUDA C++", "hip": "HIP C++", "wgsl": "WGSL"}
    names["opencl"] = "OpenCL C"
    for device, texts in EDITABLE.items():
        for text in texts:
            name = names[text.kind]
            assert any(name in kind and f"`{device}`" in on for kind, on in rows), (device, name)


def test_the_functions_of_llvm_that_edited_texts_may_call_are_listed() -> None:
    said = read("security.md").partition("functions of LLVM that it calls: ")[2].partition(" |")[0]
    assert set(re.findall(r"`([\w.]+)`", said)) == set(INTRINSICS)


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_named_tests_exist(path: Path) -> None:
    known = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    named = set(re.findall(r"`(test_\w+)`", path.read_text(encoding="utf-8")))
    assert named <= known


def test_every_opt_is_described() -> None:
    """All that there are are implemented, and none is said not to be."""
    rows = [row for row in read("passes.md").splitlines() if row.startswith("| `")]
    described = {
        name for row in rows for name in re.findall(r"`([A-Z]+)(?:\(|`)", row.split("|")[1])
    }
    assert {op.name for op in OptOps} <= described
    for path in DOCUMENTS:
        assert "not implemented" not in path.read_text(encoding="utf-8"), name_of(path)


def test_no_two_rules_have_one_name() -> None:
    """Traces, `stats` and `query` show rules by their names."""
    places: dict[str, set[str]] = {}
    for matcher, _, _ in rule_sets():
        for rule in matcher.rules:
            places.setdefault(rule.name, set()).add(f"{rule.file}:{rule.line}")
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_every_op_has_one_meaning() -> None:
    said = op_docs()
    assert {op.name for op in Ops} == {*said, *(op.name for op in MEANINGS)}
    assert not [op.name for op in MEANINGS if op.name in said], "said in core/uop/ops.py now"


def test_every_rule_has_an_equation() -> None:
    missing = [r.name for matcher, _, _ in rule_sets() for r in matcher.rules if not r.equation]
    assert not missing


def test_every_rule_set_has_a_name() -> None:
    assert not [f"{module}.{name}" for m, module, name in rule_sets() if not m.name]


def test_every_pass_states_its_contract() -> None:
    text = read("passes.md")
    for step in (*PASSES, *chain.from_iterable(TEXT_PASSES.values()), *schedule.PASSES):
        assert f"| `{step.name}` | {step.keeps} | {step.guarantees} |" in text


def test_schedule_passes_are_those_that_run() -> None:
    class Names(NullObserver):
        def __init__(self) -> None:
            self.depth, self.seen = 0, list[str]()

        def rewrite_begin(self, name: str, *rest: object) -> None:
            if not self.depth:
                self.seen.append(name)
            self.depth += 1

        def rewrite_end(self, *rest: object) -> None:
            self.depth -= 1

    x, y = Tensor([[1.0, 2.0]]).realize(), Tensor([[3.0, 4.0]]).realize()
    new_x, new_y = y + 1, x + 2
    x.assign(new_x)
    y.assign(new_y)  # the two read what the other one overwrites
    del new_x, new_y
    z = Tensor.ones(2, device=("CPU", "CPU:1")).shard(("CPU", "CPU:1"), 0).sum()
    few = x[: Variable("rows", 0, 1).bind(1)].sum()
    part = (x[:, : Variable("columns", 0, 2).bind(1)] * 3).contiguous()
    with observing(Names()) as names, Context(OPT=3):
        x.schedule(y, (x * 2).fuse(), z, few, part)
    several = ["multi", "allreduce", "multi: outputs"]  # one pass, which is three rewrites
    assert [*several, *(step.name for step in schedule.PASSES[1:])] == names.seen


@pytest.mark.parametrize("flag", sorted({*Flag.table, *Text.table}))
def test_every_variable_is_documented(flag: str) -> None:
    assert f"| `{flag}` |" in read("environment.md")


def test_every_variable_that_is_read_is_documented() -> None:
    """Names that look like this project's variables, anywhere in the code."""
    text = read("environment.md")
    found: set[str] = set()
    for path in [*ROOT.glob("core/**/*.py"), *ROOT.glob("viz/*.py"), *ROOT.glob("viz/server/*.py")]:
        found |= set(re.findall(r"\"(VIZ|(?:UOP)?VIZ_[A-Z_]+)\"", path.read_text("utf-8")))
    assert {"VIZ", "UOPVIZ_PORT"} <= found
    assert not [name for name in found if f"`{name}`" not in text]


def test_every_command_is_documented() -> None:
    text = read("cli.md")
    assert commands()
    assert all(f"### `uopviz {name}`" in text for name in commands())


def test_every_route_is_documented_and_says_what_it_answers() -> None:
    text = read("http.md")
    found = routes()
    assert len(found) > 10
    for method, path, doc in found:
        assert doc.endswith("."), f"{path}: {doc}"
        shown = path.replace("<", "{").replace(">", "}")
        assert f"| {method} | `{shown}` | {cell(doc)} |" in text


@pytest.mark.parametrize("table", columns())
def test_every_column_of_a_trace_is_documented(table: str) -> None:
    text = read("trace-format.md")
    start = text.index(f"`{table}`: ")
    following = [text.find(f"`{t}`: ", start + 1) for t in columns()]
    ends = [end for end in (*following, text.index("## Blocks")) if end > start]
    section = text[start : min(ends)]
    assert not [name for name in columns()[table] if f"`{name}`" not in section]


def test_every_key_and_packed_column_is_documented() -> None:
    text = read("trace-format.md")
    packed = (*schema.META, *(name for blocks in PACKED for name in blocks.names))
    assert not [name for name in packed if f"`{name}`" not in text]
    assert f"Version {schema.VERSION}." in text
    assert f"0x{schema.APPLICATION_ID:X}".lower() in text.lower()


def test_every_module_says_what_it_does() -> None:
    assert not [m.__name__ for m in modules() if not (m.__doc__ or "").strip()]
