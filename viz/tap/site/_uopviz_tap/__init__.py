"""Watches for the modules of compilers that there is a tap for, and patches each right after its
body has run, before other modules take names from it."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from typing import Any

from _uopviz_tap.stream import Stream

TAPS: dict[str, str] = {
    "onnxscript.rewriter._rewrite_rule": "of_onnx",
    "tinygrad.uop.ops": "of_tinygrad",
    "torch._inductor.compile_fx": "of_torch",
    "torch._inductor.graph": "of_torch",
    "torch._inductor.pattern_matcher": "of_torch",
    "torch.fx.passes.graph_transform_observer": "of_torch",
    "torch.fx.passes.infra.pass_manager": "of_torch",
    "torch.fx.subgraph_rewriter": "of_torch",
    "tvm.ir.transform": "of_tvm",
    "xdsl.passes": "of_xdsl",
    "xdsl.pattern_rewriter": "of_xdsl",
}
"""Modules of compilers, and the taps for them: each has `attach(module, stream)`."""


def begin() -> None:
    """Begins to watch, if the environment names a folder for streams."""
    folder = os.environ.get("UOPVIZ_STREAMS")
    if folder and not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(Stream(folder)))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of TAPS where the finders behind it do."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module as others find it, loaded by `_Loader`; None for all that have no tap."""
        tap = TAPS.get(fullname)
        if tap is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                found = finder.find_spec(fullname, path, target)
                if found is not None and found.loader is not None:
                    found.loader = _Loader(found.loader, tap, self._stream)
                    return found
        return None


class _Loader(importlib.abc.Loader):
    """Loads a module as `loader` does, and attaches its tap."""

    def __init__(self, loader: Any, tap: str, stream: Stream) -> None:
        self._loader, self._tap, self._stream = loader, tap, stream

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        """As the module's own loader makes it."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Runs the body, then the tap, which is to leave no trace where it fails."""
        self._loader.exec_module(module)
        try:
            importlib.import_module("_uopviz_tap." + self._tap).attach(module, self._stream)
        except Exception as error:
            self._stream.problem(f"{module.__name__} could not be recorded", repr(error))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
