"""BEAM: the opts of kernels by beam search on the device that runs them.

Candidates are compiled and run in processes of their own, and what was found is kept on disk. A
kernel that cannot be searched gets the opts that are chosen without a search. Never runs a
candidate in this process.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Final

from core.beam.choices import Choice, kept_choice
from core.beam.isolated import Isolated
from core.beam.report import report_of
from core.errors import RunError, UopvizError
from core.helpers import BEAM, BEAM_SECONDS, NOOPT
from core.passes.optimize.search import Found, Limits, Told, Try, search
from core.runtime.device import Device
from core.runtime.emulated import is_emulated
from core.target import Target
from core.uop.engine.asking import asked_for_kernel, kernel_lines
from core.uop.kernelinfo import KernelInfo, Opt
from core.uop.patterns.policy import in_force
from core.uop.uop import UOp

__all__ = ["searched", "tuned"]

GAIN: Final = 0.02
"""The part by which a time must be less to count as less."""


def tuned(ast: UOp, device: str, target: Target) -> tuple[UOp, str]:
    """The kernel AST with the opts that a search has found for a device, and a report of the
    search; the AST as it is, and "", where there is none: without BEAM, under NOOPT or a policy,
    and for kernels whose author has chosen their opts."""
    info = ast.arg if isinstance(ast.arg, KernelInfo) else KernelInfo()
    if not BEAM or NOOPT or info.opts is not None or in_force() is not None:
        return ast, ""
    width, seconds = BEAM.value, float(BEAM_SECONDS.value)

    def find() -> Choice:
        found, chosen = searched(ast, device, width, seconds)
        if found.cost is None:  # the next run may have more time
            raise RunError(f"no program of this kernel was measured on {device} in time")
        return Choice(found.opts, report_of(found, chosen, is_counted(device)))

    try:
        choice = kept_choice(ast, device, target, (width, BEAM_SECONDS.value), find)
    except UopvizError as error:
        return ast, f"not searched: {error.what}\n"
    found = ast.replace(arg=replace(info, opts=choice.opts, found_for=target.name))
    if lines := kernel_lines.of(ast):
        asked_for_kernel(found, lambda u: lines.get(ast if u is found else u))
    return found, choice.report


def searched(
    ast: UOp, device: str, width: int, seconds: float, told: Told = lambda at, found: None
) -> tuple[Found, tuple[Opt, ...]]:
    """What a beam search of `seconds` at most finds for a kernel AST on a device, and the
    opts that are chosen without it, which are one of its starts: they are what is found where there
    was no time to measure anything. Raises RunError where the kernel cannot be tried there, or each
    of its programs failed."""
    limits = Limits(seconds, gain=0.0 if is_counted(device) else GAIN)
    with closing(Isolated(ast, device)) as trials:
        chosen = trials.chosen
        found = search(trials, width, list(dict.fromkeys((chosen, ()))), limits, told)
        found = replace(found, trail=tuple(_with_prediction(t, trials) for t in found.trail))
    if found.cost is None and not trials.late:
        why = found.trail[0].why if found.trail else "there was no time"
        raise RunError(f"no program of this kernel could be measured on {device}", why)
    return replace(found, in_time=found.in_time and not trials.late), chosen


def _with_prediction(tried: Try, trials: Isolated) -> Try:
    """What was measured, with what was predicted of it."""
    if tried.cost is None:
        return tried
    try:
        return replace(tried, predicted=trials.predicted(tried.opts))
    except RunError:
        return tried


def is_counted(device: str) -> bool:
    """Whether a device counts instructions in place of a time."""
    return is_emulated(Device[device].name)
