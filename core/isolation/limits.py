"""Limits of memory and files that a worker sets itself. Imports nothing of this project."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Final

try:
    import resource
except ImportError:  # not a Unix
    resource = None

MEMORY_LIMIT: Final = 8 << 30
"""Bytes of memory that a worker may write."""
DRIVER_FILE: Final = 64 << 20
"""Bytes of a file that a driver may write in a worker: PoCL compiles kernels to files."""


def limit_memory(nbytes: int) -> None:
    """Limits the memory that this process may write, where the system can; it leaves no core file
    either. Addresses that are only reserved do not count on Linux: the drivers of GPUs reserve them
    for all memory of the machine."""
    if resource is None:
        return
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (nbytes, nbytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_files(nbytes: int) -> None:
    """Limits the size of every file that this process writes, where the system can; what goes
    beyond raises OSError."""
    if resource is not None:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, nbytes))
