"""Finds a driver of Vulkan for the tests of WEBGPU: the SwiftShader that comes with Chromium, which
computes on the CPU. The loader of Vulkan is the system's or Chromium's; else it is installed.

Prints one clear sentence where something is missing. Never downloads anything itself.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.browser_setup import find_browser

VARIABLE: Final = "VK_DRIVER_FILES"
"""What tells the loader of Vulkan which drivers there are."""
_NAME: Final = "vk_swiftshader_icd.json"
_FOLDERS: Final = ("/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome")
_PACKAGE: Final = "libvulkan1"
_LOADER: Final = "libvulkan.so.1"


def driver() -> Path | None:
    """The file that names the driver."""
    browser = find_browser()
    folders = [*([Path(browser).resolve().parent] if browser else ()), *map(Path, _FOLDERS)]
    return next((f / _NAME for f in folders if (f / _NAME).exists()), None)


def _loader_of_chromium() -> bool:
    """Loads the loader of Vulkan that lies beside Chromium, for this process by its name and for
    those that it starts by where it lies; whether there is one."""
    found = driver()
    beside = None if found is None else found.parent / _LOADER
    if beside is None or not beside.exists():
        return False
    try:
        ctypes.CDLL(str(beside), mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    folders = [str(beside.parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(dict.fromkeys(folders))
    return True


def missing() -> str:
    """What WEBGPU lacks on this machine, "" where it can be tested. Names the driver to Vulkan,
    unless somebody has."""
    if importlib.util.find_spec("wgpu") is None:
        return "the package wgpu (pip install 'uopviz[webgpu]')"
    if ctypes.util.find_library("vulkan") is None and not _loader_of_chromium():
        return f"the loader of Vulkan (Debian: apt-get install {_PACKAGE})"
    if VARIABLE not in os.environ:
        found = driver()
        if found is None:
            return f"a driver of Vulkan: no {_NAME} beside Chromium, and {VARIABLE} names none"
        os.environ[VARIABLE] = str(found)
    return ""


def main() -> int:
    """Exit status 1 where WEBGPU is required (UOPVIZ_REQUIRE_WEBGPU=1) and cannot be tested."""
    lacks = missing()
    if lacks and shutil.which("apt-get") and os.geteuid() == 0:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        command = ("apt-get", "install", "-y", "-qq", _PACKAGE)
        subprocess.run(command, env=environment, capture_output=True, check=False)
        lacks = missing()
    if not lacks:
        return 0
    print(f"the tests of WEBGPU will be skipped: they need {lacks}", file=sys.stderr)
    return 1 if os.environ.get("UOPVIZ_REQUIRE_WEBGPU") == "1" else 0


if __name__ == "__main__":
    sys.exit(main())
