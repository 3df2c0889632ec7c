"""Files from the network, kept in the user's cache. Files are fetched on demand, and only once.
Where the user has no cache of their own, they are kept until the process ends.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import zlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final
from urllib.parse import urlsplit

from core.errors import RunError
from core.private import is_own, kept_folder
from core.runtime.disk.file import File, replace_file

SCHEMES: Final = ("https", "http", "file")
TIMEOUT: Final = 30
"""Seconds without data after which a transfer fails."""
LIMIT: Final = 1 << 36
"""Most bytes of a file, once it is unpacked."""
_CHUNK: Final = 1 << 20


def fetch(url: str, gunzip: bool = False) -> Path:
    """A file of the user's cache with what is at `url`, unpacked if `gunzip`. A path is returned as
    it is.

    Raises RunError for what cannot be fetched: no connection, no such page, a file that is cut
    short or not what `gunzip` unpacks, a full disk.
    """
    scheme = urlsplit(url).scheme
    if not scheme and not gunzip:
        return Path(url)
    if scheme not in SCHEMES:
        raise RunError(f"{url}: no address", hint=f"it begins with one of {', '.join(SCHEMES)}")
    name = hashlib.sha256(f"{url} {gunzip}".encode()).hexdigest()[:32]
    folder = kept_folder("downloads") or Path(_of_this_process().name)
    path = folder / name
    if is_own(path):
        return path
    # imported here because few programs fetch, and all would pay for the import
    request: Any = importlib.import_module("urllib.request")
    client: Any = importlib.import_module("http.client")
    try:
        with request.urlopen(url, timeout=TIMEOUT) as answer:
            length = answer.headers.get("Content-Length")
            replace_file(path, lambda file: _receive(file, answer, gunzip, length))
    except (OSError, client.HTTPException, EOFError, ValueError, zlib.error) as error:
        raise RunError(
            f"{url}: {error}",
            hint="is the address right, and is there a connection? What was fetched before is in "
            f"{folder}",
        ) from error
    return path


@cache
def _of_this_process() -> TemporaryDirectory[str]:
    """A folder that only this user can read, and that is removed when the process ends."""
    return TemporaryDirectory(prefix="uopviz-")


def _receive(file: File, answer: IO[bytes], gunzip: bool, length: str | None) -> None:
    """Writes all that a server sends. Raises EOFError where it sends less than it announced."""
    source = gzip.GzipFile(fileobj=answer) if gunzip else answer
    at = 0
    while part := _more(source):
        file.write(memoryview(part), at)
        at += len(part)
        if at > LIMIT:
            raise ValueError(f"more than {LIMIT} bytes")
    if not gunzip and length is not None and at != int(length):
        raise EOFError(f"{at} bytes of {length}")
    if not at:
        file.write(memoryview(b""), 0)


def _more(source: IO[bytes] | gzip.GzipFile) -> bytes:
    """The next part. Network errors must not be mistaken for errors of the file."""
    try:
        return source.read(_CHUNK)
    except OSError as error:
        raise ValueError(str(error)) from error
