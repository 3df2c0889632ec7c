"""Runs a program in the tree of the project that is first on the path, records it, and asks check
and bisect about it: `python -P worker.py REQUEST.json`.

The request: {"pieces", "trace", "arrays", "wanted", "close", "ask"}. `arrays`: where the results
go; `wanted`: those of the tree without the mistake; None of that tree itself, all of whose traces
are checked; not `ask`: nothing is asked. The answer is one line of JSON on standard output, after
MARK.
"""

from __future__ import annotations

import builtins
import json
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

Data = dict[str, Any]
MARK: Final = "=== answer "
SECONDS: Final = 60
MEMORY: Final = 4 << 30
"""Bytes that it may write: a check may want more than there is."""


class TooLongError(BaseException):
    """Something takes too long."""


def main() -> int:
    """Answers the request."""
    request: Data = json.loads(Path(sys.argv[1]).read_text())
    signal.signal(signal.SIGALRM, _end)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    answer: Data = {}
    begun = time.monotonic()
    for step in (run, check, bisect):
        signal.alarm(SECONDS)
        try:
            answer[step.__name__] = step(request)
        except TooLongError:
            answer[step.__name__] = {"failed": f"longer than {SECONDS} seconds"}
        except BaseException as error:
            answer[step.__name__] = {"failed": _said(error), "where": traceback.format_exc()[-900:]}
        finally:
            signal.alarm(0)
        answer["seconds"] = round(time.monotonic() - begun, 2)
        if step is run and not _asked_further(request, answer["run"]):
            break
    print(MARK + json.dumps(answer), flush=True)
    return 0


def _end(number: int, frame: object) -> None:
    raise TooLongError


def _said(error: BaseException) -> str:
    text = str(getattr(error, "what", "") or error)
    return f"{type(error).__name__}: {text}"[:400]


def _asked_further(request: Data, made: Data) -> bool:
    return request["ask"] and (
        request["wanted"] is None or "failed" in made or bool(made["effect"])
    )


def run(request: Data) -> Data:
    """Computes the expressions, each recorded in a trace of its own, up to the first whose results
    are not those that are wanted: {"effect", "part"}. Of the tree itself, all are computed."""
    import viz
    from core import compile

    setup, parts = request["pieces"]
    request["at"] = 0
    scope: Data = {}
    exec(builtins.compile(setup, "<program>", "exec"), scope)
    wanted = None if request["wanted"] is None else np.load(request["wanted"], allow_pickle=False)
    kept: dict[str, Any] = {}
    for at, part in enumerate(parts):
        vars(compile)["_kept"].cache_clear()  # its kernels are recorded, whatever came before
        request["at"] = at
        with viz.record(trace_of(request, at)):
            found: Any = eval(builtins.compile(part, "<program>", "eval"), scope)
        arrays = [np.asarray(one) for one in (found if isinstance(found, list) else [found])]
        kept.update((f"{at}.{number}", one) for number, one in enumerate(arrays))
        if wanted is not None:
            names = [name for name in wanted.files if name.startswith(f"{at}.")]
            effect = difference(arrays, [wanted[n] for n in names], float(request["close"]))
            if effect:
                return {"effect": effect, "part": part}
    if wanted is None:
        np.savez(request["arrays"], **kept)
    return {"effect": ""}


def trace_of(request: Data, at: int) -> str:
    """The trace of an expression."""
    return f"{request['trace']}.{at}.viz"


def difference(got: Sequence[Any], wanted: Sequence[Any], close: float) -> str:
    """How results differ, in words; "" where they do not. Floats may differ by `close` times the
    largest value; where that is 0, bits count, but for those of NaN."""
    if len(got) != len(wanted):
        return f"{len(got)} results in place of {len(wanted)}"
    for number, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {number} is {a.dtype} of shape {a.shape}, not {b.dtype} of {b.shape}"
        if not a.size:
            continue
        if a.dtype.kind not in "fc":
            wrong = a != b
        else:
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            if close:
                with np.errstate(all="ignore"):
                    scale = max([1e-30, *np.abs(b[np.isfinite(b)]).reshape(-1).tolist()])
                    wrong = ~same & ~(np.abs(a - b) <= close * scale)
            else:
                wrong = ~same | ((a == 0) & (np.signbit(a) != np.signbit(b)))
        if wrong.any():
            at = int(np.flatnonzero(wrong.reshape(-1))[0])
            found, right = (x.reshape(-1)[at].item() for x in (a, b))
            return f"result {number}[{at}] is {found!r} in place of {right!r}"
    return ""


def _asked(request: Data) -> list[str]:
    """The traces that are asked about: that of the expression that is wrong."""
    if request["wanted"] is not None:
        return [trace_of(request, request["at"])]
    return [trace_of(request, at) for at in range(len(request["pieces"][1]))]


