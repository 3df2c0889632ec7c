"""A TORCH_TRACE: graphs of each compilation, forward and backward, and the code that came out."""

from __future__ import annotations

import json
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.importers.test_import import is_exact
from viz.cli import main
from viz.importers.torch import fx
from viz.importers.torch.torchrecords import Parsed, is_log, records_of
from viz.importers.torch.torchtrace import TorchImport
from viz.views.store import Store
from viz.write.writer import TraceWriter

LOG = Path(__file__).parent / "dumps" / "torch" / "dedicated_log_torch_trace_1.log"
STAGES = [
    ("[0/0] f, t2.py:2", "before_pre_grad_graph", 0),
    ("[0/0] f, t2.py:2", "after_pre_grad_graph", 0),
    ("[0/0] f, t2.py:2", "aot_joint_graph", 1),
    ("forward of [0/0]", "aot_forward_graph", 1),
    ("backward of [0/0]", "aot_backward_graph", 1),
    ("forward of [0/0]", "before_post_grad_graph", 0),
    ("forward of [0/0]", "inductor_post_grad_graph", 1),
    ("backward of [0/0]", "before_post_grad_graph", 0),
    ("backward of [0/0]", "inductor_post_grad_graph", 0),
    ("[0/1] f, t2.py:2", "before_pre_grad_graph", 0),
    ("[0/1] f, t2.py:2", "after_pre_grad_graph", 0),
    ("inference of [0/1]", "aot_inference_graph", 1),
    ("inference of [0/1]", "before_joint_graph", 0),
    ("inference of [0/1]", "after_joint_graph", 0),
    ("inference of [0/1]", "before_post_grad_graph", 0),
    ("inference of [0/1]", "inductor_post_grad_graph", 1),
]


def imported(path: Path, *given: Path) -> Store:
    """The trace of a TORCH_TRACE."""
    assert main(["import", "-o", str(path), *map(str, given)]) == 0
    return Store(path)


def stages(store: Store) -> list[tuple[str, str, int]]:
    """The passes with their contexts and steps."""
    rows = store.tree()["rows"]
    return [
        (rows[row["parent"]]["name"], row["name"], row["steps"])
        for row in rows
        if row["kind"] == "rewrite"
    ]


def ops_of(store: Store, node: int) -> list[str]:
    """The ops of a graph."""
    file = store.files[0]
    op = file.nodes.field("op")
    return sorted(file.text(int(op[n])) for n in file.nodes.reachable(node))


@pytest.mark.parametrize("given", [LOG, LOG.parent])
def test_each_stage_is_a_pass(given: Path, tmp_path: Path) -> None:
    store = imported(tmp_path / "a.viz", given)
    assert stages(store) == STAGES
    assert is_exact(store.files[0])
    assert store.run()["problems"] == []
    assert store.dialect.title == "PyTorch"
    store.close()


def test_a_pass_that_joins_two_ops(tmp_path: Path) -> None:
    """Inductor makes one addmm of a product and a sum: the sum became it, its user is the same."""
    store = imported(tmp_path / "a.viz", LOG)
    file = store.files[0]
    rewrite = next(
        r for r in file.rewrites.values() if r.matches and r.name == "inductor_post_grad_graph"
    )
    before, after = ops_of(store, rewrite.sink), ops_of(store, rewrite.result)
    assert [op for op in before if op not in after] == ["aten.add", "aten.mm"]
    assert [op for op in after if op not in before] == ["aten.addmm"]
    bundle = store.bundle(rewrite.id)
    assert bundle is not None
    (step,) = bundle["steps"]
    ops, of = bundle["ops"], bundle["nodes"]["op"]
    assert (ops[of[step["before"]]], ops[of[step["after"]]]) == ("aten.add", "aten.addmm")
    texts = store.pass_texts(rewrite.id)
    assert texts is not None and "addmm" in texts["after"]["text"]
    line = next(i for i, t in enumerate(texts["after"]["text"].split("\n")) if "addmm.def" in t)
    assert bundle["nodes"]["id"][step["after"]] in texts["after"]["lines"][line]
    store.close()


