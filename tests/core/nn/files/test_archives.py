"""Zip and tar archives: read by parts, and refused where they are hostile."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Tensor
from core.errors import FormatError
from core.nn.files import archives
from core.nn.state import TensorIO, tar_extract, zip_extract
from tests.core.nn.files.zipped import zipped


@pytest.mark.parametrize("compressed", [False, True])
def test_zip(compressed: bool, tmp_path: Path) -> None:
    members = {"a.txt": b"some text", "folder/b": bytes(range(200)), "empty": b""}
    path = tmp_path / "x.zip"
    path.write_bytes(zipped(members, compressed))
    for fn in (path, path.read_bytes()):
        found = zip_extract(fn)
        assert {name: bytes(t.data()) for name, t in found.items()} == members
    assert zip_extract(path)["a.txt"].device.startswith("CPU" if compressed else "DISK")


def test_tar(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    (tmp_path / "b").write_bytes(bytes(range(100)))
    with tarfile.open(path, "w") as archive:
        archive.add(tmp_path / "b", "folder/b")
        archive.add(tmp_path, "folder", recursive=False)
    found = tar_extract(path)
    assert list(found) == ["folder/b"]
    assert found["folder/b"].tolist() == list(range(100))
    for broken in (path.read_bytes()[:520], b"x" * 600):
        with pytest.raises(FormatError, match="not a tar archive"):
            tar_extract(broken)


def test_a_tensor_is_a_file_to_read() -> None:
    stream = TensorIO(Tensor(b"some bytes"))
    assert (stream.read(4), stream.seek(-3, 2), stream.read(), stream.read(1)) == (
        b"some", 7, b"tes", b"")  # fmt: skip
    assert stream.seekable()
    with pytest.raises(FormatError, match="is no file"):
        TensorIO(Tensor([1.0]))


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "/x", "a\\..\\..\\x", "C:x", "C:/x", "//h/s"]
)
def test_names_that_lead_out_of_a_folder_are_refused(name: str) -> None:
    with pytest.raises(FormatError, match="leads out of its folder"):
        zip_extract(zipped({"fine": b"", name: b"x"}))
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    with pytest.raises(FormatError, match="leads out of its folder"):
        tar_extract(into.getvalue())


def test_what_unpacks_to_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zipped({"zeros": bytes(100_000), "more": bytes(100_000)}, compressed=True)
    assert len(data) < 1000
    assert len(zip_extract(data)["zeros"]) == 100_000
    monkeypatch.setattr(archives, "UNPACKED_LIMIT", 150_000)
    with pytest.raises(FormatError, match="bytes unpack to 200000"):
        zip_extract(data)
    assert len(zip_extract(zipped({"zeros": bytes(200_000)}))["zeros"]) == 200_000  # as it is


def changed(data: bytes, signature: bytes, at: int, value: bytes) -> bytes:
    start = data.index(signature) + at
    return data[:start] + value + data[start + len(value) :]


HOSTILE = {
    "size that lies": (changed(zipped({"a": bytes(9000)}, True), b"PK\1\2", 24, b"\1\0\0\0"), ""),
    "beyond": (changed(zipped({"a": b"x"}), b"PK\1\2", 20, b"\xff\0\0\0\xff\0\0\0"), "ends after"),
    "sizes": (changed(zipped({"a": b"xyz"}), b"PK\1\2", 24, b"\1\0\0\0"), "ends after"),
    "offset": (changed(zipped({"a": b"x"}), b"PK\1\2", 42, b"\2\0\0\0"), "where it should be"),
    "method": (changed(zipped({"a": b"x"}, True), b"PK\1\2", 10, b"\x0e\0"), "by method 14"),
    "encrypted": (changed(zipped({"a": b"x"}, True), b"PK\1\2", 8, b"\1\0"), ""),
    "checksum": (changed(zipped({"a": b"x"}, True), b"PK\1\2", 16, b"abcd"), ""),
    "twice": (changed(zipped({"a": b"x", "b": b"y"}), b"PK\1\2", 46, b"b"), ""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(name: str) -> None:
    data, said = HOSTILE[name]
    with pytest.raises(FormatError, match=f"not a zip archive: .*{said}"):
        zip_extract(data)


def test_links_and_sparse_files_of_a_tar_archive_are_left_out() -> None:
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w") as archive:
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        sparse = tarfile.TarInfo("sparse")
        sparse.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(1 << 40)}
        archive.addfile(sparse)
        for content in (b"old", b"newer"):
            member = tarfile.TarInfo("file")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    found = tar_extract(into.getvalue())
    assert {name: bytes(x.data()) for name, x in found.items()} == {"file": b"newer"}


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 400), at=st.integers(0, 399), value=st.integers(0, 255))
def test_damaged_archives_never_raise_anything_else(cut: int, at: int, value: int) -> None:
    data = bytearray(zipped({"a": b"some text", "b": bytes(50)}, compressed=bool(cut % 2)))
    data[at % len(data)] = value
    try:
        for x in zip_extract(bytes(data[: cut or None])).values():
            x.numpy()
    except FormatError:
        pass
