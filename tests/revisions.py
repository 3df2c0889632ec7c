"""This working tree against another revision of it: `python -m tests.revisions main~1`.

Checks that revision out beside this tree, records programs with both, prints what differs and opens
the last pair side by side. Both are recorded one after the other, with the same Python. Never
changes this tree; the checkout is removed in the end, the traces stay.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PROGRAMS: Final = ("a", "b", "c", "digits")
"""Of `tests.bench.program`; the last one is opened."""


class RevisionError(Exception):
    """What cannot be compared, and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of `uopviz diff`: 0 where nothing differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.revisions", description=__doc__)
    parser.add_argument("revision", help="what git calls it: main~1, a tag, a commit")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="default: %(default)s")
    parser.add_argument("--no-open", dest="open", action="store_false", help="only print")
    parser.add_argument("--fail-on", help="as of uopviz diff")
    options = parser.parse_args(arguments)
    programs = [name for name in options.programs.split(",") if name]
    if unknown := [name for name in programs if name not in PROGRAMS] or not programs:
        parser.error(f"no such program: {unknown}; there are {', '.join(PROGRAMS)}")
    try:
        folders = record_both(options.revision, programs)
    except RevisionError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the checkout is removed", file=sys.stderr)
        return 130
    gates = ["--fail-on", options.fail_on] if options.fail_on else []
    pairs = [[str(folder / f"{name}.viz") for folder in folders] for name in programs]
    codes: list[int] = []
    for name, pair in zip(programs, pairs, strict=True):
        print(f"\n{name}: {' '.join(pair)}", flush=True)
        codes.append(uopviz("diff", *pair, *gates))
    if options.open:
        uopviz("open", *pairs[-1])
    return max(codes)


def record_both(revision: str, programs: Sequence[str]) -> tuple[Path, Path]:
    """The folders with the traces of the other revision and of this tree. Raises RevisionError."""
    commit = git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if not commit:
        raise RevisionError(f"{revision} is no revision of this repository; see git log")
    traces = Path(tempfile.mkdtemp(prefix="uopviz-compare-"))
    before, after = traces / commit[:10], traces / "now"
    with checked_out(commit) as other:
        for tree, folder in ((other, before), (ROOT, after)):
            folder.mkdir()
            for name in programs:
                print(f"recording {name} with {folder.name}", flush=True)
                record(tree, name, folder / f"{name}.viz")
    return before, after


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A worktree of a commit, which is removed in the end."""
    with tempfile.TemporaryDirectory(prefix="uopviz-revision-") as folder:
        tree = Path(folder) / "tree"
        try:
            git("worktree", "add", "--detach", "--force", str(tree), commit)
            if not tree.exists():
                raise RevisionError(f"git cannot check out {commit} in {tree}")
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))
            git("worktree", "prune")


def record(tree: Path, program: str, trace: Path) -> None:
    """Records a program with the compiler in a tree. Raises RevisionError where it fails."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("VIZ")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.program", "core", program],
        cwd=tree,  # modules are looked for there first
        env={**kept, "VIZ": "-1", "VIZ_TRACE": str(trace), "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not trace.exists():
        said = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise RevisionError(
            f"program {program} cannot be recorded with the compiler in {tree}:\n{said}\n"
            "its dependencies or its benchmarks may be others; leave it out with --programs"
        )


def git(*arguments: str) -> str:
    """What git prints; "" where it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if not done.returncode else ""


def uopviz(*arguments: str) -> int:
    """Runs the command; its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "viz", *arguments], cwd=ROOT, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
