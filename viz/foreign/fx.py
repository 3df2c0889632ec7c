"""Steps over FX graphs, judged by executing the graph before and after each in the Python of the
user: the one that UOPVIZ_PYTHON names, else the first on the PATH. A trace never names it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

from core.prove.verdict import Verdict
from viz.foreign.states import States, states_of
from viz.format.cells import as_int, as_text
from viz.read.records import Rewrite
from viz.read.tracefile import TraceFile
from viz.settings import UOPVIZ_PYTHON

SCRIPT: Final = Path(__file__).with_name("torchrun.py")
SECONDS: Final = 300.0
"""For the steps of one pass."""
_UNTOUCHED: Final = Verdict("proved", "the graphs before and after are the same")
_PYTHON: Final = "set UOPVIZ_PYTHON to the Python that has PyTorch"
_HOW: Final = "the whole graph, executed in float64, gives the same"
_HOW_LOOSE: Final = "the whole graph gives the same within the rounding of its narrowest dtype"
_ALL: Final = "of the whole pass; its steps alone are too many to be executed"


def judge(file: TraceFile, rewrite: Rewrite, steps: int) -> Sequence[Verdict]:
    """A verdict for each step of a pass. Raises BudgetError."""
    if rewrite.error is not None or not rewrite.result:
        return [Verdict("unchecked", "the pass did not end")] * steps
    states = states_of(file, rewrite, steps)
    found = _asked(states)
    if isinstance(found, Verdict):
        return [found] * steps
    if len(found) == steps:
        return found
    whole = found[-1]
    said = Verdict(whole.kind, f"{whole.how} ({_ALL})", whole.samples)
    return [said] * steps


def _asked(states: States) -> list[Verdict] | Verdict:
    """The verdict of each state but the first; or why there is none."""
    if len({*states.roots}) == 1:
        return [_UNTOUCHED] * (len(states.roots) - 1)
    python = UOPVIZ_PYTHON.value or shutil.which("python") or sys.executable
    hidden = ("VIZ", "UOPVIZ_", "PYTHONSTARTUP")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
    try:
        done = subprocess.run(
            [python, str(SCRIPT)],
            input=json.dumps(states.data()),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ""
        return _read(said, states, f"not done after {SECONDS:g} seconds")
    except OSError as error:
        return Verdict("unchecked", f"{python} cannot be run: {error.strerror}", hint=_PYTHON)
    return _read(done.stdout, states, "the process that executed it ended")


def _read(text: str, states: States, rest: str) -> list[Verdict] | Verdict:
    made: list[Verdict] = []
    for line in text.splitlines():
        try:
            found: Any = json.loads(line)
        except ValueError:
            break  # cut where the process ended
        if not isinstance(found, dict):
            break
        fields = cast("dict[str, Any]", found)
        if "error" in fields:
            return Verdict("unchecked", as_text(fields["error"], 300), hint=_PYTHON)
        made.append(_verdict(fields))
    missing = len(states.roots) - 1 - len(made)
    return made + [Verdict("unchecked", rest)] * missing


def _verdict(fields: dict[str, Any]) -> Verdict:
    kind, why = fields.get("kind"), as_text(fields.get("why"), 300)
    if kind == "unknown":
        return Verdict("unchecked", f"cannot be executed: {why}")
    if kind == "differs":
        before, _, after = why.partition(" before, ")
        sample = as_int(fields.get("sample"))
        how = f"executed on random inputs (sample {sample + 1}), the graph gives other values"
        return Verdict(
            "differs",
            how,
            before=before,
            after=after.removesuffix(" after").replace(" after; ", "; "),
        )
    samples = as_int(fields.get("samples"))
    if not samples:
        return _UNTOUCHED
    return Verdict("sampled", _HOW_LOOSE if fields.get("loose") is True else _HOW, samples)
