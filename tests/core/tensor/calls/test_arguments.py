"""Every public method of Tensor, every parameter, every kind of wrong argument: one clear error."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from core import Device, Tensor, dtypes, nn
from core.errors import DeviceError, DTypeError, ShapeError, UopvizError
from core.tensor.calls.arguments import ANYTHING, kinds_of

METHODS = {
    name: member
    for name, member in inspect.getmembers(Tensor)
    if not name.startswith("_") and callable(member) and name not in ("train", "manual_seed")
}
"""All but those that change the state of the process."""
WRONG: dict[str, Any] = {
    "text": "x",
    "None": None,
    "float": 1.5,
    "NaN": float("nan"),
    "complex": 1j,
    "object": object(),
    "dict": {},
    "set": {1},
    "bytes": b"ab",
    "list of text": ["a"],
    "list of None": [None],
    "tuple of floats": (1.5,),
    "nested": ((1, 2), (3, 4)),
    "array": np.zeros(3),
    "dtype": dtypes.int32,
    "far": 99,
    "far back": -99,
    "huge": 10**30,
    "many": tuple(range(9)),
    "zeros": (0, 0),
    "far in a list": [-99],
    "True": True,
    "vector": Tensor([1.0, 2.0, 3.0]),
    "ints": Tensor([7]),
    "bools": Tensor([True, False]),
    "empty": Tensor.zeros(0),
    "half": Tensor([1.0], dtype="float16"),
    "elsewhere": Tensor([1.0, 2.0, 3.0], device="NULL"),
}
BIG = {"huge", "far", "many"}
"""Right for lengths and counts, only large."""
RIGHT: dict[str, Any] = {
    "index": Tensor([[0, 1, 0]]),
    "mask": Tensor([[True, False, True]]),
    "Y": Tensor([0, 1]),
    "formula": "ij->ij",
    "shape": (2, 3),
    "data": bytes(24),
    "array": np.zeros((2, 3)),
    "reduce": "sum",
    "layers": [lambda t: t],
    "arg": ((0, 1), (0, 2)),
    "padding": ((1, 1), (0, 2)),
    "coefficients": [1.0, 2.0],
    "dtype": dtypes.float32,
    "min_": 0.0,
    "fill_value": 1.0,
    "start": 1.0,
    "stop": 1.0,
}
"""What required parameters get; the others 1, or a Tensor."""


def right(name: str, annotation: str) -> Any:
    if name in RIGHT:
        return RIGHT[name]
    return Tensor.ones(2, 3) if "Tensor" in annotation else 1


def attempts(name: str) -> list[tuple[str, Callable[[Tensor], object]]]:
    """A call for each parameter of a method and each wrong argument, the others being right."""
    method = METHODS[name]
    parameters = [p for p in inspect.signature(method).parameters.values() if p.name != "self"]
    bound = "self" in inspect.signature(method).parameters
    made: list[tuple[str, Callable[[Tensor], object]]] = []
    for wrong in parameters:
        if wrong.kind is wrong.VAR_KEYWORD:
            continue
        for kind, value in WRONG.items():
            if kind in BIG and (not bound or name in ("repeat", "repeat_interleave", "one_hot")):
                continue
            args: list[Any] = []
            named: dict[str, Any] = {}
            for p in parameters:
                if p is not wrong and (p.default is not p.empty or p.kind is p.VAR_KEYWORD):
                    continue
                given = value if p is wrong else right(p.name, str(p.annotation))
                if p.kind is p.KEYWORD_ONLY or p.default is not p.empty:
                    named[p.name] = given
                else:
                    args.append(given)

            def call(x: Tensor, args: Any = tuple(args), named: Any = named) -> object:
                return method(x, *args, **named) if bound else method(*args, **named)

            made.append((f"{name}({wrong.name}={kind})", call))
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", METHODS)
def test_no_argument_gives_an_error_of_python(name: str) -> None:
    raw: list[str] = []
    for (label, call), shape in product(attempts(name), ((2, 3), (), (0, 3))):
        x = Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
        try:
            call(x)
        except UopvizError as error:
            if not error.where:
                raw.append(f"{label} of {shape}: no place: {error}")
        except Exception as error:
            raw.append(f"{label} of {shape}: {type(error).__name__}: {error}")
    assert not raw, "\n".join(raw)


def test_every_annotation_is_understood() -> None:
    known = ANYTHING | {"Tensor | Number", "Tensor | Number | None"}
    for name, member in METHODS.items():
        function = inspect.unwrap(member)
        assert isinstance(function, FunctionType)
        for p in inspect.signature(function).parameters.values():
            text = str(p.annotation)
            if (
                p.name in ("self", "cls")
                or p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
                or text in known
            ):
                continue
            parts = set(re.split(r" \| (?![^\[]*\])", text))
            assert kinds_of(text, Tensor) is not None or parts & ANYTHING, (name, p.name, text)


def x() -> Tensor:
    return Tensor.zeros(2, 3)


AXIS: dict[str, Callable[[Tensor, int], object]] = {
    **{
        name: lambda t, a, name=name: getattr(t, name)(a)
        for name in ("sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax",
                     "argmin", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax",
                     "log_softmax", "logsumexp", "sort", "argsort", "squeeze", "flip", "flatten",
                     "layernorm")
    },
    "flatten to": lambda t, a: t.flatten(0, a),
    "transpose": lambda t, a: t.transpose(0, a),
    "topk": lambda t, a: t.topk(1, a),
    "gather": lambda t, a: t.gather(a, Tensor.zeros(*t.shape, dtype="int32")),
    "scatter": lambda t, a: t.scatter(a, Tensor.zeros(*t.shape, dtype="int32"), t),
    "repeat_interleave": lambda t, a: t.repeat_interleave(2, a),
}  # fmt: skip
NEEDS_AXIS: dict[str, Callable[[Tensor, int], object]] = {
    "size": lambda t, a: t.size(a),
    "split": lambda t, a: t.split(1, a),
    "chunk": lambda t, a: t.chunk(1, a),
    "roll": lambda t, a: t.roll(1, a),
    "unflatten": lambda t, a: t.unflatten(a, (1, -1)),
    "diagonal": lambda t, a: t.diagonal(0, 0, a),
    "cat": lambda t, a: t.cat(t, dim=a),
}


@pytest.mark.parametrize("name", [*AXIS, *NEEDS_AXIS])
def test_axes_out_of_range(name: str) -> None:
    call = (AXIS | NEEDS_AXIS)[name]
    for shape in ((), (1,), (2, 3), (0,), (2, 0, 3)):
        most = max(1, len(shape))
        for axis in (-most - 2, -most - 1, most, most + 1):
            with pytest.raises(ShapeError) as caught:
                call(Tensor.zeros(*shape), axis)
            assert "test_arguments.py" in caught.value.where
    for axis in (0, -1):
        if name in NEEDS_AXIS:
            with pytest.raises(ShapeError):
                call(Tensor(3.0), axis)
        else:
            call(Tensor(3.0), axis)


@pytest.mark.parametrize(
    ("mistake", "error", "words"),
    [
        (lambda: x().sum("x"), DTypeError, r"sum: axis is 'x' \(str\)\n.*\n.*takes an axis"),
        (lambda: x().sum(1.0), DTypeError, r"sum: axis is 1.0 \(float\)"),
        (lambda: x().sum(keepdim="no"), DTypeError, "keepdim is 'no'.*\n.*\n.*True or False"),
        (lambda: x().cat("ab"), DTypeError, "cat: others is 'ab'.*\n.*\n.*takes a Tensor"),
        (lambda: x().dropout(x()), DTypeError, "p is of type Tensor|p is <Tensor"),
        (lambda: x().to(("CPU:1", 2)), DTypeError, "device is .'CPU:1', 2"),
        (lambda: Device.canonicalize(("CPU:1", "CPU:2")), DeviceError, "a device is named by text"),
        (lambda: Tensor([3], dtype=(dtypes.int,)), DTypeError, "Tensor: dtype is .dtypes.int32"),
        (lambda: nn.Linear(2, 2).weight.cast((1,)), DTypeError, "cast: dtype"),
        (lambda: Tensor(3.0)[True], DTypeError, "indexed by bool"),
        (lambda: x()[1.5:2], DTypeError, "a slice from 1.5 to 2"),
        (lambda: x()[Tensor([True])], ShapeError, r"mask of shape \(1,\) for axes of lengths \(2,"),
        (lambda: x()[:, [True, False]], ShapeError, r"mask of shape \(2,\) for axes .* \(3,\)"),
        (lambda: x()[..., [True, False]], ShapeError, r"mask of shape \(2,\) for axes .* \(3,\)"),
        (lambda: x()[None, x().T > 0], ShapeError, r"mask of shape \(3, 2\) for axes .* \(2, 3\)"),
        (lambda: x()[0, x() > 0], ShapeError, r"mask of shape \(2, 3\) for axes of lengths \(3,"),
        (lambda: nn.Conv2d(1, 1, 3, stride=2, padding="same"), ShapeError, "with stride 2"),
        (lambda: nn.Conv2d(1, 1, 3, stride=(1, 2), padding="same"), ShapeError, "with stride"),
        (lambda: x().uop.replace(shape=(3,)), TypeError, "unexpected keyword argument 'shape'"),
        (lambda: Tensor.arange(0, float("inf")), ShapeError, "arange from 0 to inf"),
        (lambda: x().unflatten(1, (2, 2)), ShapeError, "cannot split 3 elements into"),
        (lambda: x().repeat_interleave(-1), ShapeError, "repeats of -1"),
        (lambda: x().meshgrid(Tensor([1])), ShapeError, r"meshgrid of shape \(2, 3\)"),
        (lambda: Tensor.glorot_uniform(), ShapeError, "without axes"),
    ],
)
def test_what_is_said(mistake: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        mistake()


def test_masks_and_indices_that_fit() -> None:
    t = Tensor(np.arange(24.0).reshape(2, 3, 4))
    n = t.numpy()
    rows, mask = np.array([True, False]), n[0] > 5
    np.testing.assert_array_equal(t[Tensor(rows)].numpy(), n[rows])
    np.testing.assert_array_equal(t[:, Tensor(mask)].numpy(), n[:, mask])
    np.testing.assert_array_equal(t[..., Tensor(mask[0])].numpy(), n[..., mask[0]])
    np.testing.assert_array_equal(t[None, 0, Tensor(mask)].numpy(), n[None, 0, mask])
    np.testing.assert_array_equal(t[np.int64(1), np.uint8(2)].numpy(), n[1, 2])
    assert t[[]].shape == (0, 3, 4)
    assert Tensor(3.0)[Tensor(True)].tolist() == [3.0]
    assert Tensor(3.0)[Tensor(False)].tolist() == []
    assert Tensor(3.0).flatten().tolist() == [3.0]
    assert Tensor(3.0).transpose(0, 0).tolist() == 3.0


def test_operations_on_no_elements() -> None:
    none = Tensor.zeros(2, 0)
    for x in (none, none.T):
        for axis in (0, 1):
            assert x.softmax(axis).shape == x.log_softmax(axis).shape == x.shape
            assert x.softmax(axis).numpy().size == 0
    assert none.logsumexp(1).tolist() == [-np.inf] * 2
    assert none.logsumexp().item() == -np.inf
    index = Tensor.zeros(2, 0, dtype="int32")
    assert Tensor.ones(2, 3).scatter(1, index, none).tolist() == [[1.0] * 3] * 2


LAYERS = re.compile(r"\b(" + "|".join(c.__name__ for c in Tensor.__mro__[1:-1]) + r")\b")


def test_errors_name_the_class_that_users_know() -> None:
    """With arguments that are missing, too many, or unknown."""
    for name in METHODS:
        named_as_users_know_it(name)


def named_as_users_know_it(name: str) -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    calls: list[Callable[[], object]] = [
        getattr(x, name),
        getattr(Tensor, name),
        partial(getattr(x, name), *(None,) * 30),
        partial(getattr(x, name), no_such=1),
        partial(getattr(Tensor, name), no_such=1),
    ]
    for call in calls:
        said = ""
        try:
            call()
        except TypeError as error:  # of Python
            said = str(error)
            assert "Tensor." in said, name
        except UopvizError as error:
            said = str(error)
        assert not LAYERS.search(said), name
    assert getattr(Tensor, name).__qualname__ == f"Tensor.{name}"
