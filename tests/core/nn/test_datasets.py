"""Sets of images: read from files like the published ones, and refused where they are not whole."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from core import dtypes
from core.errors import FormatError
from core.nn import datasets

RANDOM = np.random.default_rng(1)


def idx(array: np.ndarray) -> bytes:
    words = [8 << 8 | array.ndim, *array.shape]
    return b"".join(n.to_bytes(4, "big") for n in words) + array.tobytes()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("MNIST", "FASHION"):
        monkeypatch.setattr(datasets, name, tmp_path.as_uri() + "/")
    monkeypatch.setattr(datasets, "CIFAR", (tmp_path / "cifar.tar.gz").as_uri())
    return tmp_path


@pytest.mark.parametrize("fashion", [False, True])
def test_mnist(folder: Path, fashion: bool) -> None:
    wanted: list[np.ndarray] = []
    for part, count in (("train", 5), ("t10k", 3)):
        images = RANDOM.integers(0, 256, (count, 28, 28), np.uint8)
        classes = RANDOM.integers(0, 10, count, np.uint8)
        for name, x in (("images-idx3", images), ("labels-idx1", classes)):
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(gzip.compress(idx(x)))
        wanted += [images[:, None], classes]
    for found, want in zip(datasets.mnist(fashion=fashion), wanted, strict=True):
        assert (found.dtype, found.device) == (dtypes.uint8, "CPU")
        np.testing.assert_array_equal(found.numpy(), want)


@pytest.mark.parametrize("data", [
    b"", b"\0\0\x08\x03", idx(np.zeros((2, 28, 27), np.uint8)), idx(np.zeros((2, 28), np.uint8)),
    idx(np.zeros((2, 28, 28), np.uint8))[:-1], idx(np.zeros((2, 28, 28), np.uint8)) + b"x",
    idx(np.zeros((2, 28, 28), np.float32)),
])  # fmt: skip
def test_files_that_are_not_mnist(folder: Path, data: bytes) -> None:
    (folder / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(data))
    with pytest.raises(FormatError, match="is no file of bytes of"):
        datasets.mnist()


def test_images_without_classes(folder: Path) -> None:
    for name, x in (("images-idx3", np.zeros((2, 28, 28))), ("labels-idx1", np.zeros(3))):
        file = folder / f"train-{name}-ubyte.gz"
        file.write_bytes(gzip.compress(idx(x.astype(np.uint8))))
    with pytest.raises(FormatError, match="2 images and 3 classes"):
        datasets.mnist()


def test_cifar(folder: Path) -> None:
    rows = RANDOM.integers(0, 256, (12, 3073), np.uint8)
    names = [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w:gz") as archive:
        for i, name in enumerate(names):
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            data = rows[2 * i : 2 * i + 2].tobytes()
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    (folder / "cifar.tar.gz").write_bytes(into.getvalue())
    images, classes, test_images, test_classes = datasets.cifar()
    pixels = rows[:, 1:].reshape(-1, 3, 32, 32)
    np.testing.assert_array_equal(images.numpy(), pixels[:10])
    np.testing.assert_array_equal(classes.numpy(), rows[:10, 0])
    np.testing.assert_array_equal(test_images.numpy(), pixels[10:])
    np.testing.assert_array_equal(test_classes.numpy(), rows[10:, 0])


def test_cifar_that_is_not_whole(folder: Path) -> None:
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w:gz") as archive:
        member = tarfile.TarInfo("cifar-10-batches-bin/data_batch_1.bin")
        member.size = 3072
        archive.addfile(member, io.BytesIO(bytes(3072)))
    (folder / "cifar.tar.gz").write_bytes(into.getvalue())
    with pytest.raises(FormatError, match=r"no whole data_batch_1\.bin"):
        datasets.cifar()
