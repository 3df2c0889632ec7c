"""Tensors in files: read by parts, moved and bitcast there, written back, never computed on."""

from __future__ import annotations

import errno
import os
import pickle
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Device, Tensor, TinyJit, dtypes
from core.errors import DeviceError, RunError, ShapeError, UopvizError
from core.runtime.disk.file import File
from core.uop import Ops

BYTES = np.random.default_rng(1).integers(0, 256, 96).astype(np.uint8)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "Weights.bin"
    file.write_bytes(BYTES.tobytes())
    return file


def test_a_file_is_a_tensor(path: Path) -> None:
    x = Tensor(path)
    assert (x.shape, x.dtype, x.device) == ((96,), dtypes.uint8, f"DISK:{path}")
    np.testing.assert_array_equal(x.numpy(), BYTES)
    assert Tensor(path, dtype="float32").shape == (24,)
    assert Tensor(path, "CPU").device == "CPU"
    np.testing.assert_array_equal(Tensor(path, "CPU").numpy(), BYTES)


MOVES: dict[str, Callable[[Any], Any]] = {
    "part": lambda x: x[8:24],
    "transposed": lambda x: (
        x.reshape(8, 12).transpose(0, 1)[2:5] if isinstance(x, Tensor) else x.reshape(8, 12).T[2:5]
    ),
    "steps": lambda x: x[5:90:7],
    "backwards": lambda x: x[::-2],
    "column": lambda x: x.reshape(2, 4, 12)[:, 1:3, 5],
    "number": lambda x: x[17],
    "nothing": lambda x: x[7:7],
}


@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
@pytest.mark.parametrize("name", MOVES)
def test_moved_in_the_file(name: str, device: str, path: Path) -> None:
    want = MOVES[name](BYTES)
    got = MOVES[name](Tensor(path))
    assert got.device == f"DISK:{path}"
    np.testing.assert_array_equal(got.numpy(), want)
    np.testing.assert_array_equal((got.to(device).cast("int32") + 1).numpy(), want.astype(int) + 1)


@pytest.mark.parametrize("dtype", ["float32", "int16", "float64", "int8"])
@pytest.mark.parametrize("start", [0, 8, 3])
def test_bitcast_from_any_byte_on(dtype: str, start: int, path: Path) -> None:
    part = BYTES[start : start + 32]
    got = Tensor(path)[start : start + 32].bitcast(dtype)
    want = np.frombuffer(part.tobytes(), dtype)
    assert got.to("CPU").contiguous().realize().data().tobytes() == part.tobytes()
    assert got.reshape(2, -1).T.numpy().tobytes() == want.reshape(2, -1).T.tobytes()


def test_only_what_is_needed_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[tuple[int, int]] = []
    read = File.read

    def noted(self: File, into: memoryview, offset: int) -> None:
        reads.append((offset, offset + into.nbytes))
        read(self, into, offset)

    monkeypatch.setattr(File, "read", noted)
    x = Tensor(path).reshape(8, 12)
    y = x[2:4].bitcast("float32").to("CPU")
    assert not reads
    assert [i.ast.op for i in y.schedule()] == [Ops.COPY]
    x[2:4].bitcast("float32").to("CPU").realize()
    x[5, 2:11:4].numpy()
    x[3:6].T.to("CPU").realize()
    assert reads == [(24, 48), (62, 71), (36, 72)]


