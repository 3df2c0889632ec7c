"""Which machine this is: as a trace names it, and as what was measured on it is kept by.

Never measures anything and starts no process.
"""

from __future__ import annotations

import os
import platform
import socket
import zlib
from contextlib import suppress
from pathlib import Path


def machine_text() -> str:
    """This machine as a trace names it: system, architecture and cores."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def processor() -> str:
    """The name of the processor; the architecture where the system does not say it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def machine_key() -> str:
    """The same text on the same machine, and another one on any other: of its name, its processor
    and the cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    said = f"{socket.gethostname()} {processor()} {machine_text()} {cores}"
    return f"{zlib.crc32(said.encode()):08x}"
