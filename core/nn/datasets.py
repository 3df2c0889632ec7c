"""Well-known sets of images with their classes, fetched when they are asked for and kept in the
user's cache. Files are checked; what is not as expected raises FormatError.
"""

from __future__ import annotations

from typing import Final

from core.errors import FormatError
from core.helpers import prod
from core.nn.files.archives import tar_extract
from core.runtime.device import DeviceLike
from core.tensor import Tensor

MNIST: Final = "https://storage.googleapis.com/cvdf-datasets/mnist/"
FASHION: Final = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
CIFAR: Final = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"

Images = tuple[Tensor, Tensor, Tensor, Tensor]
"""(images to train with, their classes, images to test with, their classes), as uint8."""


def mnist(device: DeviceLike = None, fashion: bool = False) -> Images:
    """Digits (or clothes) of 28x28 grey pixels: images (count, 1, 28, 28), classes (count,).

    Y. LeCun et al., Gradient-based learning applied to document recognition (1998);
    https://arxiv.org/abs/1708.07747. Raises RunError where they cannot be fetched.
    """
    base = FASHION if fashion else MNIST
    found: list[Tensor] = []
    for part in ("train", "t10k"):
        images = _idx(f"{base}{part}-images-idx3-ubyte.gz", device, 28, 28)
        classes = _idx(f"{base}{part}-labels-idx1-ubyte.gz", device)
        _check_counts(base, len(images), len(classes))
        found += [images.unsqueeze(1), classes]
    return found[0], found[1], found[2], found[3]


def cifar(device: DeviceLike = None) -> Images:
    """Things and animals of 32x32 coloured pixels: images (count, 3, 32, 32), classes (count,).

    A. Krizhevsky, Learning multiple layers of features from tiny images (2009). Raises RunError
    where they cannot be fetched.
    """
    files = tar_extract(Tensor.from_url(CIFAR, gunzip=True))
    rows: dict[str, Tensor] = {}
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        data = files.get(f"cifar-10-batches-bin/{name}.bin")
        if data is None or len(data) % 3073:
            raise FormatError(f"{CIFAR} has no whole {name}.bin", hint="remove it from the cache")
        rows[name] = data.reshape(-1, 3073).to(device)
    test = rows.pop("test_batch")
    first, *others = rows.values()
    train = first.cat(*others)
    return *_parted(train), *_parted(test)


def _parted(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Each row is a class and the pixels of an image."""
    return rows[:, 1:].reshape(-1, 3, 32, 32), rows[:, 0]


def _idx(url: str, device: DeviceLike, *shape: int) -> Tensor:
    """The bytes of an IDX file, (count, *shape). It begins with big-endian words: 8 for bytes with
    the number of axes, then the length of each axis."""
    data = Tensor.from_url(url, gunzip=True)
    start = 4 * (2 + len(shape))
    words = [int.from_bytes(data[i : i + 4].data(), "big") for i in range(0, start, 4)]
    fits = len(data) >= start and words[0] == 8 << 8 | len(shape) + 1
    if not fits or tuple(words[2:]) != shape or len(data) - start != prod(words[1:]):
        raise FormatError(f"{url} is no file of bytes of {shape}", hint="remove it from the cache")
    return data[start:].reshape(-1, *shape).to(device)


def _check_counts(base: str, images: int, classes: int) -> None:
    if images != classes:
        raise FormatError(f"{base} has {images} images and {classes} classes")
