"""Texts of FX graphs as programs: what they say and nothing else; `tests/conformance` has PyTorch
execute them."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.check.part import check_part
from viz.check.parts import Part
from viz.cli import main
from viz.foreign.fxtext import CannotError, program
from viz.foreign.stages import pair
from viz.views.store import Store

LOG = next((Path(__file__).parents[1] / "importers/dumps/torch").glob("*.log"))
HEAD = (
    'class G(torch.nn.Module):\n    def forward(self, x: "f32[s0 + 1, 4][4, 1]cpu", n: "Sym(s0)"):'
)


def graph(*lines: str) -> str:
    """The text of a graph of `x` and `n`."""
    return "\n".join([HEAD, *(f"        {line}" for line in lines), ""])


def test_statements_are_data() -> None:
    made = program(
        graph(
            "dead = torch.ops.aten.relu.default(lambda: 1)",
            "a = torch.ops.aten.sum.dim_IntList(x, [-1], True, dtype = torch.float64);  x = None",
            "b = a[(slice(None, -1, None), 0, Ellipsis, -inf, 'text')]",
            "c = b.add_(n)",
            "return pytree.tree_unflatten([a, None, b], self._out_spec)",
        )
    )
    (x, _, n), (op, dtype, arguments, _, sources) = made.statements[0][:3], made.statements[2]
    assert (x, n) == ("placeholder", made.statements[0][2])
    size = json.loads(made.statements[1][2])[0]
    assert json.loads(n)[1:] == [{"shape": [size + 1, 4]}, {"stride": [4, 1]}]
    assert (op, dtype, sources) == ("aten.sum.dim_IntList", "float64", (0,))
    assert json.loads(arguments) == [
        "$0",
        [-1],
        True,
        {"kw": {"dtype": {"torch": "torch.float64"}}},
    ]
    index = [
        {"slice": [None, -1, None]},
        0,
        {"ellipsis": True},
        {"float": "-inf"},
        {"text": "text"},
    ]
    assert json.loads(made.statements[3][2]) == ["$0", {"tuple": index}]
    assert made.statements[4][0] == ".add_" and len(made.statements) == 5
    assert made.outputs == [2, None, 3]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("a = torch.ops.aten.relu.default(lambda: 1)", "return (a,)"), "not understood"),
        (("a = self.child(x)", "return (a,)"), "no meaning"),
        (("a = torch.ops.aten.relu.default(y)", "return (a,)"), "not understood"),
        (("x[0] = 3", "return (x,)"), "no meaning"),
        (("return (x + 1,)",), "neither a value nor a constant"),
        (("a = self.weight", "return (a,)"), "type of weight"),
    ],
)
def test_what_is_no_data_is_refused(lines: tuple[str, ...], why: str) -> None:
    with pytest.raises(CannotError, match=why):
        program(graph(*lines))


def test_stages_that_do_not_go_together_are_refused() -> None:
    one = graph("return (x,)")
    for other, why in (
        (one.replace(" x:", " y:").replace("(x", "(y"), "other names"),
        (one.replace("f32", "f64"), "another type"),
    ):
        with pytest.raises(CannotError, match=why):
            pair(one, other)


PIECES = st.sampled_from(
    ["a = ", "b: \"f32[2][1]cpu\" = ", "torch.ops.aten.", "add.Tensor(", "x", "a", ", ", ")", "[",
     "]", "\n        ", "return (", "alpha = 2", "**", "-", "9" * 30, "self.w", "slice(", "$0",
     "operand_7", "None", "lambda: 0", "'", ";  a = None", "tree_unflatten([", "copy_.default("]
)  # fmt: skip


@given(st.lists(PIECES, max_size=15))
def test_no_text_raises_anything_else(pieces: list[str]) -> None:
    for text in (graph("".join(pieces)), graph("".join(pieces), "return (x,)")):
        try:
            pair(graph("return (x,)"), text)
        except CannotError:
            continue


def test_a_stored_trace_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the user's Python finds that what has an `addmm` differs."""
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable}\nimport json, sys\nrequest = json.load(sys.stdin)\n"
        "assert request['ordered']\nops = [node[0] for node in request['nodes']]\n"
        "before, after = request['roots']\nassert ops[before] == ops[after] == 'results'\n"
        "kind = 'differs' if 'aten.addmm.default' in ops[before:] else 'same'\n"
        "print(json.dumps({'kind': kind, 'samples': 3, 'why': 'output 0: 1 before, 2 after'}))\n"
    )
    python.chmod(0o755)
    monkeypatch.setenv("UOPVIZ_PYTHON", str(python))
    path = tmp_path / "run.viz"
    assert main(["import", "-o", str(path), str(LOG)]) == 0
    with closing(Store(path)) as store:
        names = {number: one.name for number, one in store.files[0].rewrites.items() if one.matches}
    found = {
        (names[one["rewrite"]], one["verdicts"][0]["kind"])
        for one in check_part(Part(str(path), tuple(names)))
    }
    assert found == {
        ("aot_joint_graph", "sampled"),
        ("aot_forward_graph", "sampled"),
        ("aot_backward_graph", "sampled"),
        ("aot_inference_graph", "sampled"),
        ("inductor_post_grad_graph", "differs"),
    }
