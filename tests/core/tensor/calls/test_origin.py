"""Nodes carry the line of the user's program that asked for them, and the call on it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import core
from core import Tensor, nn
from core.dtype import dtypes
from core.errors import ShapeError
from core.origintext import split_origin
from core.tensor.calls.origin import here, origin, user_line
from core.uop.engine.origin import backward_of
from core.uop.ops import Ops
from core.uop.uop import UOp, creating


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
    fresh = [u for u in made if u.origin == f"{__file__}:{at} softmax"]
    assert {Ops.EXP2, Ops.REDUCE_AXIS, Ops.FDIV} <= {u.op for u in fresh}


def test_a_users_file_next_to_the_package_is_not_of_the_package() -> None:
    file = f"{Path(core.__file__).parent}_demo.py"
    found: dict[str, Tensor] = {}
    exec(compile("y = Tensor([1.0]).relu()", file, "exec"), {"Tensor": Tensor}, found)
    assert found["y"].uop.origin == f"{file}:1 relu"


def test_layers_of_the_package_are_not_the_user() -> None:
    layer, x = nn.Linear(3, 2), Tensor.ones(1, 3).contiguous()
    y, at = layer(x), line()
    assert y.uop.origin == f"{__file__}:{at} Linear"


def test_operators_and_constructors() -> None:
    x, at = Tensor.rand(3), line()
    assert x.uop.origin == f"{__file__}:{at} rand"
    y, at = 2 - x, line()
    assert y.uop.origin == f"{__file__}:{at} sub"
    z, at = Tensor([[1, 2]]), line()
    assert z.uop.origin == f"{__file__}:{at} Tensor"


def call_of(x: Tensor) -> str:
    return split_origin(x.uop.origin or "")[1]


class Scaled(nn.Linear):
    """A user's layer."""


@pytest.mark.parametrize(
    ("layer", "shape", "name"),
    [
        (nn.Conv1d(2, 2, 1), (1, 2, 3), "Conv1d"),
        (nn.ConvTranspose2d(2, 2, 1), (1, 2, 3, 3), "ConvTranspose2d"),
        (nn.BatchNorm(2), (1, 2), "BatchNorm"),
        (nn.InstanceNorm(2), (1, 2, 3), "InstanceNorm"),
        (nn.RMSNorm(2), (1, 2), "RMSNorm"),
        (Scaled(2, 2), (1, 2), "Scaled"),
    ],
)
def test_a_layer_names_its_class(
    layer: Callable[[Tensor], Tensor], shape: tuple[int, ...], name: str
) -> None:
    assert call_of(layer(Tensor.rand(*shape))) == name


def test_the_outermost_call_names_what_is_inside_it() -> None:
    q = Tensor.rand(1, 2, 4)
    assert call_of(q.scaled_dot_product_attention(q, q)) == "scaled_dot_product_attention"


def test_layers_and_optimizers_name_what_they_make_and_do() -> None:
    model = nn.Linear(2, 2)
    assert call_of(model.weight) == "Linear"
    optimizer = nn.optim.SGD([model.weight])
    assert call_of(optimizer.lr) == "SGD"
    with Tensor.train():
        model(Tensor.rand(1, 2)).relu().sum().backward()
        assert model.weight.grad is not None
        assert call_of(model.weight.grad) == "Linear.backward"
        optimizer.schedule_step()
    assert call_of(model.weight) == "SGD.schedule_step"


def test_what_is_known_of_an_origin() -> None:
    assert split_origin("a b:1.py:3 relu") == ("a b:1.py:3", "relu")
    assert split_origin("a:4 b.py:3") == ("a:4 b.py:3", "")
    assert split_origin("generated") == ("generated", "")
    assert backward_of("a.py:3 relu") == "a.py:3 relu.backward"
    assert backward_of("a.py:3 relu.backward") == "a.py:3 relu.backward"
    assert backward_of("a.py:3") == "a.py:3"


def names_of(*tensors: Tensor) -> list[list[str]]:
    items = tensors[0].schedule(*tensors[1:])
    return [[split_origin(call)[1] for call in item.metadata] for item in items]


def test_kernels_name_the_calls_that_they_compute() -> None:
    x = Tensor.rand(4, 4).realize()
    assert names_of(x.exp2().sum(1).relu()) == [["exp2", "sum", "relu"]]
    assert names_of(x.permute(1, 0).contiguous()) == [["contiguous"]]


def test_kernels_do_not_name_who_first_wanted_a_constant() -> None:
    x = Tensor.rand(5).realize()
    first = x * 41.5
    assert names_of((x + 41.5).contiguous()) == [["add"]]
    assert call_of(first) == "mul"


def test_rebuilt_nodes_keep_their_call() -> None:
    inner = Tensor.rand(6)
    outer = inner.neg()
    inner.realize()  # what waits is rebuilt on the memory
    assert call_of(outer) == "neg"
    with origin("elsewhere.py:1 add"):
        rebuilt = outer.uop.rebuild((UOp.const(dtypes.float32, 17.25),))
    assert rebuilt.origin == outer.uop.origin


def test_nothing_is_left_behind_by_an_error() -> None:
    with pytest.raises(ShapeError):
        _ = Tensor.zeros(2) + Tensor.zeros(3)
    assert creating.origin is None
    assert here() == ""


def test_an_origin_can_be_set_for_a_block() -> None:
    with origin("model.py:7"):
        x = Tensor([1.0]) + 41.25
        assert here() == "model.py:7"
    assert x.uop.origin == "model.py:7"


def test_there_is_no_line_without_a_frame() -> None:
    assert user_line(None, "relu") is None
