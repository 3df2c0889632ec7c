"""ResNet-18 and GPT-2 of examples/: kernels of a captured training step, seconds until it runs, and
what 200 steps leave behind; beside the very same files on tinygrad, where it is installed.

    python -m tests.bench.models (core|tinygrad) (resnet|gpt2)

measures one of them in a process of its own and prints it as JSON.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, cast

from tests.bench.measure import table
from tests.bench.program import namespace

STEPS = int(os.environ.get("BENCH_STEPS", "200"))
MODELS = ("resnet", "gpt2")


def figures() -> str:
    """The table."""
    compilers = ["core", "tinygrad"] if importlib.util.find_spec("tinygrad") else ["core"]
    rows: list[tuple[object, ...]] = []
    for model in MODELS:
        for compiler in compilers:
            found = _measured_apart(compiler, model)
            first, last = (1000 * found[k] for k in ("first", "last"))
            rows.append((
                f"{model}, {compiler}", found["kernels"], f"{found['compiling']:.2f}",
                f"{first:.2f}", f"{last:.2f}", found["nodes"], found["bytes"],
            ))  # fmt: skip
    header = ("model", "kernels of a step", "CPU s of two steps", "ms of a step after 10",
              f"after {STEPS}", "nodes that are new since", "bytes")  # fmt: skip
    return table("Training steps of small models", header, rows)


def _measured_apart(compiler: str, model: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as kept:  # of compiled code: none at first
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.models", compiler, model],
            env={**os.environ, "PARALLEL": "0", "CACHELEVEL": "0", "XDG_CACHE_HOME": kept},
            check=True,
            capture_output=True,
            text=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def _trainer(model: str) -> tuple[Any, list[Any]]:
    """A trainer of the example, and what a step of it takes."""
    core: Any = importlib.import_module("core")
    example: Any = importlib.import_module(f"examples.{model}")
    core.Tensor.manual_seed(1)
    if model == "resnet":
        images = core.Tensor.randn(2, 3, 32, 32).realize()
        labels = core.Tensor.randint(2, high=10).realize()
        return example.Trainer(example.ResNet(10, 8)), [images, labels]
    config = example.Config(vocabulary=64, context=32, width=32, heads=4, layers=4)
    return example.Trainer(example.GPT2(config)), [core.Tensor.randint(2, 33, high=64).realize()]


def _cpu_seconds() -> float:
    """Of this process and those that it started, such as a C compiler."""
    return sum(os.times()[:4])


def _measured(compiler: str, model: str) -> dict[str, float]:
    if compiler == "tinygrad":  # the examples import everything from `core`
        found: Any = namespace(compiler)
        tinygrad: Any = importlib.import_module("tinygrad")
        found.TinyJit, found.dtypes = tinygrad.TinyJit, tinygrad.dtypes
        sys.modules["core"] = cast(Any, found)
        counters: Any = importlib.import_module("tinygrad.helpers").GlobalCounters
        node = importlib.import_module("tinygrad.uop.ops").UOp
    else:
        counters = importlib.import_module("core").GlobalCounters
        node = importlib.import_module("core.uop").UOp
    core: Any = sys.modules["core"]
    trainer, given = _trainer(model)
    times: list[float] = []
    held: list[tuple[int, int]] = []
    with core.Context(TRAINING=1):
        begin = _cpu_seconds()
        for i in range(STEPS):
            counters.reset()
            start = time.perf_counter()
            trainer.step(*given).item()
            times.append(time.perf_counter() - start)
            if i == 1:
                compiling = _cpu_seconds() - begin
            if i in (10, STEPS - 1):
                gc.collect()
                nodes = sum(isinstance(x, node) for x in gc.get_objects())
                held.append((nodes, counters.mem_used))
    return {
        "kernels": counters.kernel_count,
        "compiling": compiling,
        "first": statistics.median(times[3:13]),
        "last": statistics.median(times[-10:]),
        "nodes": held[1][0] - held[0][0],
        "bytes": held[1][1] - held[0][1],
    }


if __name__ == "__main__" and len(sys.argv) == 3:
    print(json.dumps(_measured(*sys.argv[1:])))
