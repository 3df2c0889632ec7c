"""Queries that the server and the page of an exported file must answer alike."""

from __future__ import annotations

import random
from collections.abc import Iterator

from viz.views.store import Store

TEXTS = (
    *("add", "ADD", "simplify", "relu", "old.py", "old.py:12", "tidy", "x +", "-> x", "fmul"),
    *("float", "define", "ret", "define void", "mul nsw", "no such thing", "   ", "sum at", "ß"),
    *("a" * 300, "r_", "kernel", "%", "0", "schedule", "/tmp", "core/", ":12 relu", "DEFINE_VAR"),
)
STRUCTURES = (
    *("MUL(x, CONST 2)", "MUL(x, CONST -1)", "ADD(x, x)", "ADD(ADD(x, y), x)", "CONST 0"),
    *("ADD|SUB|MUL(MUL, _)", "CONST.int(...)", "MAX(...)", "ADD(_, ...)", "SUB(_, ADD|MUL)"),
    *("ADD.int(x, ADD(y, x))", "DETACH(MAX(x, y))", "_(_)", "_(...)", "_()", "CONST 1.0"),
    *(
        "CONST 1e0",
        'CONST "1"',
        'CONST ""',
        "STORE(...)",
        "sink(...)",
        "Add(x, x)",
        " MUL( x , _ )",
    ),
    *("LOAD.float(...)", "CAST.float32(x)", "CONST 0.50", "RANGE", "AFTER(x, _)", "CONST -inf"),
    *("ADD(a, b, c)", "MUL(ADD(x, _), ADD(x, _))", "ADD(MUL(x, y), MUL(y, x))", "MAX(x, _, ...)"),
)
MISTAKES = (
    *(
        "MUL(x",
        "MUL(x))",
        "MUL(x,, y)",
        "MUL(..., x)",
        "MUL(x, $)",
        "MUL.(x)",
        "MUL|(x)",
        "A(" * 20,
    ),
    *("ADD(x, y) z", "CONST 1 2", "MUL(x 😀)", "MUL(\u00e9)", "ADD(x, ... , y)", "CONST inf"),
)


def random_structures(store: Store, seed: int, count: int) -> Iterator[str]:
    """Queries of ops, dtypes and arguments that the run has, put together at random."""
    rng = random.Random(seed)
    nodes = store.files[0].nodes
    ops, dtypes = (
        sorted({store.files[0].text(int(s)) for s in nodes.field(name)[1:]})
        for name in ("op", "dtype")
    )

    def part(depth: int) -> str:
        if depth and rng.random() < 0.4:
            return rng.choice(("x", "y", "x", "_"))
        made = "|".join(rng.sample(ops, rng.choice((1, 1, 1, 2, 4))))
        made = "_" if rng.random() < 0.2 else made
        made += f".{rng.choice(dtypes)}" if rng.random() < 0.1 else ""
        made += f" {rng.choice((0, 1, 2, -1, 7))}" if rng.random() < 0.1 else ""
        if depth < 3 and rng.random() < 0.8:
            inner = [part(depth + 1) for _ in range(rng.choice((1, 2, 2, 2, 3)))]
            made += f"({', '.join([*inner, *(['...'] if rng.random() < 0.2 else [])])})"
        return made

    for _ in range(count):
        yield part(0)
