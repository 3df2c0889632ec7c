"""Finds a driver of OpenCL for the tests of OPENCL: PoCL, which computes on the CPU and comes as a
package of Python, or any other.

Prints one clear sentence where something is missing. Never downloads anything.
"""

from __future__ import annotations

import os
import sys

from core.errors import DeviceError
from core.runtime.opencl.platform import NO_DEVICE, devices


def missing() -> str:
    """What OPENCL lacks on this machine, "" where it can be tested."""
    try:
        found = devices()
    except DeviceError as error:
        return f"the package pyopencl ({error.hint})"
    return "" if found else f"a driver of OpenCL ({NO_DEVICE})"


def main() -> int:
    """Exit status 1 where OPENCL is required (UOPVIZ_REQUIRE_OPENCL=1) and cannot be tested."""
    lacks = missing()
    if not lacks:
        return 0
    print(f"the tests of OPENCL will be skipped: they need {lacks}", file=sys.stderr)
    return 1 if os.environ.get("UOPVIZ_REQUIRE_OPENCL") == "1" else 0


if __name__ == "__main__":
    sys.exit(main())