def test_code_is_linked_to_the_nodes_of_its_kernels(tmp_path: Path) -> None:
    store = imported(tmp_path / "a.viz", LOG)
    row = next(r for r in store.tree()["rows"] if r["name"] == "forward of [0/0]")
    kernel = store.kernel(row["id"])
    assert kernel is not None
    (code,) = [one for one in kernel["artifacts"] if one["kind"] == "output_code"]
    lines = code["text"].split("\n")
    at = next(i for i, line in enumerate(lines) if "extern_kernels.addmm(" in line)
    file = store.files[0]
    op = file.nodes.field("op")
    assert [file.text(int(op[n])) for n in code["lines"][at]] == ["aten.addmm"]
    fused = next(i for i, line in enumerate(lines) if "async_compile.cpp_pybinding" in line)
    assert {file.text(int(op[n])) for n in code["lines"][fused + 3]} >= {"aten.relu", "aten.sum"}
    assert [place["line"] for place in kernel["places"]] == [3]
    assert "torch.relu" in str(store.user_lines())
    store.close()


def parsed(folder: Path) -> Path:
    """What tlparse makes of the log: a file for each payload."""
    with LOG.open() as file:
        records = [*records_of(file)]
    raw: list[dict[str, Any]] = [{"string_table": []}]
    for at, record in enumerate(records):
        raw.append(record.fields)
        if record.of and record.payload:
            ending = "json" if record.payload.startswith("{") else "txt"
            frame, _, compiled = record.of.partition("/")
            path = folder / f"-_{frame}_{compiled}_0" / f"{record.name}_{at}.{ending}"
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(record.payload)
    (folder / "raw.jsonl").write_text("".join(json.dumps(one) + "\n" for one in raw))
    return folder


@pytest.mark.parametrize("is_zip", [False, True])
def test_what_tlparse_made(tmp_path: Path, is_zip: bool) -> None:
    path = parsed(tmp_path / "tl_out")
    if is_zip:
        path = tmp_path / "tl_out.zip"
        with zipfile.ZipFile(path, "w") as file:
            for one in sorted((tmp_path / "tl_out").rglob("*.*")):
                file.write(one, one.relative_to(tmp_path))
    store = imported(tmp_path / "a.viz", path)
    assert [(name, steps) for _, name, steps in stages(store)] == [
        (name, steps) for _, name, steps in STAGES
    ]
    assert is_exact(store.files[0])
    store.close()


def test_raw_jsonl_alone_says_what_it_lacks(tmp_path: Path) -> None:
    store = imported(tmp_path / "a.viz", parsed(tmp_path / "tl_out") / "raw.jsonl")
    (problem,) = store.run()["problems"]
    assert problem["what"].startswith("graphs whose texts are not here")
    store.close()


def test_a_zip_that_is_cut_or_too_large_for_its_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as file:
        file.writestr("../-_0_0_0/aot_joint_graph_1.txt", "class A(t):\n    def forward(self):\n")
    store = imported(tmp_path / "a.viz", whole)
    store.close()
    assert not (tmp_path.parent / "-_0_0_0").exists()
    (tmp_path / "cut.zip").write_bytes(whole.read_bytes()[:-30])
    assert main(["import", str(tmp_path / "cut.zip")]) == 2
    assert "the format of this file is not known" in capsys.readouterr().err


def test_a_zip_whose_data_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "damaged.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("-_0_0_0/aot_joint_graph_1.txt", "class A(t):\n    def forward(self):\n" * 9)
        at = file.infolist()[0].header_offset + 30 + len("-_0_0_0/aot_joint_graph_1.txt")
    data = bytearray(path.read_bytes())
    data[at] = 0xFF  # a block of a kind that deflate does not have
    path.write_bytes(data)
    with closing(Parsed(path)) as parsed_zip:
        assert [record.payload for record in parsed_zip.records()] == [""]


