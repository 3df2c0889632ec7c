"""The two programs of a workbench: the compiler's own, and one with other optimisations, without
some rules, or with a text that the user has edited.

Compiles and loads them. Never runs one.
"""

from __future__ import annotations

from typing import Any, Final

from core.compile import ASSEMBLERS
from core.errors import CompileError, DeviceError
from core.runtime.base import Runner
from core.runtime.device import Device
from core.runtime.emulator.device import EmulatorRunner
from core.runtime.numeric import Array
from core.runtime.reference.inputs import Inputs
from core.target import Target
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.sass import sass
from core.trial.trial import Trial, resources_of
from core.uop.uop import UOp
from viz.whatif.variants.recompile import applied_opts
from viz.work.change import Change

MAX_SHOWN: Final = 1 << 19
"""Characters of a text that are sent back."""


def target_of(device: str) -> Target:
    """What is compiled for a device. Raises DeviceError for one that runs no programs."""
    target = Device[device].target
    if target is None:
        raise DeviceError(
            f"{device} runs no programs that could be compared", hint="choose another device"
        )
    return target


class Side:
    """A program that is ready to run on a device, with memory of its own for its arguments. Raises
    UopvizError where it cannot be compiled or loaded."""

    def __init__(self, ast: UOp, device: str, change: Change) -> None:
        self.device = device
        self.program = change.compiled(ast, target_of(device), device)
        self._runner: Runner = Device[device].load(self.program)
        self._trial = Trial(ast, device)

    @property
    def is_counted(self) -> bool:
        """Whether it counts instructions in place of a time."""
        return isinstance(self._runner, EmulatorRunner)

    def run(self, inputs: Inputs) -> list[Array]:
        """Runs it once on inputs; what is in the memory of its arguments then."""
        self._trial.fill([inputs.buffers[n] for n in range(len(self._trial.buffers))])
        self._trial.variables = inputs.variables
        self.launch()
        return self._trial.arrays()

    def launch(self) -> float:
        """Runs it once more on the same memory; seconds."""
        return self._trial.launch(self._runner)

    def facts(self) -> dict[str, str]:
        """What its code takes, as far as a tool of this machine says it, by name."""
        program = self.program
        facts = dict(program.source.facts)
        family = program.target.family
        try:
            if (assemble := ASSEMBLERS.get(family)) is not None and program.source.kind == "llvm":
                facts |= assemble(program.source, program.name, program.lowered).facts
            elif family == "nvidia" and find_tool("ptxas") and find_tool("nvdisasm"):
                facts |= sass(program).facts
        except CompileError as error:  # of a text that the user has edited
            facts["not assembled"] = error.what[:200]
        return facts | resources_of(self._runner)

    def data(self) -> dict[str, Any]:
        """It as JSON."""
        source = self.program.source
        return {
            "kind": source.kind,
            "text": source.text[:MAX_SHOWN],
            "opts": applied_opts(self.program),
            "instructions": self._trial.instructions,
            "facts": [{"name": k, "value": v} for k, v in self.facts().items()],
        }
