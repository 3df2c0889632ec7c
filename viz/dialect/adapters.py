"""The adapters that come with uopviz: where their parts are. Imports each on demand."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

CORE: Final = "uopviz"
"""The dialect of `core`, and of older traces, which do not name their dialect."""


@dataclass(frozen=True)
class Adapter:
    """Where the parts of an adapter are, each as MODULE:NAME, or "" where it has none. Each is
    imported when it is needed: the command line need not wait for a compiler."""

    dialect: str
    """Its `Dialect`."""
    server: str = ""
    """What it adds to a server: a class of `viz.server.part.Part`."""
    commands: str = ""
    """What adds its commands to the command line: see `viz.command.line.parser`."""
    exports: str = ""
    """What compiles kernels for an export: see `viz.jobs.compiled`."""
    judge: str = ""
    """What judges the steps of a pass, where `core` cannot: a function of the file, the pass and
    how many steps it has, which gives a `Verdict` for each."""


BUILT_IN: Final[Mapping[str, Adapter]] = {
    CORE: Adapter(
        "viz.coredialect.adapter:DIALECT",
        server="viz.coreserver.part:CorePart",
        commands="viz.corecommand.parser:add_commands",
        exports="viz.work.targets.compiled:compiled_here",
    ),
    "hlo": Adapter("viz.compilers.hlo:DIALECT", judge="viz.foreign.hlo.judge:judge"),
    "mlir": Adapter("viz.compilers.mlir:DIALECT"),
    "tinygrad": Adapter("viz.compilers.tinygrad:DIALECT", judge="viz.foreign.uops:judge"),
    "onnx": Adapter("viz.compilers.onnx:DIALECT"),
    "tvm": Adapter("viz.compilers.tvm:DIALECT"),
    "xdsl": Adapter("viz.compilers.mlir:XDSL"),
    "torch": Adapter("viz.compilers.torch:DIALECT", judge="viz.foreign.fx:judge"),
}
"""The adapters that come with uopviz."""


def server_parts() -> list[Any]:
    """What the adapters that come with uopviz add to a server. One that cannot be imported adds
    nothing: the runs of its dialect have a problem that says so."""
    return _parts([adapter.server for adapter in BUILT_IN.values()])


def command_parts() -> list[Any]:
    """What adds the commands of the adapters that come with uopviz. As `server_parts`."""
    return _parts([adapter.commands for adapter in BUILT_IN.values()])


def exports_of(name: str) -> Any:
    """What compiles the kernels of runs of this dialect for an export; None where nothing does."""
    adapter = BUILT_IN.get(name)
    return None if adapter is None or not adapter.exports else load(adapter.exports)


def judge_of(name: str) -> Any:
    """What judges the steps of passes of this dialect; None where nothing does."""
    adapter = BUILT_IN.get(name)
    return None if adapter is None or not adapter.judge else load(adapter.judge)


def load(place: str) -> Any:
    """The object at MODULE:NAME."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _parts(places: list[str]) -> list[Any]:
    parts: list[Any] = []
    for place in filter(None, places):
        with suppress(ImportError):
            parts.append(load(place))
    return parts
