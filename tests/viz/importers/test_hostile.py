"""Long lines that would take a reader hours whose time is the square of their length."""

from __future__ import annotations

import pytest

from viz.importers.mlir import llvm, mlir
from viz.importers.mlir.remarks import remarks_of
from viz.importers.torch import fx
from viz.importers.torch.torchrecords import records_of
from viz.importers.xla import hlo, jaxpr

LONG = 100_000
LINES = {
    "escaped quotes": '"\\"',
    "quotes": '"',
    "comments": '"//',
    "comments of C": "/*",
    "hashes": " #",
    "symbols": "@",
    "values": "%a ",
    "labels": "label %a, ",
    "arguments": "%a: i32, ",
    "brackets": "([{<",
    "closing": ")]}>",
    "spaces": " ",
    "equations": "a = ",
    "names": "a.",
    "metadata": "metadata={",
    "braces": "calls={",
    "places": 'loc("a":1:',
    "files": "# File: /a:1, code: ",
    "colons": ": ",
    "semicolons": ";",
    "blocks": "{/*",
    "arrows": "->",
    "dollars": "$0",
}


@pytest.mark.parametrize("name", LINES)
def test_a_long_line(name: str) -> None:
    for line in (part := LINES[name] * (LONG // len(LINES[name])), part + '"', part + "\\"):
        for head in ("", "%a = ", "t.x ", '"t.x"(', "^bb0("):
            mlir.parse(["module {", head + line, "}"])
        for head in ("", "%a = f32[] add(", "%a = (", "%a = f32[] add(%a), "):
            hlo.parse(["HloModule m", "ENTRY %m () -> f32[] {", head + line, "}"])
        hlo.parse(["HloModule m", "a(" + line])
        for head in ("", "y", "y = ", "y: ", "return ", "# "):
            fx.parse(f"class A(t):\n    def forward(self, x):\n        {head}{line}\n")
        fx.parse(f"class A(t):\n    def forward(self, x):\n        y{line}fx_pytree.\n")
        assert not fx.is_graph("def forward(" + line)
        for head in ("", "%a = add ", "%a = phi "):
            llvm.parse(["define void @f(i32 %a) {", head + line, "}"])
        jaxpr.parse("{ lambda ; a:f32[]. let\n  b:f32[] = add " + line)
        jaxpr.parse("{ lambda ; a:f32[]. let\n  in " + line + "a b } c")
        jaxpr.parse("{ lambda " + line)
        assert len([*remarks_of(["--- !Missed", "Pass: " + line, "  - String: " + line])]) == 1
        assert len([*records_of(["V1127 09:42:50.512000 7177 " + line, "{" + line])]) == 0
