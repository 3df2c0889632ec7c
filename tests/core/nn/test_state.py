"""State of models, and safetensors files: round trips, and hostile files that must be refused."""

from __future__ import annotations

import json
import struct
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Tensor, dtypes, nn
from core.errors import FormatError, RunError, ShapeError
from core.nn import state
from core.nn.state import (
    get_parameters,
    get_state_dict,
    load_state_dict,
    safe_load,
    safe_load_metadata,
    safe_save,
)
from core.realize import capturing
from core.runtime.disk.file import File


class Model:
    def __init__(self) -> None:
        self.first = nn.Linear(2, 3)
        self.rest = [nn.Linear(3, 3, bias=False), {"norm": nn.LayerNorm(3)}]
        self.name = "model"
        self.act = Tensor.relu
        self.me = self
        self.tied = self.first


def test_names_are_paths() -> None:
    assert list(get_state_dict(Model())) == [
        "first.weight", "first.bias", "rest.0.weight", "rest.1.norm.weight", "rest.1.norm.bias",
        "tied.weight", "tied.bias"]  # fmt: skip
    assert list(get_state_dict([Tensor(1.0)], "a.")) == ["a.0"]
    pair = namedtuple("pair", "left right")
    assert list(get_state_dict(pair(Tensor(1.0), Tensor(2.0)))) == ["left", "right"]


def test_a_shared_parameter_counts_once() -> None:
    assert len(get_parameters(Model())) == 5


def test_loading_into_a_model() -> None:
    source, target = nn.Linear(2, 3), nn.Linear(2, 3)
    Tensor.realize(*get_parameters(target))
    memory = target.weight.uop.base
    load_state_dict(target, get_state_dict(source))
    assert target.weight.tolist() == source.weight.tolist()
    assert target.weight.uop.base is memory


def test_what_does_not_fit_is_refused() -> None:
    layer = nn.Linear(2, 3)
    state = get_state_dict(nn.Linear(2, 3))
    with pytest.raises(FormatError, match="1 names of the model are missing"):
        load_state_dict(layer, {"weight": state["weight"]})
    with pytest.raises(FormatError, match="1 are unknown"):
        load_state_dict(layer, {**state, "more": Tensor(1.0)})
    load_state_dict(layer, {"weight": state["weight"], "more": Tensor(1.0)}, strict=False)
    with pytest.raises(ShapeError, match="weight is"):
        load_state_dict(layer, {**state, "weight": Tensor.zeros(3, 3)})
    load_state_dict(layer, state, consume=True)
    assert not state


KINDS = [d for d in dtypes.all if not d.name.startswith("fp8")]


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_round_trip(dtype: Any, tmp_path: Path) -> None:
    made = {"a.b": Tensor([[0, 1, 2], [3, 4, 5]]).cast(dtype), "": Tensor(1).cast(dtype),
            "none": Tensor.zeros(0, 2, dtype=dtype), "other": Tensor([1.5, -2.5])}  # fmt: skip
    file = tmp_path / "model.safetensors"
    safe_save(made, file, {"format": "pt"})
    found = safe_load(file)
    assert found.keys() == made.keys()
    for name, tensor in made.items():
        assert (found[name].dtype, found[name].shape) == (tensor.dtype, tensor.shape)
        np.testing.assert_array_equal(found[name].numpy(), tensor.numpy())
    assert safe_load_metadata(file) == {"format": "pt"}
    assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]


