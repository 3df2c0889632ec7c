"""Traces that no run of `core` would leave: full of HTML, failed, empty."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from viz.writer import TraceWriter

IMAGE: Final = "<img src=x onerror=window.pwned=1>"
SCRIPT: Final = "</script><script>window.pwned=2</script>"
SVG: Final = '"><svg onload=window.pwned=3>'
TEXTS: Final = (IMAGE, SCRIPT, SVG, "{{constructor.constructor('x')()}}")
TRACEBACK: Final = 'Traceback (most recent call last):\n  File "rules.py", line 20, in explodes\n'


def hostile(path: Path) -> Path:
    """Every text of the trace is markup, a script, or a lie about its length or direction."""
    evil = " ".join(TEXTS) + " \u202egnp.exe \x1b[31m \x00 end"
    info = {"command": [evil, IMAGE], "commit": SCRIPT, "machine": IMAGE, "python": evil}
    with TraceWriter(path, info) as t:
        kernel = t.context_begin(evil, "kernel")
        x = t.node("CONST", evil, arg=evil, tag=evil, origin=f"{IMAGE}.py:1", loc=f"{SCRIPT}:2")
        y = t.node(IMAGE, IMAGE, (x,), arg=SCRIPT, extra={"shape": evil, "lo": IMAGE, "hi": SCRIPT})
        z = t.node("ADD", SCRIPT, (x, x), arg=evil * 40)
        rule = t.rule(
            evil,
            f"{IMAGE}.py",
            3,
            matcher=IMAGE,
            equation=evil,
            doc=evil + "\n" + evil,
            source=f"def {SCRIPT}:\n    return {IMAGE}\n",
            pattern={
                "op": [IMAGE, SCRIPT],
                "dtype": [evil],
                "name": IMAGE,
                "arg": SCRIPT,
                "src": {"kind": "any"},
            },
        )
        step = t.rewrite_begin(evil, sink=y, context=kernel, matcher=evil, caller=f"{IMAGE}:9")
        t.match(step, rule, y, z, {IMAGE: x, SCRIPT: y}, ns=700)
        t.rewrite_end(step, z, nodes=2)
        t.kernel(kernel, evil, target="sm_90", device=IMAGE, ast=z, info={"launches": evil})
        t.artifact(
            kernel, "ptx", "sm_90", f"{SCRIPT}\n{IMAGE}\n", lines=[[z], [x]], facts={evil: IMAGE}
        )
        t.context_end(kernel)
    return path


def failed(path: Path) -> Path:
    """A pass that ended in the function of a rule, after one good step."""
    with TraceWriter(path, {"command": ["failing.py"]}) as t:
        kernel = t.context_begin("k_fails", "kernel")
        one = t.node("CONST", "int32", arg="1")
        neg = t.node("NEG", "int32", (one,))
        minus = t.node("CONST", "int32", arg="-1")
        good = t.rule(
            "fold_neg", "rules.py", 12, equation="-c -> c'", source="def fold_neg(c): ...\n"
        )
        bad = t.rule("explodes", "rules.py", 20, source="def explodes(c): return 1 // 0\n")
        step = t.rewrite_begin("simplify", sink=neg, context=kernel)
        t.match(step, good, neg, minus, {"c": one}, ns=700)
        error = {
            "message": "ZeroDivisionError: integer division by zero",
            "traceback": TRACEBACK,
            "rule": bad,
            "node": minus,
        }
        t.rewrite_end(step, error=error)
        t.context_end(kernel, error=error)
    return path


def empty(path: Path) -> Path:
    """A run that rewrote nothing."""
    with TraceWriter(path, {"command": ["idle.py"]}):
        return path
