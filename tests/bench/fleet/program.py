"""One run of the simulated continuous integration: a benchmark program, and a kernel for a GPU.

python -m tests.bench.fleet.program (a|b|c|digits)
"""

from __future__ import annotations

import sys

from core import Tensor, dtypes
from core.compile import sources_for
from core.target import targets
from core.uop.engine.observe import attached, context
from tests.bench import program

GPU = "gfx942"
KERNEL = f"product for {GPU}"


def main() -> None:
    """Entry point."""
    left, right = (Tensor.empty(256, 256, dtype=dtypes.int32) for _ in range(2))
    ast = (left @ right).schedule()[-1].ast
    observer = attached()
    with context(KERNEL, "kernel"):
        for text in sources_for(ast, targets[GPU]):
            if observer is not None:
                observer.artifact(text.kind, GPU, text.text, text.lines, text.facts)
    sys.argv[1:] = ["core", *sys.argv[1:]]
    program.main()


if __name__ == "__main__":
    main()
