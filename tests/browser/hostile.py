"""Traces that no run of `core` would leave: full of HTML, failed, empty."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from viz.format import schema
from viz.format.events import events_of
from viz.write.writer import TraceWriter

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


def million(path: Path) -> Path:
    """One pass of a million steps over a graph of a thousand nodes."""
    count, part = 1_000_000, 20_000
    with TraceWriter(path, {"command": ["endless.py"]}) as t:
        a, b = t.node("CONST", "int32", arg="1"), t.node("CONST", "int32", arg="2")
        graphs = [a, b]
        for i in range(500):
            graphs = [t.node("ADD" if i % 3 else "MUL", "int32", (n, n)) for n in graphs]
        rule = t.rule("swap", "endless.py", 3)
        step = t.rewrite_begin("endless", graphs[0])
        turns = ((schema.MATCH, step, rule, *pair, 1000, 0, 0) for pair in ((a, b), (b, a)))
        events = events_of([*turns] * (part // 2))
        for _ in range(count // part):
            t.extend(events)
        t.rewrite_end(step, graphs[0])
    return path


def wordy(path: Path) -> Path:
    """Texts of a megabyte wherever a node, a pass or a rule has one."""
    long = "long " * 200_000
    with TraceWriter(path, {"command": ["wordy.py"]}) as t:
        kernel = t.context_begin(f"kernel {long}", "kernel")
        x = t.node(f"OP {long}", f"dtype {long}", arg=f'"{long}"', origin=f"{long}.py:1")
        y = t.node("NEG", "int32", (x,), arg=f'"{long}"', tag=long, loc=f"{long}:2")
        z = t.node("ADD", "int32", (x, x), arg=f'"again {long}"')
        rule = t.rule(f"rule {long}", f"{long}.py", 3, doc=long, source=long, equation=long)
        step = t.rewrite_begin(f"pass {long}", y, context=kernel, caller=f"{long}:9")
        t.match(step, rule, y, z, {f"x {long}": x}, ns=700)
        t.rewrite_end(step, z)
        t.context_end(kernel)
    return path


def circular(path: Path) -> Path:
    """Events that put nodes below themselves, which no engine does."""
    with TraceWriter(path, {"command": ["circular.py"]}) as t:
        rule = t.rule("turn", "circular.py", 3)
        a = t.node("CONST", "int32", arg="1")
        b = t.node("NEG", "int32", (a,))
        c = t.node("SQRT", "int32", (b,))
        other = t.node("CONST", "int32", arg="2")
        root = t.node("SINK", "void", (c, other))
        step = t.rewrite_begin("turning", root)
        t.match(step, rule, other, t.node("CONST", "int32", arg="3"), {}, ns=1)
        t.rebuild(step, a, c)
        t.match(step, rule, b, t.node("EXP", "int32", (c,)), {}, ns=1)
        t.rewrite_end(step, 0, error={"message": "RuntimeError: it turns", "traceback": ""})
    return path
