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
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from core.errors import TraceError
from core.prove.verdict import Verdict
from viz.foreign.fxtext import CannotError
from viz.foreign.stages import pair
from viz.foreign.states import states_of
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
    if _is_from_text(file, rewrite):
        return [_compared(file, rewrite)] * steps
    states = states_of(file, rewrite, steps)
    found = _asked(states.data())
    if isinstance(found, Verdict):
        return [found] * steps
    if len(found) == steps:
        return found
    whole = found[-1]
    said = Verdict(whole.kind, f"{whole.how} ({_ALL})", whole.samples)
    return [said] * steps


def _is_from_text(file: TraceFile, rewrite: Rewrite) -> bool:
    """Whether the graphs of a pass were read from texts: their ops are in a block."""
    op = file.nodes.field("op")
    return any(file.text(int(op[s])) == "block" for s in file.nodes.sources(rewrite.sink))


def _compared(file: TraceFile, rewrite: Rewrite) -> Verdict:
    """The verdict of a pass whose graphs are texts."""
    try:
        before, after = _texts(file, rewrite.id)
        siblings = (
            one.id
            for one in file.rewrites.values()
            if one.sink == rewrite.sink and one.result not in (rewrite.sink, rewrite.result)
        )
        made = pair(before, after, [_texts(file, one)[1] for one in siblings])
    except TraceError as error:
        return Verdict("unchecked", error.what)
    except CannotError as error:
        return Verdict("unchecked", f"cannot be executed: {error}"[:300])
    found = _asked({"nodes": made.statements, "roots": made.roots, "ordered": True})
    verdict = found if isinstance(found, Verdict) else found[0]
    if made.note and verdict.kind == "sampled":
        return replace(verdict, how=f"{verdict.how} ({made.note})")
    return verdict


def _texts(file: TraceFile, rewrite: int) -> tuple[str, str]:
    """The texts before and after a pass. Raises TraceError."""
    found = file.pass_texts.of(rewrite)
    if len(found) != 2:
        raise TraceError("the trace has not both texts of the pass")
    if any(one.left_out for one in found):
        raise TraceError("a text of the pass is cut")
    before, after = map(file.pass_texts.text, found)
    return before, after


def _asked(request: dict[str, Any]) -> list[Verdict] | Verdict:
    """The verdict of each state but the first; or why there is none."""
    count = len(request["roots"]) - 1
    if len({*request["roots"]}) == 1:
        return [_UNTOUCHED] * count
    python = UOPVIZ_PYTHON.value or shutil.which("python") or sys.executable
    hidden = ("VIZ", "UOPVIZ_", "PYTHONSTARTUP")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
    try:
        done = subprocess.run(
            [python, str(SCRIPT)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ""
        return _read(said, count, f"not done after {SECONDS:g} seconds")
    except OSError as error:
        return Verdict("unchecked", f"{python} cannot be run: {error.strerror}", hint=_PYTHON)
    return _read(done.stdout, count, "the process that executed it ended")


def _read(text: str, count: int, rest: str) -> list[Verdict] | Verdict:
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
    missing = count - len(made)
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
