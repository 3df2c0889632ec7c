"""What `make test-changed` runs: the tests that a change touches.

`python -m tests.changed [REV]` compares the working tree with REV: by default with where this
branch left `origin/main`, or else with the last commit. A test file is touched by a module that it
or one of its helpers imports, and by whatever lies in the room that it mirrors (`tests/core/passes`
has the tests of `core/passes`). A changed page brings the page's unit tests and those in a browser.
Never says that a change is right: `make test-all` does.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = "viz/web/"
IN_BROWSER = ("tests/browser", "tests/journeys", "tests/states")
NEVER = ("tests/bench/", "tests/conformance/", "tests/gpu/")
"""Tests that other commands run."""


def changed_files(revision: str | None) -> list[str]:
    """Paths that differ from a revision, new ones too."""
    base = revision or _git("merge-base", "HEAD", "origin/main") or "HEAD"
    differ = _git("diff", "--name-only", base, "--").splitlines()
    new = _git("ls-files", "--others", "--exclude-standard").splitlines()
    return sorted({*differ, *new})


def touched(files: Sequence[str]) -> list[str]:
    """The test files that changes of `files` touch; "tests" where one may touch all."""
    if any(path in ("pyproject.toml", "tests/conftest.py") for path in files):
        return ["tests"]
    found: set[str] = set()
    if any(path.startswith(PAGE) for path in files):
        found.update(folder for folder in IN_BROWSER if (ROOT / folder).is_dir())
    if any(path.startswith(("docs/", "README")) for path in files):
        found.add("tests/docs")
    changed = {_module(path) for path in files if path.endswith(".py")}
    imports = _imports_of_tests()
    for path in ROOT.glob("tests/**/test_*.py"):
        name = _relative(path)
        if name in files or _with_helpers(_module(name), imports) & changed:
            found.add(name)
    for path in files:
        if path.split("/")[0] in ("core", "viz", "examples") and not path.startswith(PAGE):
            found.update(_mirrored(path))
    return sorted(
        path
        for path in found
        if not path.startswith(NEVER) and not any(f"{part}/" in path for part in found)
    )


def _mirrored(path: str) -> Iterator[str]:
    """The tests of the room that a file lies in, or of the nearest one around it."""
    room = Path(path).parent
    while room.parts:
        folder = ROOT / "tests" / room
        if found := sorted(folder.glob("test_*.py")):
            yield from (_relative(file) for file in found)
            return
        room = room.parent


def _with_helpers(test: str, imports: dict[str, set[str]]) -> set[str]:
    """What a test imports, and what those of its imports do that are tests' own."""
    seen: set[str] = set()
    stack = [test]
    while stack:
        for name in imports.get(stack.pop(), ()):
            if name not in seen:
                seen.add(name)
                stack.append(name)
    return seen


@cache
def _imports_of_tests() -> dict[str, set[str]]:
    return {_module(_relative(path)): set(_imports(path)) for path in ROOT.glob("tests/**/*.py")}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ("git", *arguments), cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def main(arguments: list[str]) -> int:
    """The exit status: that of the tests, 0 where none is touched."""
    files = changed_files(arguments[0] if arguments else None)
    tests = touched(files)
    print(f"{len(files)} files have changed; they touch {len(tests)} test files or folders")
    failed = 0
    if any(path.startswith(PAGE) for path in files):
        npm = Path(sys.executable).with_name("npm")
        failed |= subprocess.call((npm, "--prefix", PAGE, "test", "--silent"), cwd=ROOT)
    if tests:
        jobs = os.environ.get("JOBS", "auto")
        run = (sys.executable, "-m", "pytest", "-n", jobs, "--dist", "loadgroup", *tests)
        failed |= subprocess.call(run, cwd=ROOT)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
