"""Twenty rules of tinygrad, each of which nearly fires: one pass each, named for its case. Prints
for each case which node is to blame, by its op and argument, and for what."""

import json

import tinygrad.uop.ops as ops
from tinygrad.dtype import dtypes
from tinygrad.uop.ops import Ops, PatternMatcher, UOp, UPat, graph_rewrite


def node(op, dtype, src=(), arg=None):
    return UOp(op, dtype, tuple(src), arg)


def const(value, dtype=dtypes.int):
    return node(Ops.CONST, dtype, (), value)


x = node(Ops.SPECIAL, dtypes.int, (const(16),), "x")
y = node(Ops.SPECIAL, dtypes.int, (const(8),), "y")
f = node(
    Ops.RECIPROCAL if hasattr(Ops, "RECIPROCAL") else Ops.RECIP,
    dtypes.float,
    (const(2.5, dtypes.float),),
)
add, mul = node(Ops.ADD, dtypes.int, (x, const(3))), node(Ops.MUL, dtypes.int, (x, const(4)))
lt = node(Ops.CMPLT, dtypes.bool, (x, const(5)))
both = node(Ops.ADD, dtypes.int, (mul, add))
where = node(Ops.WHERE, dtypes.int, (lt, add, mul))
nested = node(Ops.MUL, dtypes.int, (node(Ops.ADD, dtypes.int, (mul, const(1))), const(2)))
sink = node(Ops.SINK, dtypes.void, (add, mul, lt, f))
V = UPat.var


def c(value, **more):
    return UPat(Ops.CONST, arg=value, **more)


CASES = [
    # name, graph, pattern, op and argument of the node to blame, kind
    ("argument of a source", add, UPat(Ops.ADD, src=[V("x"), c(0)]), ("CONST", 3), "argument"),
    ("argument in order", add, UPat(Ops.ADD, src=(V("x"), c(7))), ("CONST", 3), "argument"),
    ("op of a source", add, UPat(Ops.ADD, src=(UPat(Ops.MUL), V("y"))), ("SPECIAL", "x"), "op"),
    ("order", add, UPat(Ops.ADD, src=(c(3), V("y"))), ("SPECIAL", "x"), "op"),
    ("dtype", add, UPat(Ops.ADD, dtypes.float), ("ADD", None), "dtype"),
    ("dtypes", mul, UPat(Ops.MUL, (dtypes.float, dtypes.half)), ("MUL", None), "dtype"),
    (
        "dtype of a source",
        lt,
        UPat(Ops.CMPLT, src=(V("x", dtypes.float), V("y"))),
        ("SPECIAL", "x"),
        "dtype",
    ),
    ("one name twice", add, UPat(Ops.ADD, src=(V("x"), V("x"))), ("CONST", 3), "name"),
    (
        "a name above and below",
        both,
        UPat(
            Ops.ADD, src=(UPat(Ops.MUL, src=(V("x"), V("c"))), UPat(Ops.ADD, src=(V("x"), V("c"))))
        ),
        ("CONST", 3),
        "name",
    ),
    ("too few sources", f, UPat(f.op, src=(V("x"), V("y"))), (f.op.name, None), "sources"),
    ("too many sources", where, UPat(Ops.WHERE, src=(V("x"), V("y"))), ("WHERE", None), "sources"),
    (
        "at least two",
        f,
        UPat(f.op, src=(V("x"), V("y")), allow_any_len=True),
        (f.op.name, None),
        "sources",
    ),
    (
        "deep",
        nested,
        UPat(Ops.MUL, src=(UPat(Ops.ADD, src=(UPat(Ops.MUL, src=(V("x"), c(8))), V("y"))), V("z"))),
        ("CONST", 4),
        "argument",
    ),
    (
        "deep in any order",
        nested,
        UPat(Ops.MUL, src=[c(2), UPat(Ops.ADD, src=[c(5), UPat(Ops.MUL)])]),
        ("CONST", 1),
        "argument",
    ),
    ("a float", f, UPat(f.op, src=(c(2.0),)), ("CONST", 2.5), "argument"),
    (
        "repeated",
        sink,
        UPat(Ops.SINK, src=UPat((Ops.ADD, Ops.MUL, Ops.CMPLT))),
        (f.op.name, None),
        "op",
    ),
    (
        "any of two",
        add,
        UPat(Ops.ADD, src=(V("x"), UPat.any(c(1), c(2)))),
        ("CONST", 3),
        "argument",
    ),
    (
        "one of the ops",
        where,
        UPat(Ops.WHERE, src=(UPat((Ops.CMPNE, Ops.AND)), V("a"), V("b"))),
        ("CMPLT", None),
        "op",
    ),
    (
        "gate",
        where,
        UPat(Ops.WHERE, src=(UPat(Ops.CMPLT, src=(V("i"), c(6))), V("a"), V("b"))),
        ("CONST", 5),
        "argument",
    ),
    ("text", x, UPat(Ops.SPECIAL, arg="z"), ("SPECIAL", "x"), "argument"),
]


group = getattr(ops, "rewrite_group", None) or ops.track_rewrites


@group(name=lambda *args, ret: "misses")
def run(name, graph, pattern):
    names = {}

    def walk(p):
        if p.name is not None:
            names[p.name] = 1
        given = p._in_src
        for one in (
            given if isinstance(given, (list, tuple)) else [given] if given is not None else []
        ):
            walk(one)

    walk(pattern)
    function = eval("lambda " + ", ".join(names) + ": None")
    hit = PatternMatcher([(pattern, function), (UPat(Ops.NOOP), lambda: None)])
    other = PatternMatcher([(UPat(Ops.CONST, arg=16), lambda: const(17))])
    graph_rewrite(graph, hit + other, name=name)


for name, graph, pattern, blamed, kind in CASES:
    run(name, graph, pattern)
    print(
        "CASE "
        + json.dumps(
            [
                name,
                [graph.op.name, graph.arg if isinstance(graph.arg, str) else None],
                *blamed,
                kind,
            ]
        )
    )
