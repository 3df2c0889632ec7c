"""PyTorch's files: read by parts, and refused where they are hostile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Tensor, dtypes
from core.errors import FormatError
from core.nn.files import checkpoints
from core.nn.state import torch_load
from tests.core.nn.files.zipped import zipped

VALUES = np.arange(12, dtype=np.float32)


def number(n: int) -> bytes:
    return b"J" + n.to_bytes(4, "little", signed=True)


def text(value: str) -> bytes:
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


def many(*values: bytes) -> bytes:
    return b"(" + b"".join(values) + b"t"


def named(module: str, name: str) -> bytes:
    return b"c" + f"{module}\n{name}\n".encode()


def storage(kind: str = "FloatStorage", key: str = "0", size: int = 12) -> bytes:
    place = (text("storage"), named("torch", kind), text(key), text("cpu"), number(size))
    return many(*place) + b"Q"


def tensor(shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0,
           stored: bytes | None = None, name: str = "_rebuild_tensor_v2",
           more: tuple[bytes, ...] = ()) -> bytes:  # fmt: skip
    args = (stored or storage(), number(offset), many(*map(number, shape)),
            many(*map(number, strides)), b"\x89", many(), *more)  # fmt: skip
    return named("torch._utils", name) + many(*args) + b"R"


def mapping(**values: bytes) -> bytes:
    return b"}(" + b"".join(text(k) + v for k, v in values.items()) + b"u"


def file(value: bytes, **members: bytes) -> bytes:
    known = {"data.pkl": b"\x80\x02" + value + b".", "data/0": VALUES.tobytes(), **members}
    return zipped({f"model/{name}": data for name, data in known.items()})


def laughs(depth: int) -> bytes:
    """A list of two times a list of two times a list..."""
    return b"]" + b"".join(b"q%c](h%ch%ce" % (i, i, i) for i in range(depth))


X = tensor((2,), (1,))
VIEWS: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "whole": ((3, 4), (4, 1), 0), "transposed": ((4, 3), (1, 4), 0), "part": ((2,), (1,), 5),
    "column": ((3,), (4,), 1), "steps": ((2, 2), (8, 2), 1), "repeated": ((3, 2, 5), (4, 1, 0), 0),
    "number": ((), (), 7), "nothing": ((0, 3), (3, 1), 0), "ones": ((1, 4, 1), (9, 1, 77), 4),
    "permuted": ((2, 3, 2), (2, 4, 1), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_tensors_as_the_pickle_describes_them(name: str, tmp_path: Path) -> None:
    shape, strides, offset = VIEWS[name]
    data = file(mapping(x=tensor(shape, strides, offset)))
    size = VALUES.itemsize
    want = np.lib.stride_tricks.as_strided(VALUES[offset:], shape, [s * size for s in strides])
    (tmp_path / "model.pt").write_bytes(data)
    for fn in (data, tmp_path / "model.pt", Tensor(tmp_path / "model.pt")):
        (x,) = torch_load(fn).values()
        np.testing.assert_array_equal(x.numpy(), want)
    assert torch_load(tmp_path / "model.pt")["x"].device == "CPU"


def test_what_is_in_a_file() -> None:
    x = tensor((2,), (1,))
    ordered = named("collections", "OrderedDict") + b")R(" + text("w") + x + b"u"
    ordered += mapping(_metadata=number(1)) + b"b"  # an attribute, as models' states have one
    parameter = named("torch._utils", "_rebuild_parameter") + many(x, b"\x88", many()) + b"R"
    half = tensor((2,), (1,), 0, storage("HalfStorage"))
    untyped = (named("torch._utils", "_rebuild_tensor_v3")
               + many(storage("UntypedStorage"), number(0), many(number(4)), many(number(1)),
                      b"\x89", many(), named("torch", "float8_e5m2")) + b"R")  # fmt: skip
    data = file(mapping(model=ordered, epoch=number(3), rest=b"](" + x + parameter + b"e", h=half,
                        f8=untyped), byteorder=b"little")  # fmt: skip
    state = torch_load(data)
    assert list(state) == ["model.w", "rest.0", "rest.1", "h", "f8"]
    assert state["h"].dtype is dtypes.float16
    assert (state["f8"].dtype, state["f8"].shape) == (dtypes.fp8e5m2, (4,))
    assert state["rest.1"].tolist() == [0, 1]
    assert list(torch_load(file(x))) == [""]


HOSTILE: dict[str, tuple[bytes, str]] = {
    "call": (file(named("os", "system") + many(text("true")) + b"R"), r"calls os\.system"),
    "builtin": (file(named("builtins", "eval") + many(text("1")) + b"R"), r"calls builtins\.eval"),
    "torch": (file(named("torch", "load") + many(text("x")) + b"R"), r"calls torch\.load"),
    "class": (file(named("torch.nn", "Linear") + b")\x81"), r"calls torch\.nn\.Linear"),
    "dtype state": (file(named("torch", "FloatStorage") + b"](" + number(1) + b"eb"), "PyTorch"),
    "tensor state": (file(tensor((2,), (1,)) + mapping(shape=text("x")) + b"b"), "PyTorch"),
    "attribute": (file(named("os", "path") + mapping(x=number(1)) + b"b"), "Named where a dict"),
    "key": (file(b"}(" + many(number(1)) + number(2) + b"u"), "key that is a tuple"),
    "laughs": (file(laughs(60)), "too many"),
    "repeats": (file(mapping(x=tensor((1 << 30, 1 << 30), (0, 0)))), "has the shape"),
    "name twice": (file(mapping(**{"a.b": X, "a": mapping(b=X)})), "two Tensors are named 'a.b'"),
    "axes": (file(mapping(x=tensor((1,) * 65, (1,) * 65))), "at most 64 lengths"),
    "marks": (
        zipped({"model/data.pkl": b"(" * 12_000_000}, compressed=True),
        "more than 1,000 marks",
    ),
    "long key": (
        file(b"}" + b"B" + (9000).to_bytes(4, "little") + b"a" * 9000 + X + b"s"),
        "a name",
    ),
    "long name": (file(mapping(**{"a" * 2000: X})), "a name of more than 1024"),
    "dtype": (
        file(
            many(
                storage("UntypedStorage"),
                number(0),
                many(),
                many(),
                b"\x89",
                many(),
                named("torch", "complex64"),
            ).join((named("torch._utils", "_rebuild_tensor_v3"), b"R"))
        ),
        "Tensor of torch.comp",
    ),
    "beyond": (file(mapping(x=tensor((13,), (1,)))), "leaves its storage"),
    "offset": (file(mapping(x=tensor((2,), (1,), 11))), "leaves its storage"),
    "negative": (file(mapping(x=tensor((2,), (-1,), 5))), "leaves its storage"),
    "huge": (file(mapping(x=tensor((1 << 30, 1 << 30), (1, 1)))), "leaves its storage"),
    "overlap": (file(mapping(x=tensor((6, 6), (1, 1)))), "overlap"),
    "negated": (
        file(mapping(x=tensor((2,), (1,), more=(mapping(neg=b"\x88"),)))),
        "negated or conjugated",
    ),
    "ranks": (file(mapping(x=tensor((2, 2), (1,)))), "leaves its storage"),
    "text": (file(tensor((2,), (1,)).replace(number(2), text("2"))), "not made of integers"),
    "no storage": (file(mapping(x=tensor((2,), (1,), 0, storage(key="7")))), "stored nowhere"),
    "kind": (file(mapping(x=tensor((2,), (1,), 0, storage("load")))), "storage of another kind"),
    "order": (file(mapping(), byteorder=b"big"), "not little endian"),
    "no pickle": (zipped({"model/other": b""}), "no data.pkl"),
    "two pickles": (zipped({"a/data.pkl": b"", "b/data.pkl": b""}), "no data.pkl"),
    "no archive": (b"PK\3\4" + bytes(100), "not a zip archive"),
    "nothing": (b"", "not a zip archive"),
    "depth": (file(b"]" * 300 + b"a" * 299), "nested too deep"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name: str) -> None:
    data, said = HOSTILE[name]
    with pytest.raises(FormatError, match=said):
        torch_load(data)


def test_gaps_and_repeats_take_no_more_memory_than_the_storage() -> None:
    (x,) = torch_load(file(mapping(x=tensor((1 << 20, 3), (0, 4))))).values()
    assert x.shape == (1 << 20, 3)
    assert x[5].tolist() == [0, 4, 8]


def test_values_that_are_no_tensors_are_left_out() -> None:
    others = {"name": named("os", "system"), "number": number(1), "text": text("a"), "none": b"N",
              "set": b"\x8f(" + number(1) + b"\x90", "bytes": b"C\x01a",
              "size": named("torch", "Size") + many(many(number(1))) + b"R",
              "place": named("torch", "device") + many(text("cpu")) + b"R"}  # fmt: skip
    assert list(torch_load(file(mapping(**others, x=X)))) == ["x"]
    assert torch_load(file(mapping(number=number(1)))) == {}


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "PICKLE_LIMIT", 10)
    with pytest.raises(FormatError, match="a pickle of"):
        torch_load(file(mapping(x=X)))


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 900), flip=st.integers(0, 899), bit=st.integers(0, 7))
def test_damaged_files_never_raise_anything_else(cut: int, flip: int, bit: int) -> None:
    data = bytearray(file(mapping(x=tensor((3, 4), (4, 1)), y=tensor((4,), (2,)))))
    data[flip % len(data)] ^= 1 << bit
    try:
        for x in torch_load(bytes(data[: cut or None])).values():
            x.numpy()
    except FormatError:
        pass


def test_copies_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many Tensors can each be a copy of the same bytes."""
    part = tensor((2, 2), (8, 2), 1)
    data = file(mapping(**{f"x{n}": part for n in range(200)}))
    assert len(torch_load(data)) == 200
    monkeypatch.setattr(checkpoints, "UNPACKED_LIMIT", 1000)
    monkeypatch.setattr(checkpoints, "UNPACKED_RATIO", 0)
    with pytest.raises(FormatError, match="more memory than is stored"):
        torch_load(data)