def test_written_back(path: Path) -> None:
    x = Tensor(path)
    wanted = BYTES.copy()
    before, waiting = x.to("CPU").realize(), x[:8].to("CPU").cast("int32") + 1
    x[0:4] = Tensor([9, 8, 7, 6], dtype="uint8")
    wanted[:4] = [9, 8, 7, 6]
    x[90:] = 1
    wanted[90:] = 1
    floats = x[8:32].bitcast("float32").reshape(2, 3)
    floats[1].assign([1.5, 2.5, -1.0])
    floats[0, :1] = 4.0
    wanted[8:32].view(np.float32)[[0, 3, 4, 5]] = [4, 1.5, 2.5, -1]
    x[33:37].bitcast("int32").assign(Tensor([7], device="REFERENCE"))
    wanted[33:37] = np.frombuffer(np.int32(7).tobytes(), np.uint8)
    assert path.read_bytes() == wanted.tobytes()
    np.testing.assert_array_equal(x.numpy(), wanted)
    np.testing.assert_array_equal(floats.numpy(), wanted[8:32].view(np.float32).reshape(2, 3))
    np.testing.assert_array_equal(before.numpy(), BYTES)
    np.testing.assert_array_equal(waiting.numpy(), BYTES[:8].astype(int) + 1)


def test_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "new.bin"
    x = Tensor.empty(2, 3, dtype="int16", device=f"disk:{path}")
    assert not path.exists()
    with pytest.raises(RunError, match=r"new.bin: no such file(.|\n)*test_files.py(.|\n)*hint"):
        x.numpy()
    x[1:] = 5
    assert np.fromfile(path, np.int16).tolist() == [0, 0, 0, 5, 5, 5]
    x.assign(np.arange(6).reshape(2, 3))
    assert x.T.tolist() == [[0, 3], [1, 4], [2, 5]]
    saved = Tensor.arange(5).to(f"DISK:{path}")
    assert (saved.tolist(), saved.dtype, saved.device) == ([0, 1, 2, 3, 4], dtypes.int32, x.device)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]], "the file that was there is read on"
    assert Tensor(path, dtype="int32").tolist() == [0, 1, 2, 3, 4]
    assert list(tmp_path.iterdir()) == [path]
    assert Tensor.zeros(0, 3).to(f"DISK:{path}").shape == (0, 3)


def _path(x: Tensor) -> Path:
    """The file of a Tensor, a byte shorter."""
    path = Path(x.device.removeprefix("DISK:"))
    os.truncate(path, 95)
    return path


