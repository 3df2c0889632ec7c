"""A toy compiler that writes a trace: `python examples/toycc.py toy.viz`.

It compiles `(x + 0) * (-7 / 2)`, in integers whose division rounds down, and folds what it can.
`toycc_dialect.py` says to uopviz what its ops mean.
"""

from __future__ import annotations

import sys

import viz


def main(path: str) -> int:
    """Compiles the program, and records that at `path`."""
    info = {"command": ["toycc", "a.toy"], "dialect": {"name": "toycc", "version": 1}}
    with viz.TraceWriter(path, info) as t:
        program = t.context_begin("a", "kernel")
        x = t.node("var", "int", arg='"x"', origin="a.toy:1")
        zero, seven, two = (t.node("num", "int", arg=str(n)) for n in (0, -7, 2))
        total = t.node("add", "int", (x, zero), origin="a.toy:1")
        quotient = t.node("div", "int", (seven, two), origin="a.toy:1")
        product = t.node("mul", "int", (total, quotient), origin="a.toy:1")
        root = t.node("ret", "void", (product,))
        add_zero = t.rule("add_zero", "toycc.py", 1, equation="x + 0 -> x", matcher="fold")
        fold_div = t.rule("fold_div", "toycc.py", 2, equation="c / d -> c // d", matcher="fold")
        fold = t.rewrite_begin("fold", sink=root, context=program)
        t.match(fold, add_zero, total, x, {"x": x}, ns=300)
        product_2 = t.node("mul", "int", (x, quotient), origin="a.toy:1")
        t.rebuild(fold, product, product_2)
        folded = t.node("num", "int", arg="-4")
        t.match(fold, fold_div, quotient, folded, {"c": seven, "d": two}, ns=500)
        product_3 = t.node("mul", "int", (x, folded), origin="a.toy:1")
        t.rebuild(fold, product_2, product_3)
        root_2 = t.node("ret", "void", (product_3,))
        t.rebuild(fold, root, root_2)
        t.rewrite_end(fold, root_2, nodes=4)
        t.user_lines("a.toy", 1, "(x + 0) * (-7 / 2)\n")
        t.kernel(program, "a", target="toy", ast=root)
        t.artifact(program, "toyasm", "toy", "mul x, -4\nret\n", lines=[(product_3,), (root_2,)])
        t.context_end(program)
    print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "toy.viz"))
