"""Texts of FX graphs are executed by PyTorch: wrong stages are named, right ones are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from viz.foreign.stages import pair
from viz.foreign.torchrun import Judge
from viz.importers.torch.torchrecords import records_of

DUMPS = Path(__file__).parents[1] / "viz" / "importers" / "dumps"
LOG = next((DUMPS / "torch").glob("*.log"))
GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[2, s7, 8][8*s7, 8, 1]cpu", b: "f32[8, 6][6, 1]cpu",
                c: "f32[6][1]cpu", i: "i64[3][1]cpu"):
        rows = torch.ops.aten.reshape.default(a, [-1, 8]);  a = None
        mm = torch.ops.aten.mm.default(rows, b);  rows = None
        add = torch.ops.aten.add.Tensor(mm, c, alpha = 2)
        part = torch.ops.aten.slice.Tensor(add, 1, 0, 3)
        half: "bf16[2*s7, 3]cpu" = torch.ops.aten._to_copy.default(part, dtype = torch.bfloat16)
        full = torch.ops.aten.full.default([], -inf, dtype = torch.float32, device = device('cpu'))
        lt = torch.ops.aten.lt.Scalar(add, 0.5)
        kept = torch.ops.aten.where.self(lt, full, add);  lt = full = None
        amax = torch.ops.aten.amax.default(kept, [-1], True);  kept = None
        sub = torch.ops.aten.sub.Tensor(add, amax);  amax = None
        cat = torch.ops.aten.cat.default([sub, half], 1);  half = None
        index = torch.ops.aten.index.Tensor(cat, [i]);  cat = None
        put = torch.ops.aten.copy_.default(b, c);  put = None
        return (index, part)
"""
WRONG = [
    ("alpha = 2", "alpha = 1"),
    ("(mm, c, alpha", "(c, mm, alpha"),
    ("(add, 1, 0, 3)", "(add, 1, 1, 4)"),
    ("(add, 1, 0, 3)", "(add, 1, 0, 2)"),
    ("bfloat16", "float64"),
    ("lt.Scalar", "gt.Scalar"),
    ("(lt, full, add)", "(lt, add, full)"),
    ("[], -inf", "[], inf"),
    ("(kept, [-1], True)", "(kept, [0], True)"),
    ("(add, amax)", "(amax, add)"),
    ("[sub, half]", "[half, sub]"),
    ("(cat, [i])", "(cat, [None, i])"),
    ("copy_.default(b, c)", "copy_.default(b, mm)"),
    ("copy_.default(b, c)", "copy_.default(c, b)"),
    ("        put = torch.ops.aten.copy_.default(b, c);  put = None\n", ""),
    ("(index, part)", "(part, index)"),
    ("(index, part)", "(index,)"),
    ("a, [-1, 8]);", "a, [8, -1])\n        rows = rows.t();"),
    ("mm = ", "void = torch.ops.aten.mul_.Tensor(b, 2)\n        mm = "),
    ("sub = torch.ops.aten.sub.Tensor(add, amax)", "sub = add + amax"),
]
RIGHT = [
    ("sub = torch.ops.aten.sub.Tensor(add, amax)", "sub = add - amax"),
    ("aten.sub.Tensor(add, amax)", "aten.add.Tensor(add, amax, alpha = -1)"),
    (
        "add = torch.ops.aten.add.Tensor(mm, c, alpha = 2)",
        "twice = c * 2\n        add = mm + twice",
    ),
    ("(add, 1, 0, 3)", "(add, 1, -6, -3)"),
    ("[], -inf", "[1, 1], -inf"),
    (
        "rows = torch",
        "n = torch.ops.aten.sym_size.int(a, 1)\n        m = 2 * n\n        rows = torch",
    ),
    ("add, amax)", "add, amax);  add = None\n        add = sub"),
    ("put = torch.ops.aten.copy_.default(b, c)", "one = b.mul_(0)\n        put = one.add_(c)"),
    ("(kept, [-1], True)", "(kept, [1], True)"),
]


def verdict(before: str, after: str, *others: str) -> str:
    """What PyTorch says of two stages."""
    made = pair(before, after, others)
    found: dict[str, Any] = Judge(torch, [*made.statements], ordered=True).judge(*made.roots)
    return f"{found['kind']}: {found.get('why', '')}"


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_a_wrong_pass_is_named(old: str, new: str) -> None:
    assert old in GRAPH
    assert verdict(GRAPH, GRAPH.replace(old, new)).startswith("differs")


@pytest.mark.parametrize(("old", "new"), RIGHT)
def test_a_right_pass_is_not(old: str, new: str) -> None:
    assert old in GRAPH
    assert verdict(GRAPH, GRAPH.replace(old, new)) == "same: "


HALVES = [
    ("aot_joint_graph", "aten.relu.default", "aten.abs.default"),
    ("aot_joint_graph", "add.Tensor(mm, primals_3)", "sub.Tensor(mm, primals_3)"),
    ("aot_forward_graph", "le.Scalar(relu, 0)", "lt.Scalar(relu, 0)"),
    ("aot_forward_graph", "sum.default(relu)", "sum.default(add)"),
    ("aot_backward_graph", "self(le, full_default, expand)", "self(le, expand, full_default)"),
    ("aot_backward_graph", "mm.default(permute, where)", "mm.default(permute, expand)"),
]


def test_what_autograd_made_and_its_halves() -> None:
    """Inputs have other names, and the backward half is given values of the forward one."""
    with LOG.open() as file:
        texts = {
            record.name.removeprefix("artifact:"): record.payload
            for record in records_of(file)
            if record.of == "0/0"
        }
    before = {
        "aot_joint_graph": "after_pre_grad_graph",
        "aot_forward_graph": "aot_joint_graph",
        "aot_backward_graph": "aot_joint_graph",
    }
    beside = {"aot_backward_graph": [texts["aot_forward_graph"]]}
    for stage, first in before.items():
        assert verdict(texts[first], texts[stage], *beside.get(stage, ())) == "same: "
    for stage, old, new in HALVES:
        assert old in texts[stage]
        wrong = texts[stage].replace(old, new)
        found = verdict(texts[before[stage]], wrong, *beside.get(stage, ()))
        assert found.startswith("differs"), (stage, old, new, found)
