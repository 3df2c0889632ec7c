"""A program of the stand-in: folds a product, prints what it is, and ends with the code that it is
given; "fail" and "kill" end it inside a pass."""

import os
import signal
import sys
import time

from tinygrad.uop.ops import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rewrite_group


def mul_one(x, one):
    """x * 1 -> x"""
    return x if one.arg == 1 else None


def add_constants(a, b):
    if a.arg == 13:
        raise ValueError("13 is not added")
    if a.arg == 14:
        time.sleep(0.3)  # until what was told is written
        os.kill(os.getpid(), signal.SIGKILL)
    return UOp.of(Ops.CONST, arg=a.arg + b.arg)


RULES = PatternMatcher(
    [
        (UPat(Ops.MUL, src=(UPat(Ops.NEG, "x"), UPat(Ops.CONST, "one"))), mul_one),
        (UPat(Ops.ADD, src=(UPat(Ops.CONST, "a"), UPat(Ops.CONST, "b"))), add_constants),
        (UPat(Ops.NEG, "x", (UPat(Ops.CONST, "a"),)), lambda x, a: UOp.of(Ops.CONST, arg=-a.arg)),
    ]
)


@rewrite_group(name=lambda number, ret: f"kernel_{number}")
def get_program(number):
    constant = UOp.of(Ops.CONST, arg=number)
    inner = UOp.of(Ops.ADD, constant, constant)
    graph = UOp.of(Ops.SINK, UOp.of(Ops.NEG, inner), UOp.of(Ops.ADD, inner, constant))
    done = graph_rewrite(graph, RULES, name="fold")
    source = UOp.of(Ops.SOURCE, arg="the text\n" + str([s.arg for s in done.src]))
    return UOp.of(Ops.PROGRAM, done, source)


word = sys.argv[1]
if word == "fork":
    get_program(3)
    if not (child := os.fork()):
        get_program(5)
        sys.exit(0)
    os.waitpid(child, 0)
    word = "0"
if word == "lines":  # a kernel for each line of standard input
    for line in sys.stdin:
        get_program(int(line))
    word = "0"
if word == "wait":  # for Ctrl-C, which it takes for its end
    get_program(3)
    try:
        print("waiting", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        word = "7"
made = get_program({"fail": 13, "kill": 14}.get(word, 3))
print([s.arg for s in made.src[0].src])
sys.exit(int(word))
