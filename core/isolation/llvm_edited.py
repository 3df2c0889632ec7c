"""Checks LLVM IR that a user has edited: the kernel's one function, of known instructions only.

LLVM parses the text. Every instruction and operand is checked against lists of what the renderer
writes, and what runs is what LLVM prints of the parsed module, so that no spelling hides anything.
What is not on the lists is refused. Not a sandbox: loads and stores reach any address that the
function computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from llvmlite import binding as llvm

from core.errors import CompileError, RunError
from core.render.llvm import INTRINSICS
from core.toolchain.llvm_compiler import parse

OPCODES: Final = frozenset(
    [
        *("alloca", "load", "store", "getelementptr", "br", "phi", "ret", "call"),
        *("add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr"),
        *("and", "or", "xor", "fadd", "fsub", "fmul", "fdiv", "fneg", "icmp", "fcmp", "select"),
        *("trunc", "zext", "sext", "fptrunc", "fpext", "sitofp", "uitofp"),
        *("bitcast", "insertelement", "extractelement", "shufflevector", "freeze"),
    ]
)
"""Instructions that compute values, load, store, or branch to named blocks."""
_KINDS: Final = frozenset(
    {
        llvm.ValueKind.argument,
        llvm.ValueKind.basic_block,
        llvm.ValueKind.instruction,
        llvm.ValueKind.undef_value,
        llvm.ValueKind.poison_value,
        llvm.ValueKind.constant_int,
        llvm.ValueKind.constant_fp,
        llvm.ValueKind.constant_vector,
        llvm.ValueKind.constant_data_vector,
        llvm.ValueKind.constant_aggregate_zero,
        llvm.ValueKind.constant_pointer_null,
    }
)
"""Kinds of operands, apart from the function that a call names."""
_TYPES: Final = r"(\.(v\d+)?(f16|bf16|f32|f64|i\d+|p0))+"
_INTRINSIC: Final = re.compile(rf"llvm\.({'|'.join(map(re.escape, sorted(INTRINSICS)))}){_TYPES}")
_SPLAT: Final = re.compile(r"\bsplat \([^()]*\)")
_CALL: Final = re.compile(
    r"\s*(?:%[\w.]+ = )?(?:tail )?call (?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*"
    r"(?:<\d+ x )?(?:i\d+|half|bfloat|float|double)>? @[\w.]+\(([^()]*)\)"
)
_ORDERED: Final = re.compile(r"\s*(?:%[\w.]+ = )?(?:load|store) (atomic|volatile) ")
_SYNTAX: Final = re.compile(r"<string>:(\d+):(\d+): error: (.*)")
_RESULT: Final = re.compile(r"^\s*(%[^\s=]+ = )", re.MULTILINE)
_FOREIGN: Final = re.compile(r"[^\t\n\x20-\x7e]")
_FLAGS: Final = re.compile(r"^[ \t]*!llvm\.module\.flags[ \t]*=.*$", re.MULTILINE)
"""The version of debug information, in a text as the compiler writes it."""
_DEBUG: Final = re.compile(r",? !dbg !\d+|^!(?:\d+|llvm\.dbg\.cu) = .*\n?", re.MULTILINE)
"""Debug information and all numbered metadata, in the form in which LLVM prints it."""
_METADATA: Final = re.compile(r"^.*(?:!\d|!\{|^!).*$", re.MULTILINE)
_MODULE: Final = re.compile(
    r"; [^\n]*|source_filename = \"<string>\"|target triple = \"[\w.-]*\"|define [^\"]*|"
    r"declare [^\"]*|attributes #\d+ = [^\"]*|"
)
"""Lines that may stand outside the function; functions are checked separately."""
_REFUSED: Final = (
    (r"module asm ", "assembly outside the function"),
    (r"target datalayout ", "a layout of memory"),
    (r"%.* = type ", "a type of its own"),
    (r"@llvm\.", "a list for the linker, such as constructors"),
    (r"@.* (alias|ifunc) ", "an alias of a function"),
    (r"@.* external ", "a variable of another program"),
    (r"@", "a global variable"),
    (r"!", "metadata"),
    (r"attributes ", "an attribute that is a text"),
    (r"define |declare ", "a function with a name or a property that is a text"),
)
_OTHER: Final = "a part that kernels do not need"
_NUMBERED: Final = re.compile(r" #\d+")


def checked_ir(text: str, own: str, name: str) -> str:
    """The text to run, as LLVM prints it, without debug information.

    Raises CompileError where `text` is not valid IR, at its line where that is known; RunError
    where it is more than the function `name`, with the head that it has in `own`, and what OPCODES
    and INTRINSICS name.
    """
    text = text.replace("\r\n", "\n")
    foreign = _FOREIGN.search(text)
    if foreign is not None:
        line = text[: foreign.start()].count("\n") + 1
        what = f"a character that is not printable ASCII: {ascii(foreign[0])[1:-1]}"
        raise CompileError(what, f"line {line}", "IR is ASCII text")
    module, kernel = _parsed(text), _parsed(own)
    printed = str(module)
    outside = list(_outside(printed))
    for line in outside:
        if not _MODULE.fullmatch(line):
            held = next((what for start, what in _REFUSED if re.match(start, line)), _OTHER)
            raise _refused(f"it holds {held}: {line[:80]}")
    (wanted,) = _heads(_outside(str(kernel)))
    heads = _heads(outside)
    if len(heads) != 1 or f"@{name}(" not in heads[0]:
        raise _refused(f"it has to define @{name} and nothing else")
    if module.triple != kernel.triple:
        hint = f'keep the line as it is: target triple = "{kernel.triple}"'
        raise _refused("it is for another target", hint)
    attributes = list(kernel.get_function(name).attributes)
    if heads != [wanted] or list(module.get_function(name).attributes) != attributes:
        hint = f"keep the line as it is: {wanted[:200]}"
        raise _refused(f"the arguments or attributes of @{name} are not the kernel's", hint)
    for function in module.functions:
        if function.is_declaration and not _INTRINSIC.fullmatch(function.name):
            raise _refused(f"it declares @{function.name[:80]}, which kernels do not call")
        for block in function.blocks:
            for instruction in block.instructions:
                _check_instruction(instruction)
    return printed


def _check_instruction(instruction: Any) -> None:
    shown, operands = str(instruction), list(instruction.operands)
    if any(operand.value_kind is llvm.ValueKind.inline_asm for operand in operands):
        raise _refused("it holds assembly (asm)")
    if instruction.opcode not in OPCODES:
        raise _refused(f"it holds {instruction.opcode}, which kernels do not need")
    if (ordered := _ORDERED.match(shown)) is not None:
        raise _refused(f"it holds {ordered[1]} memory accesses, which kernels do not need")
    bare = _SPLAT.sub("splat", shown)
    if instruction.opcode == "call":
        callee = operands.pop()
        kind = callee.value_kind
        if kind is not llvm.ValueKind.function or not _INTRINSIC.fullmatch(callee.name):
            raise _refused(f"it calls what kernels do not call: {shown.strip()[:80]}")
        call = _CALL.fullmatch(bare)
        if call is None:
            raise _refused(f"a call with more than arguments: {shown.strip()[:80]}")
        bare = call[1]
    if not all(operand.value_kind in _KINDS for operand in operands) or re.search(r'[("!#@]', bare):
        raise _refused(f"it holds a value that is not computed here: {shown.strip()[:80]}")


def _parsed(text: str) -> Any:
    """The verified module of `text` without its debug information. What uses other metadata is
    refused: an attachment or a list would lose what it refers to."""
    try:
        bare = _DEBUG.sub("", str(parse(_FLAGS.sub("", text))))
        if (held := _METADATA.search(bare)) is not None:
            raise _refused(f"it holds metadata: {held[0].strip()[:80]}")
        return parse(bare)
    except RuntimeError as error:
        what, line = _place(str(error), text)
        where = f"line {line}" if line else ""
        raise CompileError(what, where, "correct the text, or revert it") from error


def _place(said: str, text: str) -> tuple[str, int]:
    """What LLVM says in one line, and the line of the text that it is about; 0: not known."""
    syntax = _SYNTAX.search(said)
    if syntax is not None:
        return syntax[3], int(syntax[1])
    what, _, shown = said.strip().partition("\n")
    for found in _RESULT.finditer(shown):
        at = re.search(rf"^\s*{re.escape(found[1])}", text, re.MULTILINE)
        if at is not None:
            return what, text[: at.end()].count("\n") + 1
    return what, 0


def _heads(outside: Iterable[str]) -> list[str]:
    """The first lines of all functions, without the numbers of their attributes."""
    return [_NUMBERED.sub("", line) for line in outside if line.startswith("define ")]


def _outside(printed: str) -> Iterator[str]:
    """The lines outside of functions."""
    inside = False
    for line in printed.split("\n"):
        if not inside:
            yield line
            inside = line.startswith("define ")
        elif line == "}":
            inside = False


def _refused(what: str, hint: str = "an edited text is one function of the instructions and "
             "intrinsics that the compiler writes") -> RunError:  # fmt: skip
    return RunError(f"this text is not run: {what}", hint=hint)
