"""`python -m tests.on_targets`: every kernel of programs and of the conformance tests, compiled,
assembled, executed by an emulator and compared with the reference, for every GPU target.

Runs the programs as they are to collect their kernels, checks each distinct one in processes of its
own, prints a table of counts and every failure by name, and exits with 1 where there is one.
Nothing is kept for a later run.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from core.isolation import child
from core.kernelname import kernel_name
from core.target import targets
from core.toolchain import nvrtc
from core.toolchain.nvidia_tools import find_tool
from tests import opencl_setup, webgpu_setup
from tests.core.render.compilers import clang_for
from tests.on_targets import texts
from tests.on_targets.collect import FOLDER, PROGRAMS, ROOT, kernel_of, lines_of
from tests.on_targets.results import STEPS, Result, failures, parts, tables

CONFORMANCE: Final = "conformance"
SOURCES: Final = (*PROGRAMS, CONFORMANCE)
GPUS: Final = tuple(t.name for t in targets.values() if t.family != "cpu")
CHUNK: Final = 64
"""Kernels that one process checks."""
WORKER = "tests.on_targets.worker"
"""The module that a process runs."""
STDERR: Final = 2
"""The file of this process that its processes write messages to."""
LIMIT: Final = 900
"""Seconds that one kernel may take on all targets together."""


def columns_of(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """(the columns that can be checked on this machine, why others cannot)."""
    lacks = {"webgpu": webgpu_setup.missing(), "opencl": opencl_setup.missing()}
    lacking = {n: why for n in names if (why := lacks.get(targets[n].family, ""))}
    found = [n for n in names if n not in lacking]
    missing = [f"{name}: there is not {why}" for name, why in lacking.items()]
    if texts.c_compiler():
        found.append("C")
        missing += [
            f"C with {name}: the compiler does not compute with it" for name in texts.c_lacks()
        ]
    else:
        missing.append("C: no compiler (cc, gcc or clang) on PATH")
    nvidia = [n for n in names if targets[n].family == "nvidia"]
    if nvrtc.library() is not None:
        found += [f"CUDA {n}" for n in nvidia]
    elif nvidia:
        missing.append("CUDA C++: no NVRTC; pip install 'uopviz[compilers]' brings it")
    for name in (n for n in names if targets[n].family == "amd"):
        if clang_for(name) is None:
            missing.append(f"HIP C++ for {name}: no clang that makes code for it")
        else:
            found.append(f"HIP {name}")
    return found, missing


def collect(source: str, folder: Path) -> str:
    """Runs a source of kernels, which writes them to a folder; what went wrong, or ""."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, FOLDER: str(folder), "PYTHONPATH": _python_path()}
    command = [sys.executable, "-m", "tests.on_targets.collect", source, str(folder)]
    if source == CONFORMANCE:
        python = ROOT / ".venv" / "conformance" / "bin" / "python"
        if not python.exists():
            return f"no {python.relative_to(ROOT)}: `make conformance` makes it"
        command = [str(python), "-m", "pytest", "-q", "-n", os.environ.get("JOBS", "auto")]
        command += ["-p", "tests.on_targets.collect", "--hypothesis-seed=0", "tests/conformance"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stdout + done.stderr)[-3000:]
        return f"{' '.join(command)} ended with {done.returncode}:\n{last}"
    return ""


def _python_path() -> str:
    return os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))


