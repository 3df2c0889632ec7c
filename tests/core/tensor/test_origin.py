"""Nodes carry the line of the user's program that asked for them."""

from __future__ import annotations

import inspect

import pytest

from core import Tensor, nn
from core.errors import ShapeError
from core.tensor.origin import here, origin, user_line
from core.uop.ops import Ops
from core.uop.uop import creating


def line() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_every_new_node_of_a_call_has_the_callers_line() -> None:
    x = Tensor([[1.0, 2.0]])
    y, at = x.softmax(), line()
    before = x.uop.toposort()
    made = [u for u in y.uop.toposort() if u not in before and u.op is not Ops.DEVICE]
    assert made
    fresh = [u for u in made if u.origin == f"{__file__}:{at}"]
    assert {Ops.EXP2, Ops.REDUCE_AXIS, Ops.FDIV} <= {u.op for u in fresh}


def test_layers_of_the_package_are_not_the_user() -> None:
    layer, x = nn.Linear(3, 2), Tensor.ones(1, 3).contiguous()
    y, at = layer(x), line()
    assert y.uop.origin == f"{__file__}:{at}"


def test_operators_and_constructors() -> None:
    x, at = Tensor.rand(3), line()
    assert x.uop.origin == f"{__file__}:{at}"
    y, at = 2 - x, line()
    assert y.uop.origin == f"{__file__}:{at}"


def test_nothing_is_left_behind_by_an_error() -> None:
    with pytest.raises(ShapeError):
        Tensor.zeros(2) + Tensor.zeros(3)
    assert creating.origin is None
    assert here() == ""


def test_an_origin_can_be_set_for_a_block() -> None:
    with origin("model.py:7"):
        x = Tensor([1.0]) + 41.25
        assert here() == "model.py:7"
    assert x.uop.origin == "model.py:7"


def test_there_is_no_line_without_a_frame() -> None:
    assert user_line(None) is None