def test_compilations_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("-_10_0_0", "-_2_0_0", "-_2_10_0", "-_2_9_0", "-_2_9_1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "aot_joint_graph_1.txt").touch()
    with closing(Parsed(tmp_path)) as folder:
        assert [r.of for r in folder.records()] == ["2/0", "2/9", "2/9_1", "2/10", "10/0"]


def test_graphs_inside_graphs_and_texts_that_are_no_python() -> None:
    made = fx.parse(
        """
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]", s: "Sym(s0)"):
         # File: /a b/m.py:12 in g, code: y = cond(x)
        body = self.body_0
        y: "f32[4]" = torch.ops.higher_order.cond(s, body, (x,));  body = None
        z: "f32[4]" = torch.ops.aten.to.dtype(y, <object at 0x7f>);  y = None
        w: "f32[4]" = z.sum(dim = 0);  z = None
        return (w, x[0])
    class body_0(torch.nn.Module):
        def forward(self, a: "f32[4]"):
            return (a * 2,)
"""
    )
    assert (made.odd, made.unknown) == (0, 0)
    ops = {op.key: op for op in made.root.walk()}
    assert ops["y"].place == "/a b/m.py:12" and made.lines == {"/a b/m.py:12": "y = cond(x)"}
    assert [value.name for value in ops["y"].operands] == ["s", "body", "x"]
    assert ops["z"].name == "aten.to" and ops["z"].operands[0].name == "y"
    assert (ops["w"].name, ops["w"].text) == ("Tensor.sum", "$0, dim=0")
    assert ops["body"].name == "get_attr" and ops["body"].text == "body_0"
    (block,) = ops["body_0"].blocks
    assert [op.name for op in block.ops] == ["placeholder", "output"]


PIECES = st.sampled_from(
    ["class A(torch.nn.Module):\n", "    def forward(self, x: \"f32[4]\"):\n", "        y = ",
     "torch.ops.aten.add.Tensor(x, y)", "\n", ";  x = None", "(", ")", "[", "]", "\"", "'", "x",
     "return ", "# File: /a.py:3 in f, code: z", " ", "**", "lambda: ", "fx_pytree.", "x, y, = ",
     "$0", "\\", "'\\d'", "f'{x!r}'", "-", "x.", "\x00"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=50))
def test_no_text_raises(pieces: list[str]) -> None:
    made = fx.parse("class A(t):\n    def forward(self, x):\n" + "".join(pieces))
    assert sum(1 for _ in made.root.walk()) == made.ops + 1


@pytest.mark.parametrize(
    "text",
    ["(" * 30_000, "-" * 50_000 + "x", "x" + ".a" * 30_000, "x;" * 50_000],
    ids=["brackets", "signs", "attributes", "statements"],
)
def test_depth_and_length_are_bounded(text: str) -> None:
    made = fx.parse(
        f"class A(t):\n    def forward(self, x):\n        y = {text}\n        return y\n"
    )
    assert made.ops >= 2


RECORDS = st.sampled_from(
    ['V1127 09:42:50.512000 7177 a/b.py:1] ', '{"aot_joint_graph": {}, ', '"frame_id": 0, ', "\n",
     "\t", '"frame_compile_id": 0}', "{", "}", '{"str": ["a", 1]}',
     '{"artifact": {"name": "x_graph"}, ',
     '{"dynamo_start": {"stack": [{"filename": 1, "line": 2, "name": "f"}]}}', "null", "[[[[",
     '"payload": "class A(t):\\n    def forward(self, x):\\n        return x", ',
     '"payload_filename": 3, ', "class A(t):\n\t    def forward(self, x):\n\t        return x\n",
     '{"inductor_output_code": 1, ']
)  # fmt: skip


@given(st.lists(RECORDS, max_size=40))
def test_no_log_raises(tmp_path_factory: pytest.TempPathFactory, pieces: list[str]) -> None:
    path = tmp_path_factory.mktemp("log") / "a.viz"
    with TraceWriter(path, {}) as writer:
        TorchImport(writer).read(records_of("".join(pieces).splitlines(keepends=True)))


def test_what_is_a_log() -> None:
    assert is_log(LOG.read_text()[:2000]) and is_log('{"string_table": []}\n')
    assert not is_log("module {\n}\n") and not is_log('{"a": 1}\n')
