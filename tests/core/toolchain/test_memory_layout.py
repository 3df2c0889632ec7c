"""Kernels are loaded wherever free memory of the process lies."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, mmap
from core import Tensor
from core.runtime.device import Device
Device["CPU"]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 5]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE, PRIVATE, NO_RESERVE = mmap.PAGESIZE, 0x22, 0x4000


def mapped(size):
    return libc.mmap(None, size, 0, PRIVATE | NO_RESERVE, 0, 0)


pages = [mapped(PAGE) for _ in range(100_000)]  # no gap is left
far = mapped(5 << 30)
while mapped(PAGE) > far:  # nor between the two
    pass
for i in range(8):  # one page for the code of a kernel; its constants lie below the 5 GB
    libc.munmap(pages[1000 * i + 1], PAGE)
    print((Tensor([1.0, 2.0, 3.0]) * 0.37 + i).sin().sum().item())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="maps memory as Linux does")
def test_code_and_constants_may_lie_far_apart() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.split()) == 8
