"""Kernels for the GPU of a browser: what a page is given, against what NumPy computes."""

from __future__ import annotations

import numpy as np
import pytest

from core import Tensor, Variable, dtypes
from core.errors import UopvizError
from core.runtime.reference.generated import generated
from core.uop import Ops, UOp
from viz.work.change import Change
from viz.work.shaders import SAMPLED, shaders_of


def ast_of(x: Tensor) -> UOp:
    """The AST of the last kernel of a Tensor."""
    items = x.contiguous().schedule()
    return next(item.ast for item in reversed(items) if item.ast.op is Ops.SINK)


def test_expected_values_are_those_of_numpy_on_generated_inputs() -> None:
    x, y = (Tensor(np.zeros((8, 16), np.float32)).realize() for _ in range(2))
    made = shaders_of(ast_of(x + 2 * y), Change())
    a, b = (generated(n, dtypes.float32, 128, None) for n in (1, 2))
    (sums,) = made["expected"]
    values = sums["values"]
    either = np.allclose(values, (a + 2 * b)[sums["at"]]) or np.allclose(
        values, (b + 2 * a)[sums["at"]]
    )
    assert either
    assert sums["at"][0] == 0
    assert sums["at"][-1] == 127
    assert len(values) <= SAMPLED + 2


def test_what_a_launch_binds() -> None:
    x = Tensor(np.zeros((8, 16), np.float16)).realize()
    made = shaders_of(ast_of(x.float().sum(1)), Change())
    out, given = made["arguments"]
    assert (out["written"], given["written"]) == (True, False)
    assert (out["shape"], given["dtype"], given["size"]) == ([8], "float16", 128)
    assert out["allowed"] > 0
    for shader in (made["made"], made["plain"]):
        assert f"fn {shader['entry']}(" in shader["text"]
        assert [b["bytes"] for b in shader["bindings"]] == [32, 256]
        assert [b["parts"][0]["argument"] for b in shader["bindings"]] == [0, 1]
    assert made["plain"]["groups"] == [8, 1, 1]


def test_indices_have_the_span_of_what_they_address() -> None:
    table, at = Tensor(np.zeros((10, 4), np.float32)).realize(), Tensor([1, 2, 3]).realize()
    made = shaders_of(ast_of(table[at]), Change())
    spans = [one["span"] for one in made["arguments"] if one["dtype"].startswith("int")]
    assert spans == [[0, 9]]


def test_more_arguments_than_bindings_are_packed_at_their_places() -> None:
    xs = [Tensor(np.zeros(5, np.float32)).realize() for _ in range(12)]
    total = xs[0]
    for i, x in enumerate(xs[1:]):
        total = total * (i + 2) + x
    made = shaders_of(ast_of(total), Change())
    packed = made["made"]["bindings"][-1]
    assert [part["offset"] for part in packed["parts"]] == [20 * k for k in range(6)]
    assert sum(len(b["parts"]) for b in made["made"]["bindings"]) == 13


def test_variables_have_their_largest_value() -> None:
    n = Variable("n", 1, 12)
    x = Tensor(np.zeros(12, np.float32)).realize()[: n.bind(7)]
    made = shaders_of(ast_of(x.sum()), Change())
    assert made["variables"] == [{"name": "n", "value": 12}]
    uniform = [b for b in made["made"]["bindings"] if b["kind"] == "uniform"]
    assert all(part["argument"] is None for b in uniform for part in b["parts"])


def test_float64_is_one_error_that_says_so() -> None:
    x = Tensor(np.zeros(4)).realize()
    with pytest.raises(UopvizError, match="float64"):
        shaders_of(ast_of(x + 1), Change())
