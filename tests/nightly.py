"""What `make nightly` runs: everything, with many random cases, as on lesser processors, and on
OPENCL and WEBGPU.

Prints each command before it runs, goes on after a failure, lists all that failed at the end and
then exits with 1. `python -m tests.nightly [PART ...]` runs only the parts whose title contains one
of these; `python -m tests.nightly --list` names them all, and which of them have passed. A night
that was ended goes on where it was: without a name, parts that have passed with the very same files
are not run again. Runs nothing in parallel itself: pytest does, with JOBS workers (auto).
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests import webgpu_setup

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable
TORCH_PYTHON = ".venv/conformance/bin/python"
CLUSTERS_PYTHON = ".venv/clusters/bin/python"
JOBS = os.environ.get("JOBS", "auto")
PASSED = ROOT / ".venv" / "nightly.json"
"""The parts that have passed, with the state of the files that they passed with."""
LIMIT = ("--timeout", "7200")  # seconds that a test may take: the many cases of a night

FUZZ: tuple[tuple[str, str, int], ...] = (
    # 4 tests: 5,000 programs
    ("random programs", "tests/core/tensor/test_random_tensor_programs.py", 1_250),
    ("lengths that are variables", "tests/core/tensor/test_random_lengths.py", 5_000),
    ("programs that write in place", "tests/core/tensor/running/test_random_inplace.py", 2_500),
    ("opts", "tests/core/passes/test_fuzz_opts.py", 2_000),
    ("kernels by hand", "tests/core/tensor/running/test_random_kernel_calls.py", 2_500),
    # of each test all there are, and more: two hours on two cores
    ("operations of tiles", "tests/core/tile/test_every_operation.py", 15_000),
    ("attention by kernels", "tests/core/tensor/neural/test_attention_composed.py", 16),
    # of each: about two hours on two cores
    ("conditions, choices and gates", "tests/core/uop/test_endless.py", 150_000),
    ("view chains", "tests/core/shape/test_fuzz.py", 150_000),
    ("jumps in the emulator", "tests/core/runtime/emulator/test_flow.py", 500),
    ("kernels on AMD:EMU", "tests/core/runtime/emulator/amd/test_kernels.py", 200),
    ("states of kernels", "tests/core/runtime/reference/test_states.py", 500),
    ("mutants of rules", "tests/viz/whatif/test_mutants.py", 2_000),
    ("random rewrites checked", "tests/core/prove/test_random_rewrites.py", 200_000),
    ("random pairs executed", "tests/core/prove/test_pairs_executed.py", 5_000),
    ("steps of mutants checked", "tests/viz/check/test_mutants.py", 500),
    ("pairs of runs with a known difference", "tests/viz/compare/test_truth.py", 30),
    ("rules left out", "tests/viz/whatif/test_left_out.py", 300),
    ("traces", "tests/viz/read/test_fuzz.py", 2_000),
    ("programs that are interrupted", "tests/viz/recording/test_signals.py", 100),
    ("the demo on all targets", "tests/test_demo.py", 1),
    # 10,000 expressions
    ("64-bit integers on WEBGPU", "tests/core/runtime/webgpu/test_wide.py", 625),
    # 5,000 loads each
    ("gated loads of images", "tests/core/passes/test_images.py", 500),
    ("gated loads of images on devices", "tests/core/runtime/test_images.py", 500),
    ("digits on WEBGPU and OPENCL", "tests/core/runtime/test_digits.py", 88),
)
"""Title, file, and cases of each of its tests."""
CONFORMANCE = 2_500
"""Programs of each of the two tests."""
DEVICES = ("OPENCL", "WEBGPU")
"""What runs on the CPU where there is no GPU, by drivers of their own."""
PROGRAMS = "tests/core/tensor/test_random_tensor_programs.py"
SETTINGS = (("IMAGE", "0"), ("IMAGE", "1"), ("IMAGE", "2"), ("BEAM", "2"))
ON_DEVICES = 100
"""Programs of each of the tests, with each of the settings."""
CAPTURED = tuple(f"tests/core/test_jit{name}.py" for name in ("", "_devices", "_writes"))
"""Calls that are captured and replayed, on one device and on two."""
CLUSTERS = ("tests/viz/fleet/test_clusters.py", "tests/viz/fleet/test_s3.py")
"""What needs Dask, Ray, and a server of an object store."""
PROCESSORS = {
    "x86_64": ("x86-64-v1", "x86-64-v2", "native,-f16c", "native,-avx512f", "native,-avx2,-fma"),
    "aarch64": (),
}
"""Values of CPU that a machine can run beside its own."""


@dataclass(frozen=True)
class Part:
    """One command and the variables that it needs."""

    title: str
    command: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return shlex.join([*(f"{k}={v}" for k, v in self.variables.items()), *self.command])

    def run(self) -> bool:
        """Whether it succeeded."""
        start = time.monotonic()
        print(f"\n=== {self.title}\n{self}", flush=True)
        try:
            done = subprocess.run(
                self.command, cwd=ROOT, env={**os.environ, **self.variables}, check=False
            )
        except OSError as error:
            print(f"cannot run: {error}", flush=True)
            return False
        said = "passed" if done.returncode == 0 else f"FAILED, exit status {done.returncode}"
        print(f"=== {self.title}: {said} after {time.monotonic() - start:.0f} s", flush=True)
        return done.returncode == 0


def pytest_part(title: str, *arguments: str, **variables: str) -> Part:
    command = (PYTHON, "-m", "pytest", "-n", JOBS, "--dist", "loadgroup", *LIMIT, *arguments)
    return Part(title, command, variables)


def parts() -> list[Part]:
    """All of a night."""
    found = [pytest_part("all tests", "--all")]
    found += [
        pytest_part(f"fuzz: {title}", path, "--fuzz", str(count)) for title, path, count in FUZZ
    ]
    for cpu in PROCESSORS.get(platform.machine(), ()):
        found.append(pytest_part(f"processor {cpu}", "tests/core", CPU=cpu))
    conformance = (TORCH_PYTHON, "-m", "pytest", "-n", JOBS, *LIMIT, "tests/conformance")
    found.append(
        Part(
            "conformance",
            (*conformance, "--all", "--fuzz", str(CONFORMANCE)),
            {"CONFORMANCE_EXAMPLES": "100"},
        )
    )
    found += parts_on_devices()
    clusters = (CLUSTERS_PYTHON, "-m", "pytest", *LIMIT, *CLUSTERS)
    found.append(Part("clusters and object stores", clusters))
    prover = (PYTHON, "-m", "tests.core.prove.night", *(("--jobs", JOBS) if JOBS != "auto" else ()))
    found.append(Part("the prover against execution", prover))
    checked = (PYTHON, "-m", "tests.viz.check.night", *(("--jobs", JOBS) if JOBS != "auto" else ()))
    found.append(Part("random programs checked", checked))
    planted = (PYTHON, "-m", "tests.bench", "mutants", "--all")
    found.append(
        Part("planted mistakes", (*planted, *(("--jobs", JOBS) if JOBS != "auto" else ())))
    )
    on_targets = (PYTHON, "-m", "tests.on_targets", *(("--jobs", JOBS) if JOBS != "auto" else ()))
    found.append(Part("kernels on all targets", on_targets))
    return found


def parts_on_devices() -> list[Part]:
    """Conformance, a part for each file, random programs, the checks of GPUs, and captured calls,
    on each of `DEVICES`."""
    found: list[Part] = []
    for device in DEVICES:
        for path in sorted((ROOT / "tests" / "conformance").glob("test_*.py")):
            file = str(path.relative_to(ROOT))
            command = (TORCH_PYTHON, "-m", "pytest", "-n", JOBS, *LIMIT, file, "--all")
            found.append(Part(f"conformance on {device}: {path.stem}", command, {"DEV": device}))
        for name, value in SETTINGS:
            title = f"random programs on {device}, {name}={value}"
            options = (PROGRAMS, "--fuzz", str(ON_DEVICES))
            found.append(pytest_part(title, *options, DEV=device, **{name: value}))
        checks = (PYTHON, "-m", "pytest", *LIMIT, "tests/gpu", "--device", device)
        found.append(Part(f"checks of {device}", checks))
        found.append(pytest_part(f"captured calls on {device}", *CAPTURED, DEV=device))
    return found


def state_of_files() -> str:
    """What tells whether anything has changed: the commit, and what differs from it."""
    told = hashlib.sha256()
    commands = (("rev-parse", "HEAD"), ("diff", "HEAD"), ("status", "--porcelain"))
    for command in commands:
        done = subprocess.run(("git", *command), cwd=ROOT, capture_output=True, check=False)
        told.update(done.stdout)
    return told.hexdigest()


def passed_parts(state: str) -> list[str]:
    """The titles of the parts that have passed in this state."""
    try:
        kept = json.loads(PASSED.read_text())
        return kept["passed"] if kept["state"] == state else []
    except (OSError, ValueError, LookupError):
        return []


def main(chosen: list[str]) -> int:
    """The exit status."""
    webgpu_setup.missing()  # names a driver, for what is started here, too
    every, state = parts(), state_of_files()
    passed = passed_parts(state)
    if chosen == ["--list"]:
        for part in every:
            print(f"{part.title}{' (passed)' if part.title in passed else ''}: {part}")
        return 0
    wanted = [p for p in every if not chosen or any(c in p.title for c in chosen)]
    if not wanted:
        print("no part is called that: see python -m tests.nightly --list", file=sys.stderr)
        return 2
    failed: list[Part] = []
    for part in wanted:
        if not chosen and part.title in passed:
            print(f"\n=== {part.title}: has passed before")
        elif not part.run():
            failed.append(part)
        else:
            passed.append(part.title)
            PASSED.parent.mkdir(exist_ok=True)
            PASSED.write_text(json.dumps({"state": state, "passed": [*dict.fromkeys(passed)]}))
    print(f"\n{len(wanted) - len(failed)} of {len(wanted)} parts passed")
    for part in failed:
        print(f"FAILED {part.title}: {part}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
