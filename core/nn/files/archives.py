"""Archives of files in a Tensor of bytes: zip and tar.

Members that are stored as they are become parts of that Tensor, so those of a file are read when
they are computed. Nothing is written. What is no archive, and what no honest archive has, raises
FormatError: members outside of the file, names that lead out of a folder, one name twice, and
compressed members that unpack to very much.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Final

from core.dtype import dtypes
from core.errors import FormatError
from core.runtime.disk.device import is_disk
from core.tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Buffer

BLOCK: Final = 1 << 16
"""Bytes that are read at once where archives are searched."""
UNPACKED_LIMIT: Final = 1 << 28
UNPACKED_RATIO: Final = 50
"""The members of an archive unpack to at most so many bytes, or so many times its own size."""


def bytes_of(fn: str | Path | bytes | Tensor) -> Tensor:
    """A Tensor of the bytes of a file, which stays on its device. Raises FormatError for a Tensor
    that is none."""
    data = fn if isinstance(fn, Tensor) else Tensor(fn if isinstance(fn, bytes) else Path(fn))
    if data.dtype is not dtypes.uint8 or data.ndim != 1:
        raise FormatError(
            f"a Tensor of {data.shape} {data.dtype} is no file",
            hint="give the bytes of one: Tensor(Path(...))",
        )
    return data


class TensorIO(io.RawIOBase):
    """A Tensor of bytes as a file to read. Each read computes the part that it reads."""

    def __init__(self, data: Tensor) -> None:
        super().__init__()
        self._data, self._at = bytes_of(data), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._data)}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Buffer, /) -> int:
        into = memoryview(buffer).cast("B")
        part = self._data[self._at : self._at + len(into)]
        into[: len(part)] = part.data()
        self._at += len(part)
        return len(part)


def zip_extract(fn: str | Path | bytes | Tensor) -> dict[str, Tensor]:
    """The files of a zip archive as Tensors of bytes, by name. Compressed ones are unpacked at
    once. Raises FormatError for what is no such archive, and for hostile ones."""
    data = bytes_of(fn)
    with reading("zip archive"), zipfile.ZipFile(_file(data)) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        _check_names("zip archive", [info.filename for info in members])
        unpacked = sum(info.file_size for info in members if not _stored(info))
        if unpacked > max(UNPACKED_LIMIT, UNPACKED_RATIO * len(data)):
            raise not_a("zip archive", f"its {len(data)} bytes unpack to {unpacked}")
        found = {info.filename: _zip_member(data, archive, info) for info in members}
        if len(found) < len(members):
            raise not_a("zip archive", "it has two files of one name")
        return found


def tar_extract(fn: str | Path | bytes | Tensor) -> dict[str, Tensor]:
    """The regular files of a tar archive as Tensors of bytes, by name; of files of one name the
    last, as a tar archive means it. Links, devices and sparse files are left out. Raises
    FormatError for what is no such archive, for a compressed one, and for hostile ones."""
    data = bytes_of(fn)
    with reading("tar archive"), tarfile.open(fileobj=_file(data), mode="r:") as archive:
        members = [m for m in archive.getmembers() if m.isreg() and not m.issparse()]
        _check_names("tar archive", [m.name for m in members])
        for m in members:
            if m.size < 0 or m.offset_data + m.size > len(data):
                raise not_a("tar archive", f"{m.name!r} ends after the file")
        return {m.name: data[m.offset_data : m.offset_data + m.size] for m in members}


def _stored(info: zipfile.ZipInfo) -> bool:
    """Whether a member is in the archive as it is: not compressed, nor encrypted."""
    return info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1


def _zip_member(data: Tensor, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Tensor:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise not_a(
            "zip archive", f"{info.filename!r} is compressed by method {info.compress_type}"
        )
    if not _stored(info):
        return Tensor(archive.read(info), None if _is_file(data) else data.device)
    at = info.header_offset
    local = bytes(data[max(0, at) : max(0, at) + 30].data())
    if at < 0 or local[:4] != b"PK\3\4":
        raise not_a("zip archive", f"{info.filename!r} is not where it should be")
    start = at + 30 + sum(int.from_bytes(local[k : k + 2], "little") for k in (26, 28))
    if info.compress_size != info.file_size or start + info.file_size > len(data):
        raise not_a("zip archive", f"{info.filename!r} ends after the file")
    return data[start : start + info.file_size]


def _check_names(kind: str, names: list[str]) -> None:
    """Programs make files of these names: none may be outside of their folder on any system."""
    for name in names:
        path = PureWindowsPath(name)
        if path.anchor or ".." in path.parts:
            raise not_a(kind, f"the name {name!r} leads out of its folder")


def _is_file(data: Tensor) -> bool:
    return is_disk(data.device)


def _file(data: Tensor) -> io.BufferedReader:
    return io.BufferedReader(TensorIO(data), BLOCK)


@contextmanager
def reading(kind: str) -> Generator[None]:
    """Whatever goes wrong with hostile bytes in the block is a FormatError: not a `kind`."""
    try:
        yield
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError,
            RuntimeError, RecursionError, MemoryError, OverflowError, ValueError, TypeError,
            LookupError, AttributeError, OSError) as error:  # fmt: skip
        raise not_a(kind, str(error) or type(error).__name__) from error


def not_a(kind: str, why: str) -> FormatError:
    """The error for bytes that are not a `kind` of file."""
    return FormatError(
        f"not a {kind}: {why}", hint="the file may be truncated, compressed, or of another kind"
    )