def test_the_file_is_what_the_format_says(tmp_path: Path) -> None:
    file = tmp_path / "x"
    safe_save({"x": Tensor([1.0, 2.0])}, file)
    raw = file.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    assert length % 8 == 0
    assert json.loads(raw[8 : 8 + length]) == {
        "x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}  # fmt: skip
    assert raw[8 + length :] == struct.pack("<2f", 1, 2)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "x"
    safe_save({"x": Tensor([1.0])}, file)
    with pytest.raises(FormatError, match="__metadata__"):
        safe_save({"__metadata__": Tensor([1.0])}, file)
    assert safe_load(file)["x"].tolist() == [1]
    assert len(list(tmp_path.iterdir())) == 1


def built(header: object, body: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


def entry(dtype: Any = "F32", shape: Any = (1,), offsets: Any = (0, 4)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


HOSTILE = {
    "empty": b"",
    "short": b"\x01\x02",
    "no header": struct.pack("<Q", 0),
    "header of parts": built(b'{"a":[' + b"{}," * (state.PARTS_LIMIT // 2) + b"0]}"),
    "header too long": built({}, length=1 << 62),
    "header beyond the end": built({}, length=40),
    "not text": built(b"\xff\xfe{}"),
    "not json": built(b"{x}"),
    "a list": built([1]),
    "space first": built(b" {}"),
    "a name twice": built(b'{"x":1,"x":2}'),
    "not a number": built(b'{"x":NaN}'),
    "deep": built(b'{"x":' + b"[" * 200_000),
    "no entry": built({"x": 3}),
    "missing field": built({"x": {"dtype": "F32", "shape": [1]}}, b"1234"),
    "extra field": built({"x": {**entry(), "more": 1}}, b"1234"),
    "unknown dtype": built({"x": entry("C64", [1], [0, 8])}, b"12345678"),
    "dtype of lists": built({"x": entry(["F32"])}, b"1234"),
    "negative shape": built({"x": entry(shape=[-1])}, b"1234"),
    "float shape": built({"x": entry(shape=[1.0])}, b"1234"),
    "bool shape": built({"x": entry(shape=[True])}, b"1234"),
    "text shape": built({"x": entry(shape="1")}, b"1234"),
    "huge shape": built({"x": entry(shape=[1 << 62, 1 << 62])}, b"1234"),
    "many axes": built({"x": entry(shape=[1] * 10_000)}, b"1234"),
    "shape against size": built({"x": entry(shape=[2])}, b"1234"),
    "one offset": built({"x": entry(offsets=[4])}, b"1234"),
    "offsets backwards": built({"x": entry(offsets=[4, 0])}, b"1234"),
    "offsets outside": built({"x": entry(shape=[2], offsets=[0, 8])}, b"1234"),
    "overlap": built({"x": entry(), "y": entry()}, b"1234"),
    "hole": built({"x": entry(), "y": entry(offsets=[8, 12])}, b"1234" * 3),
    "left over": built({"x": entry()}, b"12345"),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused(data: bytes) -> None:
    with pytest.raises(FormatError, match="not a safetensors file"):
        safe_load(data)


def test_metadata_must_be_text() -> None:
    with pytest.raises(FormatError, match="metadata"):
        safe_load_metadata(built({"__metadata__": {"a": 1}}))


@given(cut=st.integers(0, 200), flip=st.integers(0, 200), bit=st.integers(0, 7))
@settings(max_examples=60, deadline=None)
def test_damaged_files_never_raise_anything_else(cut: int, flip: int, bit: int) -> None:
    good = bytearray(built({"x": entry(), "y": entry("U8", [2, 2], [4, 8])}, b"12345678"))
    good[flip % len(good)] ^= 1 << bit
    data = bytes(good) if cut % 2 else bytes(good[: cut % len(good)])
    try:
        found = safe_load(data)
    except FormatError:
        return
    assert all(t.numpy().shape == t.shape for t in found.values())


def test_loading_reads_only_what_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.safetensors"
    small = Tensor([1, 2], dtype="int8")
    safe_save({"a": Tensor.arange(1000), "b": Tensor.ones(3), "c": small}, file)
    reads: list[int] = []
    read = File.read

    def noted(self: File, into: memoryview, offset: int) -> None:
        reads.append(into.nbytes)
        read(self, into, offset)

    monkeypatch.setattr(File, "read", noted)
    state = safe_load(file)
    assert all(t.device == "CPU" for t in state.values())
    header = sum(reads)
    assert header < 400
    assert state["b"].tolist() == [1, 1, 1]
    assert (state["c"] + 1).tolist() == [2, 3]
    assert sum(reads) - header == 3 * 4 + 2
    assert safe_load_metadata(file) == {}
    safe_save({name: t for name, t in state.items() if name != "a"}, file)  # the file it is from
    assert state["a"].sum().item() == 499500
    assert safe_load(file)["b"].tolist() == [1, 1, 1]


def test_tensors_in_a_file_are_changed_there(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    safe_save({"a": Tensor([1.0, 2.0]), "b": Tensor([[3, 4]])}, file, {"x": "y"})
    state = safe_load(Tensor(file))
    assert state["a"].device == f"DISK:{file}"
    state["a"].assign([5.0, 6.0])
    assert safe_load(file)["a"].tolist() == [5, 6]
    assert safe_load(Tensor(file, "CPU"))["b"].tolist() == [[3, 4]]
    assert safe_load_metadata(Tensor(file)) == {"x": "y"}
    with pytest.raises(FormatError, match="is no file"):
        safe_load(Tensor([1.0]))


def test_a_file_without_padding(tmp_path: Path) -> None:
    """Elements may begin at any byte of the file."""
    header = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    header += b" " * ((3 - len(header)) % 4)
    data = struct.pack("<Q", len(header)) + header + np.array([1.5, -2.0], np.float32).tobytes()
    (tmp_path / "odd").write_bytes(data)
    assert safe_load(tmp_path / "odd")["a"].tolist() == [1.5, -2]
    assert (safe_load(tmp_path / "odd")["a"] * 2).tolist() == [3, -4]
    assert safe_load(data)["a"].tolist() == [1.5, -2]
    load_state_dict(model := {"a": Tensor.zeros(2)}, safe_load(tmp_path / "odd"))
    assert model["a"].tolist() == [1.5, -2]


def test_a_truncated_file_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    safe_save({"a": Tensor.arange(10)}, file)
    whole = file.read_bytes()
    for length in (0, 7, 20, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(FormatError, match="not a safetensors file"):
            safe_load(file)
    with pytest.raises(RunError, match="no such file"):
        safe_load(tmp_path / "none")


def test_loading_without_realizing() -> None:
    model = {"a": Tensor.zeros(2)}
    with capturing() as steps:
        (loaded,) = load_state_dict(model, {"a": Tensor([1.0, 2.0]) + 1}, realize=False)
    assert not steps
    assert loaded is model["a"]
    assert loaded.tolist() == [2, 3]


def test_objects_of_another_type_by_name() -> None:
    model = {"a": [1, "x"], "b": nn.Sequential(nn.Linear(2, 1), nn.ReLU())}
    assert get_state_dict(model, tensor_type=str) == {"a.1": "x"}
    assert list(get_state_dict(model, tensor_type=nn.Linear)) == ["b.0"]
    assert list(get_state_dict(model)) == ["b.0.weight", "b.0.bias"]
