"""Loaded by Python when it starts, where the folder of this file is in front of PYTHONPATH: begins
to watch for compilers, and then runs the `sitecustomize` that it hides."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys


def _begin() -> None:
    try:
        import _uopviz_tap

        _uopviz_tap.begin()
    except Exception:  # the program must not notice
        pass


def _run_hidden() -> None:
    """Runs the next module of this name on the path, if there is one; what that raises is told as
    Python tells it."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [path for path in sys.path if os.path.abspath(path or os.curdir) != here]
    found = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if found is not None and found.loader is not None:
        module = importlib.util.module_from_spec(found)
        sys.modules["sitecustomize"] = module
        found.loader.exec_module(module)


_begin()
_run_hidden()
