"""Prints the figures of docs/benchmarks.md:  python -m tests.bench [NAME ...]

Measures, never judges: no figure makes it fail.
"""

from __future__ import annotations

import sys

from tests.bench import (
    check,
    choice,
    compare,
    counts,
    dtypes,
    emulator,
    engine,
    export,
    imports,
    installed,
    kernels,
    models,
    mutants,
    opencl,
    overhead,
    page,
    scaling,
    scatter,
    search,
    service,
    tiles,
    torch,
    webgpu,
    wgsl,
    whatif,
)
from tests.bench.measure import machine
from tests.planted import run as planted
from tests.viz.check import night

BENCHES = {
    "check": check.figures,
    "choice": choice.figures,
    "compare": compare.figures,
    "counts": counts.figures,
    "dtypes": dtypes.figures,
    "emulator": emulator.figures,
    "engine": engine.figures,
    "export": export.figures,
    "imports": imports.figures,
    "installed": installed.figures,
    "kernels": kernels.figures,
    "models": models.figures,
    "mutants": mutants.figures,
    "opencl": opencl.figures,
    "overhead": overhead.figures,
    "page": page.figures,
    "scaling": scaling.figures,
    "scatter": scatter.figures,
    "search": search.figures,
    "service": service.figures,
    "tiles": tiles.figures,
    "torch": torch.figures,
    "webgpu": webgpu.figures,
    "wgsl": wgsl.figures,
    "whatif": whatif.figures,
}


def main() -> int:
    """Runs the named benchmarks, or all."""
    if sys.argv[1:3] == ["mutants", "--all"]:
        return planted.main(sys.argv[2:])
    if sys.argv[1:3] == ["check", "--all"]:
        return night.main(sys.argv[3:])
    names = sys.argv[1:] or list(BENCHES)
    if unknown := [n for n in names if n not in BENCHES]:
        print(f"no benchmark {unknown[0]!r}: one of {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    print(machine() + "\n", flush=True)
    for name in names:
        print(BENCHES[name](), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
