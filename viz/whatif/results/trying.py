"""Runs a program that was compiled otherwise: its result against the reference, and its time in
turn with that of the old program.

On the device of its target where that is here; else its linear program is run by NumPy, whose time
says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from core.compile import compile_kernel
from core.errors import DeviceError, UopvizError
from core.isolation.edited import Edited, with_text
from core.runtime.device import Device
from core.runtime.emulated import EMULATED
from core.runtime.emulator.device import EmulatorRunner
from core.runtime.numeric import Array
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target
from core.toolchain.processor import host_target
from core.toolchain.program import Program
from core.trial.trial import Trial
from core.uop.patterns.policy import ignoring
from core.uop.uop import UOp
from viz.whatif.results.arguments import RANDOM, ArgumentSet
from viz.whatif.results.inturn import SECONDS, in_turn
from viz.whatif.results.outcome import Expected, Outcome

LINEAR: Final = "REFERENCE"
"""What stands for the device where the linear program is run by NumPy."""
_REAL: Final = {"nvidia": "CUDA", "amd": "AMD", "webgpu": "WEBGPU", "opencl": "OPENCL"}
"""By family of targets, the device of a GPU."""


def device_of(target: Target) -> str | None:
    """The device of this machine that runs code for a target; None where there is none."""
    if target.family == "cpu":
        return "CPU" if target == host_target() else None
    name = _REAL[target.family]
    try:
        found = Device[name].target
        return name if found is not None and found.runs(target) else None
    except UopvizError:
        return None


def own_target(target: Target) -> Target:
    """A target as the device of this machine has it, where that has less of something, such as
    smaller images: it does not run all code for the target itself."""
    if not target.image_side:
        return target
    try:
        found = Device[_REAL[target.family]].target
    except UopvizError:
        return target
    if found is None or found.runs(target) or not found.resembles(target):
        return target
    return found


def emulated(target: Target) -> str | None:
    """The emulated device that runs code for a target; None where there is none."""
    for name, row in EMULATED.items():
        if row.family == target.family:
            return Device.canonicalize(f"{name}:{target.name}")
    return None


def check_device(device: str, target: Target) -> None:
    """Raises DeviceError where a device is not here, or runs code for another target."""
    found = host_target() if device == "CPU" else Device[device].target
    if found is None or not found.runs(target):
        raise DeviceError(
            f"{device} runs code for {found.name if found else 'no target'}, and this text is for "
            f"{target.name}",
            hint="give the target that the device runs, and a text for that",
        )


class Judge:
    """Programs of one kernel on the same arguments. Raises RunError where the reference cannot
    evaluate the kernel."""

    def __init__(self, ast: UOp, given: ArgumentSet = RANDOM) -> None:
        self._ast = ast
        with ignoring():
            self._expected = Expected(ast, given)

    def judge(self, program: Program, on: str | None = None) -> tuple[str, Outcome]:
        """What a program computes, and on which device: `on` where that is given, as for an edited
        text, whose linear program is that of the compiler. Raises UopvizError."""
        if on is not None:
            check_device(on, program.target)
        device = on or device_of(program.target)
        if device is None:

            def run(held: Sequence[Array], variables: Mapping[str, int]) -> None:
                evaluate_kernel(program.uops, held, variables)

            return LINEAR, self._expected.judge(run)
        trial = self._trial(device)
        trial.launch(Device[device].load(program))
        return device, self._expected.compare(trial.arrays())

    def times(
        self, old: Program, new: Program, seconds: float = SECONDS, on: str | None = None
    ) -> dict[str, Any] | None:
        """How the times of two programs compare, `on` a device where that is given; None where no
        device of this machine runs both, or it is emulated. Raises UopvizError."""
        device = on or device_of(new.target)
        if device is None or old.target != new.target:
            return None
        runners = [Device[device].load(one) for one in (old, new)]
        if any(isinstance(one, EmulatorRunner) for one in runners):
            return None
        old_launch, new_launch = (partial(self._trial(device).launch, one) for one in runners)
        return in_turn(old_launch, new_launch, seconds).data()

    def counts(self, old: Program, new: Program, on: str) -> tuple[int, int] | None:
        """The instructions that all threads of a launch ran, on an emulated device; None on others.
        Raises UopvizError."""
        found: list[int] = []
        for one in (old, new):
            runner = Device[on].load(one)
            if not isinstance(runner, EmulatorRunner):
                return None
            trial = self._trial(on)
            trial.launch(runner)
            found.append(trial.instructions or 0)
        return found[0], found[1]

    def _trial(self, device: str) -> Trial:
        return Trial(self._ast, device, self._expected.arguments, self._expected.variables)


def old_program(ast: UOp, target: Target, text: tuple[str, str] | None) -> tuple[Program, str]:
    """The program of a kernel as it was recorded, and "" or what is said of it: compiled by the
    code on disk and, where the text that was recorded is another one, with that in place of its
    own. Raises UopvizError."""
    program = compile_kernel(ast, target)
    if text is None or text[0] != program.source.kind or text[1] == program.source.text:
        return program, ""
    device = device_of(target)
    if device is None:
        return program, ""
    try:
        return with_text(program, device, Edited(*text)), ""
    except UopvizError as error:
        return program, f"the old time is that of the code on disk: {error.what}"
