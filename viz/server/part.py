"""`Part`: what the adapter of a dialect adds to a server.

`viz/dialect/adapters.py` names the parts; a server makes each once, when it starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Protocol

from flask import Blueprint

from core.errors import ServerError
from viz.dialect.adapters import server_parts
from viz.jobs.jobs import Elsewhere, Kind
from viz.server.runs.machine import Machine


class Traces(Protocol):
    """Opens and closes traces beside those that are open."""

    def open_once(self, path: Path) -> tuple[str, list[int]]:
        """The name of the run of this trace, which is opened where it is not open yet, and the
        numbers of its kernels. Raises TraceError and ServerError."""
        ...

    def end_trace(self, path: Path) -> None:
        """Closes the runs of this trace, but for A."""
        ...


class Part:
    """Routes and kinds of jobs, with the `machine` and the `traces` of a server that they use."""

    blueprints: ClassVar[tuple[Blueprint, ...]] = ()
    kinds: ClassVar[dict[str, Kind]] = {}
    """By the "job" of a request."""

    def __init__(self, machine: Machine, traces: Traces) -> None:
        self.machine, self.traces = machine, traces

    def can(self) -> dict[str, Any]:
        """What it adds to the answer `Run` about a run whose kernels can be compiled."""
        return {}

    def close(self) -> None:
        """Lets go of what it holds. The jobs are ended before."""

    @classmethod
    def cluster(cls, address: str) -> Elsewhere | None:
        """What does its jobs at this address in place of this machine; None where nothing can.
        Raises ServerError where it does not answer."""
        return None


def parts() -> list[type[Part]]:
    """Those of the adapters that come with uopviz."""
    return server_parts()


def cluster_at(address: str) -> Elsewhere:
    """What does jobs at an address in place of this machine. Raises ServerError."""
    for part in parts():
        cluster = part.cluster(address)
        if cluster is not None:
            return cluster
    raise ServerError("no jobs of this installation can be done elsewhere", address)
