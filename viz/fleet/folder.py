"""Where packed runs lie: a local folder, or an address of fsspec, such as `s3://bucket/runs`.

A file appears whole or not at all: locally it is renamed, an object store does so by itself. One
packer writes at a time (`lock.py`); another one waits. Never knows what is in a file.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

from core.errors import TraceError
from viz.fleet.lock import Guard, remote_lock

HINT: Final = "pip install 'uopviz[fleet]'"
_LOCK: Final = ".packing"

if os.name == "posix":
    import fcntl


def module(name: str) -> Any:
    """A module of the extra `fleet`. Raises TraceError where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise TraceError(
            f"{name.partition('.')[0]} is not installed, which folders of runs need", hint=HINT
        ) from error


class Folder(Protocol):
    """Files by name, as `runs/date=2026-01-31/1f2e.parquet`. What fails raises OSError."""

    address: str
    roots: tuple[str, ...]
    """What the names of its files begin with, as DuckDB spells them."""

    def names(self, table: str) -> list[str]:
        """The files of a table, sorted; with those that were being written."""
        ...

    def read(self, name: str) -> Any:
        """A file, as pyarrow reads it."""
        ...

    def write(self, name: str, data: Any) -> None:
        """Makes a file of bytes, in the place of one that is there."""
        ...

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        ...

    def located(self, name: str) -> str:
        """What DuckDB calls a file."""
        ...

    def attach(self, db: Any) -> None:
        """Lets a connection of DuckDB read this folder."""
        ...

    def alone(self) -> AbstractContextManager[Guard]:
        """Waits until no other packer works here. The block gets what to call before a batch
        appears: it raises OSError where another packer may work here by now."""
        ...


def folder_at(address: str | Path) -> Folder:
    """The folder at a path or an address. Raises TraceError where no library knows the address."""
    if "://" not in str(address):
        return LocalFolder(Path(address))
    core = module("fsspec.core")
    try:
        files, root = core.url_to_fs(str(address))
    except (ImportError, ValueError) as error:
        raise TraceError(
            f"this address cannot be used ({error})",
            str(address),
            "install the fsspec library of its kind, such as s3fs",
        ) from error
    return RemoteFolder(str(address).rstrip("/"), files, root.rstrip("/"))


class LocalFolder:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        self.address = str(path)
        self._path = path
        self.roots = (f"{path.absolute()}/",)

    def names(self, table: str) -> list[str]:
        """See Folder."""
        found: list[str] = []
        with suppress(FileNotFoundError), os.scandir(self._path / table) as days:
            for day in days:
                if day.name.startswith("date=") and day.is_dir():
                    with suppress(FileNotFoundError), os.scandir(day.path) as files:
                        found += [f"{table}/{day.name}/{file.name}" for file in files]
        return sorted(found)

    def read(self, name: str) -> Any:
        """See Folder."""
        return str(self._path / name)

    def write(self, name: str, data: Any) -> None:
        """See Folder."""
        path = self._path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            temporary.write_bytes(data)
            os.replace(temporary, path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """See Folder."""
        (self._path / name).unlink(missing_ok=True)

    def located(self, name: str) -> str:
        """See Folder."""
        return self.roots[0] + name

    def attach(self, db: Any) -> None:
        """See Folder. DuckDB reads local files by itself."""

    @contextmanager
    def alone(self) -> Generator[Guard]:
        """See Folder."""
        self._path.mkdir(parents=True, exist_ok=True)
        with (self._path / _LOCK).open("w") as file:
            if os.name == "posix":
                fcntl.flock(file, fcntl.LOCK_EX)
            yield lambda: None  # the system keeps it for as long as this process runs


class RemoteFolder:
    """A folder of a file system of fsspec."""

    def __init__(self, address: str, files: Any, root: str) -> None:
        self.address = address
        self._files, self._root = files, root
        scheme, bare = address.partition("://")[0], root.lstrip("/")
        self.roots = f"{scheme}://{bare}/", f"{scheme}:///{bare}/"

    def names(self, table: str) -> list[str]:
        """See Folder."""
        self._files.invalidate_cache()
        found: list[str] = self._files.find(f"{self._root}/{table}")
        at = len(self._root) + 1
        return sorted(name[at:] for name in found)

    def read(self, name: str) -> Any:
        """See Folder."""
        return self._files.open(f"{self._root}/{name}", "rb")

    def write(self, name: str, data: Any) -> None:
        """See Folder."""
        path = f"{self._root}/{name}"
        with suppress(FileExistsError):  # an object store has no folders
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(path, bytes(data))

    def remove(self, name: str) -> None:
        """See Folder."""
        with suppress(FileNotFoundError):
            self._files.rm_file(f"{self._root}/{name}")

    def located(self, name: str) -> str:
        """See Folder."""
        return self.roots[0] + name

    def attach(self, db: Any) -> None:
        """See Folder."""
        db.register_filesystem(self._files)

    def alone(self) -> AbstractContextManager[Guard]:
        """See Folder."""
        return remote_lock(self._files, self._root)