REFUSED: dict[str, tuple[Callable[[Tensor], Any], type[UopvizError], str]] = {
    "kernel": (lambda x: (x + 1).realize(), DeviceError, "stores but does not compute"),
    "reduce": (lambda x: x.sum().item(), DeviceError, "stores but does not compute"),
    "cast": (lambda x: x.float().numpy(), DeviceError, "stores but does not compute"),
    "clone": (lambda x: x.clone().realize(), DeviceError, "stores but does not compute"),
    "stored": (lambda x: x[::2].contiguous().realize(), DeviceError, "does not compute"),
    "index": (lambda x: x[Tensor([1])].numpy(), DeviceError, "operands on|does not compute"),
    "operand": (lambda x: x + Tensor([1]), DeviceError, r"operands on DISK(.|\n)*to\('CPU'\)"),
    "in place": (lambda x: x.__iadd__(1), DeviceError, "stores but does not compute"),
    "gaps": (lambda x: x.__setitem__(slice(0, 8, 2), 1), DeviceError, "do not follow each other"),
    "dtype": (lambda x: x.assign(Tensor.ones(96)), UopvizError, "cannot assign float32"),
    "shape": (lambda x: x.assign([1, 2]), ShapeError, "cannot store a value of shape"),
    "data": (lambda x: Tensor([1], device=x.device), RunError, "no place for other values"),
    "random": (lambda x: Tensor.rand(3, device=x.device), RunError, "no place for other values"),
    "device": (lambda x: x.to("DISK"), DeviceError, "DISK without a file"),
    "missing": (lambda x: Tensor(Path("/nowhere/x")), RunError, "no such file"),
    "folder": (lambda x: Tensor(Path("/")), RunError, "is no regular file"),
    "elements": (lambda x: Tensor(_path(x), dtype="float64"), RunError, "whole number"),
    "unwritable": (lambda x: x.to("DISK:/nowhere/x"), RunError, r"^/nowhere/x: no such file"),
    "bitcast": (lambda x: x[:9].bitcast("float32"), ShapeError, "whole elements"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, path: Path) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as raised:
        call(Tensor(path))
    assert "hint" in str(raised.value)
    assert "test_files.py" in str(raised.value)
    assert path.read_bytes() == BYTES[: path.stat().st_size].tobytes()


def test_a_file_that_gets_shorter(path: Path) -> None:
    x = Tensor(path)
    os.truncate(path, 10)
    assert x[:10].numpy().tobytes() == BYTES[:10].tobytes()
    with pytest.raises(RunError, match=r"Weights.bin ends at byte 10, and 96 are needed"):
        x.numpy()
    with pytest.raises(RunError, match="ends at byte 10, and 14 are needed"):
        (x[8:14].to("CPU") + 1).realize()


def test_writing_to_a_file_that_has_changed(path: Path) -> None:
    cut, replaced, gone = Tensor(path), Tensor(path), Tensor(path)
    os.truncate(path, 10)
    with pytest.raises(RunError, match=r"ends at byte 10, and had 96 bytes when opened"):
        cut[50:60] = 1
    path.unlink()
    with pytest.raises(RunError, match="no such file"):
        gone[:4] = 1
    assert not path.exists()
    path.write_bytes(b"other")
    with pytest.raises(RunError, match="is another file than the one that was read from"):
        replaced[:4] = 1
    assert path.read_bytes() == b"other"


def test_what_waits_keeps_its_value_whoever_writes(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    for writer in (Tensor(path), Tensor(link)):
        assert writer.device == f"DISK:{path}"
        waiting = Tensor(path)[:2].to("CPU")
        before = Tensor(path)[:2].tolist()
        writer[:1] = before[0] ^ 1
        assert waiting.tolist() == before
        assert Tensor(path)[0].item() == before[0] ^ 1


def test_only_a_regular_file_is_replaced(path: Path) -> None:
    pipe = path.with_name("pipe")
    os.mkfifo(pipe)
    with pytest.raises(RunError, match="pipe is no regular file"):
        Tensor([1]).to(f"DISK:{pipe}")
    assert pipe.is_fifo()


def test_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    x = Tensor(path)
    monkeypatch.setattr(os, "posix_fallocate", full)
    for call in (lambda: x[:4].assign([1, 2, 3, 4]), lambda: Tensor.ones(3).to(x.device)):
        with pytest.raises(RunError, match=r"no space left(.|\n)*hint: .*disk full"):
            call()
    assert path.read_bytes() == BYTES.tobytes()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file(path: Path) -> None:
    path.chmod(0o444)
    x = Tensor(path)
    with pytest.raises(RunError, match="permission denied"):
        x[:1].assign([1])
    np.testing.assert_array_equal(x.numpy(), BYTES)


def test_copies_and_pickles(path: Path) -> None:
    """A deep copy is the same file; a pickle holds the bytes, and never writes to a file."""
    x = Tensor(path)[:4]
    other = deepcopy(x)
    assert other.device == x.device
    assert other.tolist() == BYTES[:4].tolist()
    text = pickle.dumps(x)
    path.unlink()
    got = pickle.loads(text)
    assert (got.device, got.tolist()) == (Device.DEFAULT, BYTES[:4].tolist())
    assert not path.exists()


def test_read_anew_by_each_replay(path: Path) -> None:
    file = Tensor(path)

    @TinyJit
    def add(x: Tensor) -> Tensor:
        return (file[:4].to("CPU").cast("int32") + x).realize()

    for i in range(5):
        file[:4] = i
        assert add(Tensor([10, 20, 30, 40])).tolist() == [10 + i, 20 + i, 30 + i, 40 + i]


def test_long_copies_go_in_parts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runtime.disk.file.CHUNK", 7)
    monkeypatch.setattr("core.runtime.allocator.BOUNCE", 5)
    x = Tensor(path)
    np.testing.assert_array_equal(x.to("PTX:EMU").to("CPU").numpy(), BYTES)
    x[1:90] = Tensor(BYTES[:89])
    assert path.read_bytes()[1:90] == BYTES[:89].tobytes()
