"""What stands around operands in LLVM IR: attributes, alignment, scopes, lists that are too long.

Attributes that could change what a kernel computes, and are not known here, are refused.
"""

from __future__ import annotations

from typing import Final

from core.runtime.emulator.llvm.text.cursor import Cursor
from core.runtime.emulator.llvm.text.types import Type, scalar_of

FAST: Final = frozenset({"fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"})
"""What a compiler may assume of floats. The emulator makes no use of it."""
ORDERINGS: Final = ("unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst")
CONVENTIONS: Final = frozenset({"ccc", "fastcc", "amdgpu_kernel", "amdgpu_gfx"})
MAX_OPERANDS: Final = 256
"""Operands of a phi, a call or a switch."""
MAX_ALIGN: Final = 1 << 16
"""Bytes that an address can be said to be a multiple of."""
_PLAIN: Final = frozenset({
    "noundef", "noalias", "nonnull", "readonly", "writeonly", "readnone", "nocapture", "inreg",
    "zeroext", "signext", "immarg", "returned", "nofree", "nosync", "nounwind", "willreturn",
    "convergent", "noreturn", "cold", "hot", "mustprogress", "norecurse", "speculatable",
    "memory", "captures", "dereferenceable", "dereferenceable_or_null", "nofpclass", "range",
    "initializes", "writable", "dead_on_unwind", "dead_on_return", "local_unnamed_addr",
    "unnamed_addr", "dso_local", "strictfp", "minsize", "optsize", "optnone", "noinline",
    "alwaysinline", "nocallback",
})  # fmt: skip
"""Attributes of arguments, results and functions that change nothing here."""


def attributes(c: Cursor) -> tuple[int, frozenset[str]]:
    """Takes the attributes of an argument, a result or a function: what it is aligned to (0: it
    does not say), and the words."""
    align, words = 0, set[str]()
    while c.token.kind in ("word", "group", "string"):
        text = c.token.text
        if text == "align":
            c.take()
            bracket = c.accept("(")
            align = alignment(c)
            if bracket:
                c.expect(")")
        elif c.token.kind != "word" or text in _PLAIN:
            c.take()
            words.add(text)
            if c.sees("("):
                c.skip_brackets()
            elif c.accept("="):  # "key"="value"
                c.of_kind("string", "a text in quotes")
        else:
            break
    return align, frozenset(words)


def alignment(c: Cursor) -> int:
    """Takes a number of bytes, a power of two."""
    found = c.natural("an alignment", MAX_ALIGN)
    if found.bit_count() != 1:
        c.fail(f"an alignment of {found} is not a power of two")
    return found


def access(c: Cursor) -> tuple[int, frozenset[str]]:
    """Takes what may follow a load or store: its alignment (0: none), scope and ordering."""
    words = scope(c) | c.words(ORDERINGS)
    if c.sees(",") and c.after().text == "align":
        c.expect(",", "align")
        return alignment(c), words
    return 0, words


def scope(c: Cursor) -> frozenset[str]:
    """Takes `syncscope("...")`, if it comes next."""
    if not c.accept("syncscope"):
        return frozenset()
    c.expect("(")
    name = c.of_kind("string", "the name of a scope")
    c.expect(")")
    return frozenset({f"scope {name}"})


def attachments(c: Cursor) -> None:
    """Takes metadata such as `, !dbg !7`, which is not read."""
    while c.sees(",") and c.after().kind == "metadata":
        c.take()
        c.take()
        if c.token.kind == "metadata" and c.take().text == "!":
            c.skip_brackets()


def few(c: Cursor, count: int) -> None:
    """Raises CompileError for more operands than any instruction of a kernel has."""
    if count > MAX_OPERANDS:
        c.fail(f"more than {MAX_OPERANDS} operands")


def require(c: Cursor, type_: Type, kinds: tuple[type, ...], op: str) -> None:
    """Raises CompileError unless `type_` is of scalars of these kinds."""
    if not isinstance(scalar_of(type_), kinds):
        c.fail(f"{op} of {type_} does not exist")
