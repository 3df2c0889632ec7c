"""What the optimisations of a kernel do, in words. Never says whether one can be applied."""

from __future__ import annotations

import re
from typing import Final

_OPT: Final = re.compile(r"([A-Z]{1,40})\((.*)\)")


def opt_words(opt: str) -> str:
    """What "UPCAST(0, 8)" does, to go on with after "The kernel": "computes 8 elements of loop 0 at
    once"; one that is unknown as it is."""
    found = _OPT.fullmatch(opt)
    name, given = (found[1], found[2]) if found is not None else ("", "")
    axis, amount, *_ = (*(part.strip() for part in given.split(",")), "", "")
    number = f"{int(amount):,}" if amount.isdecimal() and int(amount) > 0 else ""
    match name:
        case "UPCAST":
            return f"computes {number or 'all'} elements of loop {axis} at once"
        case "UNROLL":
            return f"unrolls reduce loop {axis} {f'by {number}' if number else 'completely'}"
        case "LOCAL":
            return f"gives {number or 'some'} elements of loop {axis} to the threads of a group"
        case "GROUP" | "GROUPTOP":
            return f"splits reduce loop {axis} over {number or 'the'} threads of a group"
        case "THREAD":
            return f"splits loop {axis} over {f'{number} threads' if number else 'threads'}"
        case "SWAP":
            return f"swaps loops {axis} and {amount}"
        case "PADTO":
            return f"pads loop {axis} to a multiple of {amount}"
        case "TC" if re.search(r",\s*2\s*\)$", given):
            return "splits loops as for tensor cores and multiplies lane by lane"
        case "TC":
            return "multiplies matrices on tensor cores"
        case "NOLOCALS":
            return "uses no local memory"
        case _:
            return opt