def check(
    kernels: Mapping[int, str], columns: Sequence[str], seconds: float, jobs: int
) -> list[Result]:
    """Checks kernels, by number, in processes of their own. Ctrl-C ends it once the processes that
    are at work are done, with the results so far."""
    numbers = list(kernels)
    chunks = [numbers[at : at + CHUNK] for at in range(0, len(numbers), CHUNK)]
    began, done = time.monotonic(), 0
    found: list[Result] = []
    with ThreadPoolExecutor(jobs) as pool:
        work = [
            pool.submit(_chunk, {n: kernels[n] for n in chunk}, columns, seconds)
            for chunk in chunks
        ]
        try:
            for chunk, future in zip(chunks, work, strict=True):
                found += future.result()
                done += len(chunk)
                bad = sum(r.failed for r in found)
                said = f"{done} of {len(numbers)} kernels, {bad} failures"
                print(f"{said}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            print("ending: waiting for the kernels at work", file=sys.stderr, flush=True)
            pool.shutdown(cancel_futures=True)
    return found


def _chunk(kernels: Mapping[int, str], columns: Sequence[str], seconds: float) -> list[Result]:
    """Checks some kernels in one process; those that end it are left out, and named."""
    left, crashed = dict(kernels), list[Result]()
    while left:
        request = {
            "kernels": list(left.items()),
            "columns": columns,
            "seconds": seconds,
            "limit": LIMIT,
        }
        process = child.start(WORKER, STDERR)
        try:
            answer, _ = process.communicate(json.dumps(request).encode())
        finally:
            code = child.end(process)
        lines: list[dict[str, Any]] = [json.loads(line) for line in answer.splitlines() if line]
        if code == 0 and lines and "done" in lines[-1]:
            results = [Result.from_json(line["result"]) for line in lines if "result" in line]
            return [*results, *crashed]
        at = next((line["begin"] for line in reversed(lines) if "begin" in line), None)
        if at is None:
            raise SystemExit(
                f"a process that checks kernels ended with {child.how(code)}; see above"
            )
        late = code == -signal.SIGALRM
        why = f"not done after {LIMIT} s" if late else f"its process ended with {child.how(code)}"
        name = kernel_name(kernel_of(left[at]))
        crashed += [Result(at, name, column, 0, len(STEPS), why) for column in columns]
        del left[at]
    return crashed


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status."""
    chosen = _parsed(arguments)
    with tempfile.TemporaryDirectory(prefix="on-targets-") as scratch:
        folder = chosen.collected or chosen.collect or Path(scratch)
        if chosen.collected is None:
            for source in chosen.sources:
                print(f"collecting the kernels of {source}", file=sys.stderr, flush=True)
                wrong = collect(source, folder / source)
                if wrong:
                    print(f"{source}: {wrong}", file=sys.stderr)
                    return 2
        collected = {source: lines_of(folder / source) for source in chosen.sources}
    empty = [source for source, kernels in collected.items() if not kernels]
    if empty:
        print(f"no kernels of {', '.join(empty)} in {folder}", file=sys.stderr)
        return 2
    if chosen.collect is not None:
        print("\n".join(f"{s}: {len(k)} kernels in {folder / s}" for s, k in collected.items()))
        return 0
    return report(collected, chosen)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.on_targets", description=__doc__)
    add = parser.add_argument
    add(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help=f"programs whose kernels are checked, of {', '.join(SOURCES)}; all without any",
    )
    add(
        "--targets",
        nargs="+",
        choices=GPUS,
        default=list(GPUS),
        metavar="TARGET",
        help=f"of {', '.join(GPUS)}; all without any",
    )
    add("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once (a core each)")
    add(
        "--seconds",
        type=float,
        default=20.0,
        help="processor time after which no further blocks of a kernel are begun; it is listed",
    )
    add(
        "--most",
        type=int,
        default=0,
        help="check only so many kernels of each source, evenly spread",
    )
    add("--no-texts", action="store_true", help="leave out C, CUDA C++ and HIP C++")
    folder = parser.add_mutually_exclusive_group()
    folder.add_argument(
        "--collect", type=Path, metavar="FOLDER", help="only collect the kernels, into a new folder"
    )
    folder.add_argument(
        "--collected",
        type=Path,
        metavar="FOLDER",
        help="check the kernels that --collect wrote, instead of running their sources",
    )
    chosen = parser.parse_args(arguments)
    chosen.sources = chosen.sources or list(SOURCES)
    for source in chosen.sources:
        if source not in SOURCES:
            parser.error(f"no source is called {source!r}: choose of {', '.join(SOURCES)}")
    if chosen.jobs < 1 or chosen.seconds <= 0 or chosen.most < 0:
        parser.error("--jobs is at least 1, --seconds more than 0, --most not negative")
    if chosen.collect is not None and chosen.collect.exists():
        parser.error(f"{chosen.collect} is there already: name a new folder")
    if any(targets[n].family == "nvidia" for n in chosen.targets) and find_tool("ptxas") is None:
        parser.error("there is no ptxas: pip install 'uopviz[test]' brings it")
    return chosen


def report(collected: Mapping[str, Mapping[int, str]], chosen: argparse.Namespace) -> int:
    """Checks, prints tables and failures; the exit status."""
    sources = {source: _some(list(kernels), chosen.most) for source, kernels in collected.items()}
    merged = {n: collected[source][n] for source, numbers in sources.items() for n in numbers}
    columns, missing = columns_of(chosen.targets)
    if chosen.no_texts:
        columns = [c for c in columns if c in chosen.targets]
    began = time.monotonic()
    results = check(merged, columns, chosen.seconds, chosen.jobs)
    print(f"\nkernels / {' / '.join(STEPS[1:])}\n")
    print(tables(results, sources, chosen.targets))
    others = [c for c in columns if c not in chosen.targets]
    if others:
        print("\nOther texts: kernels / compiled (C: / executed / equal)\n")
        print(tables(results, sources, others))
    for title, lines in (
        ("Executed in part", parts(results)),
        ("Not compiled on this machine", missing),
        ("FAILED", failures(results, sources)),
    ):
        if lines:
            print("\n" + "\n".join([f"{title}: {len(lines)}", *(f"  {line}" for line in lines)]))
    left = len(merged) - len({r.kernel for r in results})
    print(f"\n{len(merged) - left} kernels took {time.monotonic() - began:.0f} s")
    if left:
        print(f"INTERRUPTED: {left} kernels were not checked")
    return 1 if left or any(r.failed for r in results) else 0


def _some(numbers: list[int], most: int) -> list[int]:
    """All, or `most` of them evenly spread."""
    if not 0 < most < len(numbers):
        return numbers
    return [numbers[len(numbers) * i // most] for i in range(most)]


if __name__ == "__main__":
    sys.exit(main())
