"""What `core`'s adapter can do with the kernels of the runs of a server, each as a job.

Logic of its routes; knows nothing of HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.target import targets
from viz.coredialect.adapter import DIALECT
from viz.coreserver.cluster import Cluster
from viz.coreserver.devices import Devices
from viz.coreserver.options import Options
from viz.coreserver.whatif import WhatIf
from viz.jobs.jobs import Elsewhere
from viz.server.part import Part, Traces
from viz.server.runs.machine import Machine
from viz.server.runs.openrun import OpenRun
from viz.views.store import Store
from viz.whatif.subject import recorded_flags
from viz.why.answers import WHY_DECLINED, call_again
from viz.work.compiling import Compiler, graph_of
from viz.work.kinds import KINDS
from viz.workbench.kinds import kinds_data


class CoreActions(Part):
    """The actions of one server."""

    kinds = KINDS

    def __init__(self, machine: Machine, traces: Traces) -> None:
        super().__init__(machine, traces)
        self.devices = Devices(machine)
        self.compiler = Compiler(machine.jobs)
        self.whatif = WhatIf(machine, traces.open_once, traces.end_trace)

    @classmethod
    def cluster(cls, address: str) -> Elsewhere | None:
        """The cluster at an address, which does jobs in place of this machine."""
        return Cluster(address)

    def can(self) -> dict[str, Any]:
        """What this server can do: devices, kinds of inputs, targets."""
        return {
            **self.devices.data(),
            "inputs": kinds_data(),
            "targets": [*targets],
            "browser": DIALECT.browser,
        }

    def close(self) -> None:
        """Ends what runs for the page, and removes what was kept for it."""
        self.devices.close()
        self.compiler.close()
        self.whatif.close()

    def compile(self, run: OpenRun, context: int, target: str) -> int:
        """Begins to compile a kernel for a target; what was compiled before is there at once.
        Raises ServerError."""
        machine, store = self.machine, run.store
        kernel = store.kernel_of(context)
        graph = self.graph(run, kernel)
        known = store.compiled(kernel, target)  # the AST of a live kernel may still change
        if known is not None and known.root.error is None:
            made = machine.weight.make(lambda: store.kernel(known.context))
            return machine.jobs.done([] if made is None else made["artifacts"])
        return self.compiler.start(store, kernel, target, graph, ended=run.changed)

    def launch(self, run: OpenRun, context: int, device: str, count: int, how: Options) -> int:
        """Begins to run a kernel on a device. Raises ServerError."""
        asked = {"device": device, "count": count, "graph": self.graph(run, context)}
        return self.begin({"job": "run", **asked, **how.data()})

    def shaders(self, run: OpenRun, context: int, how: Options) -> int:
        """Begins to compile a kernel for the GPU of a browser. Raises ServerError."""
        return self.begin({"job": "shaders", "graph": self.graph(run, context), **how.data()})

    def emulate(
        self, run: OpenRun, context: int, device: str, block: int, warp: int, how: Options
    ) -> int:
        """Begins to emulate a kernel, and one warp of it step by step. Raises ServerError."""
        store = run.store
        asked = {"device": device, "block": block, "warp": warp, "graph": self.graph(run, context)}

        def finish(answer: Any) -> Any:
            store.emulations.add(store.kernel_of(context), answer)
            run.changed()
            return answer

        return self.machine.jobs.start({"job": "emulate", **asked, **how.data()}, finish)

    def why_declined(self, run: OpenRun, rewrite: int, node: int, rule: int) -> int | None:
        """Begins to call the function of a rule again that declined a node of a pass; None for a
        number that no pass has. Raises ServerError, and TraceError where there is no trace."""
        store, machine = run.store, self.machine
        if not isinstance(store, Store):
            return store.ask(WHY_DECLINED, rewrite, node, rule)
        call = machine.weight.make(lambda: call_again(store, rewrite, node, rule))
        if call is None:
            return None
        if call.request is None:
            return machine.jobs.done(call.finish(None))
        return machine.jobs.start(call.request, call.finish)

    def begin(self, request: Mapping[str, Any]) -> int:
        """Begins a job whose result is the answer of its worker."""
        return self.machine.jobs.start(request, lambda answer: answer)

    def graph(self, run: OpenRun, context: int) -> dict[str, Any]:
        """The AST of a kernel, as data. Raises ServerError where it is not there, or the trace is
        of another compiler."""
        return self.machine.weight.make(lambda: graph_of(run.store, context))[0]

    def kernel(self, run: OpenRun, context: int) -> dict[str, Any]:
        """The part of a request that says which kernel it is about: its AST, and the flags of the
        recording that its code depends on (none without a trace, which has them). Raises as
        `graph`."""
        store = run.store
        flags = recorded_flags(store, context) if isinstance(store, Store) else {}
        return {"graph": self.graph(run, context), "flags": flags}
