"""Runs one of the benchmark programs once, on this core or on tinygrad.

    python -m tests.bench.program (core|tinygrad) (a|b|c|digits)

Prints nothing; the caller measures the process from outside.
"""

from __future__ import annotations

import importlib
import runpy
import sys
import types


def namespace(compiler: str) -> types.ModuleType | types.SimpleNamespace:
    """The names that the programs use, from either compiler."""
    if compiler == "core":
        return importlib.import_module("core")
    module = importlib.import_module("tinygrad")
    helpers = importlib.import_module("tinygrad.helpers")
    return types.SimpleNamespace(
        Tensor=module.Tensor, nn=importlib.import_module("tinygrad.nn"), Context=helpers.Context
    )


def main() -> None:
    """Entry point."""
    compiler, program = sys.argv[1:]
    if program == "digits":
        runpy.run_path("examples/digits.py", run_name="__main__")
    else:
        importlib.import_module(f"tests.bench.programs.{program}").run(namespace(compiler))


if __name__ == "__main__":
    main()
