"""Finds Chromium for the browser tests; installs Debian's where it is missing and may be.

Prints one clear sentence where there is none. Never downloads a browser build of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
PACKAGES = ("chromium-headless-shell", "chromium")


def find_browser() -> str | None:
    """The path of an installed Chromium; UOPVIZ_BROWSER names another one."""
    chosen = os.environ.get("UOPVIZ_BROWSER")
    return shutil.which(chosen) if chosen else next(filter(None, map(shutil.which, NAMES)), None)


def install() -> None:
    """Debian's Chromium through apt, without its windows where there is a package of that, which
    takes a third less time; quiet unless it fails."""
    print("installing Chromium for the browser tests (apt-get install chromium) ...", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ("apt-get", *command, "-qq"), env=environment, capture_output=True, text=True
        )

    done = run("update")
    for package in PACKAGES if done.returncode == 0 else ():
        done = run("install", "-y", package)
        if done.returncode == 0:
            return
    print(done.stdout + done.stderr, file=sys.stderr)


def main() -> int:
    """Exit status 1 where a browser is required (UOPVIZ_REQUIRE_BROWSER=1) and missing."""
    if find_browser() is None and shutil.which("apt-get") and os.geteuid() == 0:
        install()
    if find_browser() is not None:
        return 0
    print(
        "no Chromium found, so the browser tests will be skipped: install it with your package "
        "manager (Debian: `apt-get install chromium`) or name one in UOPVIZ_BROWSER",
        file=sys.stderr,
    )
    return 1 if os.environ.get("UOPVIZ_REQUIRE_BROWSER") == "1" else 0


if __name__ == "__main__":
    sys.exit(main())
