"""The lock of a remote folder: at most one packer works there.

Each packer makes an object of its own in `.packers/`, and only then looks for others: where two
begin at once, at least the later one sees the other. One that sees another withdraws and waits.
A packer changes its object at times; one that does not change for LEASE, by the clock of who waits,
is of a packer that is gone, and removed. So clocks of several machines are never compared. The
store has to list what has just been written, as object stores do.
"""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, Final

FOLDER: Final = ".packers"
LEASE: Final = 60.0
"""Seconds without a sign of life after which a packer is gone."""
_PAUSE: Final = 0.5
"""Seconds between two looks, half as many to half as many more: two that saw each other part."""
_LOOKS: Final = 10
"""Looks after which another packer that is still there does not merely try."""
Guard = Callable[[], None]
"""Raises OSError where another packer may work in the folder."""


@contextmanager
def remote_lock(files: Any, root: str) -> Generator[Guard]:
    """Holds the lock of a folder of fsspec for the block; waits for others before."""
    held = _Held(files, f"{root}/{FOLDER}")
    held.wait()
    ended = threading.Event()
    thread = threading.Thread(target=held.renew, args=(ended,), name="lock", daemon=True)
    thread.start()
    try:
        yield held.check
    finally:
        ended.set()
        thread.join()
        held.give_back()


class _Held:
    """The object of one packer."""

    def __init__(self, files: Any, folder: str) -> None:
        self._files, self._folder = files, folder
        self._path = f"{folder}/{uuid.uuid4().hex}"
        self._seen: dict[str, tuple[bytes, float]] = {}
        """What each other object held when it was seen to change last, and when that was."""

    def wait(self) -> None:
        """Returns once this packer is alone."""
        with suppress(FileExistsError):  # an object store has no folders
            self._files.makedirs(self._folder, exist_ok=True)
        while True:
            if not self._others():
                self._sign()
                if not self._others():
                    return
                self.give_back()
            time.sleep(_PAUSE * random.uniform(0.5, 1.5))

    def renew(self, ended: threading.Event) -> None:
        """Shows that this packer lives, until it has ended or is taken for gone."""
        while not ended.wait(LEASE / 6):
            with suppress(Exception):  # the next time
                if self._files.exists(self._path):
                    self._sign()

    def check(self) -> None:
        """See Guard. A packer that stood still for long is taken for gone: its object has been
        removed, or another one is there that stays."""
        for _ in range(_LOOKS):
            self._files.invalidate_cache()
            found = self._files.find(self._folder)
            if not any(self._is_own(name) for name in found):
                break
            if len(found) == 1:
                return
            time.sleep(_PAUSE)
        raise OSError("this packer stood still, and another one has begun: pack again")

    def give_back(self) -> None:
        """Removes the object."""
        with suppress(FileNotFoundError):
            self._files.rm_file(self._path)

    def _sign(self) -> None:
        self._files.pipe_file(self._path, uuid.uuid4().hex.encode())

    def _others(self) -> bool:
        """Whether another packer works here, or is about to; objects of those that are gone are
        removed."""
        self._files.invalidate_cache()
        now = time.monotonic()
        alive = False
        for name in self._files.find(self._folder):
            if self._is_own(name):
                continue
            with suppress(FileNotFoundError):  # it has just been given back
                content = self._files.cat_file(name)
                before, since = self._seen.get(name, (None, now))
                self._seen[name] = content, since if content == before else now
                if now - self._seen[name][1] <= LEASE:
                    alive = True
                else:
                    self._files.rm_file(name)
        return alive

    def _is_own(self, name: str) -> bool:
        return name.rpartition("/")[2] == self._path.rpartition("/")[2]