def check(request: Data) -> Data:
    """What `uopviz check` says: for each rule the verdicts of its steps, counted, and the first
    step that differs; of kernels as a whole, how many are in each state ("wholes"), what is named
    where a text differs and no step does ("texts"), and why others were not run; and the passes
    that left something undone, with what they left."""
    made: Data = {"rules": {}, "first": {}, "wholes": {}, "texts": [], "why": {}}
    made |= {"passes": [], "undone": []}
    for trace in _asked(request):
        _check(trace, made)
    made["texts"] = list(dict.fromkeys(made["texts"]))
    return made


def _check(trace: str, made: Data) -> None:
    from viz.bisect import worker as task_worker
    from viz.check.message import message
    from viz.check.part import AMONG, check_part
    from viz.check.parts import Part
    from viz.check.whole import judged
    from viz.check.whole.kernels import kernels_of, wholes_of
    from viz.views.store import Store
    from viz.whatif import worker as kernel_worker

    def here(tasks: Sequence[Data], told: Any) -> None:
        for at, task in enumerate(tasks):
            told(at, task_worker.answer(json.dumps({**task, "memory": 1 << 40})))

    judged.limit_files = task_worker.limit_memory = kernel_worker.limit_files = lambda _: None
    rules: dict[str, dict[str, int]] = made["rules"]
    first: dict[str, str] = made["first"]

    store = Store(trace)
    try:
        passes = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
        parts = check_part(Part(trace, passes, seconds=SECONDS - 25.0))
        whole: dict[int, Data] = {}
        wholes_of(store, kernels_of(store)).run(
            here, lambda one: whole.update({one["kernel"]: one})
        )
        said = message(store, parts, [*whole.values()])
        for one in said["kernels"]:
            made["wholes"][one["state"]] = made["wholes"].get(one["state"], 0) + 1
            made["why"].setdefault(one["why"] or one["device"], one["name"])
            if one["state"] == "differs" and one["because"] is None:
                made["texts"].append(one["place"])
                first.setdefault(f"text: {one['place']}", f"{one['name']}: {one['outcome']}"[:500])
        made["passes"] += [one["pass"] for one in said["undone"]]
        made["undone"] += [one["said"] for one in said["undone"]]
        for rule in (one["rule"] for one in said["undone"] if one["rule"]):
            rules.setdefault(rule, {})["differs"] = 1
        for row in said["rules"]:
            kind, name, how = row["verdict"]["kind"], row["name"], row["verdict"]["how"]
            counts = rules.setdefault(name, {})
            counts[kind] = counts.get(kind, 0) + row["steps"]
            if kind == "differs":
                counts["possible"] = counts.get("possible", 0) + row["steps"] * (AMONG in how)
                first.setdefault(name, f"{row['first']}: {row['verdict']}"[:500])
    finally:
        store.close()


def bisect(request: Data) -> Data:
    """What `uopviz bisect` says of the run: {"wrong", "told", "named"}, the rules and passes that
    are named, with how."""
    from viz.bisect import search as run_search
    from viz.bisect import worker as bisect_worker
    from viz.whatif import worker

    class Here:
        """Tasks are done in this process."""

        def __init__(self, jobs: int, seconds: float) -> None:
            pass

        def do(self, tasks: Sequence[Data], told: Any) -> None:
            for at, task in enumerate(tasks):
                told(at, bisect_worker.answer(json.dumps({**task, "memory": 1 << 40})))

        def close(self) -> None:
            pass

    worker.limit_files = bisect_worker.limit_memory = lambda _: None
    run_search.Workers = Here
    made: Data = {"wrong": False, "told": True, "named": [], "how": [], "kernels": [], "notes": []}
    for trace in _asked(request):
        _bisect(trace, made)
    made["named"] = list(dict.fromkeys(made["named"]))
    return made


def _bisect(trace: str, made: Data) -> None:
    from viz.bisect.search import bisect_run
    from viz.views.store import Store

    Path(trace + ".check.json").unlink(missing_ok=True)
    store = Store(trace)
    try:
        found = bisect_run(store)
    finally:
        store.close()
    made["wrong"] |= found["wrong"]
    made["told"] &= found["told"]
    for one in found["found"]:
        failed = one["failed"]
        culprit = one["culprit"] or (failed or {}).get("step")
        if culprit is not None and culprit["match"] is not None:
            made["named"].append("rule " + culprit["match"]["rule"]["name"])
        elif culprit is not None:
            maybe = ",".join(culprit["candidates"])
            made["named"].append(f"pass {culprit['pass']}" + (f" of {maybe}" if maybe else ""))
        else:
            made["named"].append(f"pass {failed['pass']}")
        if failed is not None:
            made["how"].append(str(failed["error"]["what"])[:200])
    made["named"] += ["rule " + one["rule"]["name"] for one in found["steps"]["differing"]]
    for one in found["steps"]["undone"]:
        made["named"].append(f"rule {one['rule']}" if one["rule"] else f"pass {one['pass']}")
    made["kernels"] += [f"{r['name']}: {r['state']} {r['said']}"[:200] for r in found["kernels"]]
    made["notes"] += [re.sub(r"\s+", " ", str(note))[:200] for note in found["notes"]]


if __name__ == "__main__":
    sys.exit(main())
