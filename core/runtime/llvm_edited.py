"""What LLVM IR that a user has edited may hold: the kernel's one function and LLVM's intrinsics.

Judges the text that LLVM itself prints of the parsed module, so that no spelling hides anything.
Not a sandbox: the function may still read and write wherever its arithmetic points.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from llvmlite import binding as llvm

from core.errors import CompileError, RunError
from core.runtime.llvm_compiler import parse

_SYNTAX: Final = re.compile(r"<string>:(\d+):(\d+): error: (.*)")
_RESULT: Final = re.compile(r"^\s*(%[^\s=]+ = )", re.MULTILINE)
_FOREIGN: Final = re.compile(r"[^\x01-\x7f]")
_FLAGS: Final = re.compile(r"^[ \t]*!llvm\.module\.flags[ \t]*=.*$", re.MULTILINE)
"""Where they are missing, LLVM drops debug information; else a mistake in the text aborts it."""
_MODULE: Final = re.compile(
    r";|$|define |source_filename = |target |attributes #\d+ = [^\"]*$|!\d+ = |%[^ ]+ = type |"
    r"!llvm\.(dbg\.cu|module\.flags|ident) = |declare "
)
"""Lines outside the function that do no harm; declarations are judged by their names."""
_REFUSED: Final = (
    (r"module asm ", "assembly outside the function"),
    (r"@llvm\.", "a list for the linker, such as constructors"),
    (r"@.* (alias|ifunc) ", "an alias of a function"),
    (r"@.* external ", "a variable of another program"),
    (r"@", "a global variable"),
    (r"attributes ", "an attribute that is a text"),
)
_OTHER: Final = "a part that kernels do not need"
_JUMPS: Final = frozenset({"invoke", "callbr", "indirectbr"})
_NUMBERED: Final = re.compile(r" (#\d+|!dbg !\d+)")


def checked_ir(text: str, own: str, name: str) -> str:
    """The text to run, without debug information.

    Raises CompileError where `text` is not valid IR, at its line where that is known; RunError
    where it is more than the function `name`, with the head that it has in `own`, and calls of
    intrinsics.
    """
    foreign = _FOREIGN.search(text)
    if foreign is not None:
        line = text[: foreign.start()].count("\n") + 1
        raise CompileError("a sign that is not ASCII", f"line {line}", "IR is ASCII text")
    text = _FLAGS.sub("", text)
    module = _parsed(text)
    outside = list(_outside(str(module)))
    for line in outside:
        if not _MODULE.match(line):
            held = next((what for start, what in _REFUSED if re.match(start, line)), _OTHER)
            raise _refused(f"it holds {held}: {line[:80]}")
    (wanted,) = _heads(_outside(str(_parsed(_FLAGS.sub("", own)))))
    heads = _heads(outside)
    if len(heads) != 1 or f"@{name}(" not in heads[0]:
        raise _refused(f"it has to define @{name} and nothing else")
    if heads != [wanted]:
        hint = f"keep the line as it is: {wanted[:200]}"
        raise _refused(f"the arguments or attributes of @{name} are not the kernel's", hint)
    for function in module.functions:
        if function.is_declaration and not function.name.startswith("llvm."):
            raise _refused(f"it declares @{function.name[:80]}, which is not LLVM's own")
        for block in function.blocks:
            for instruction in block.instructions:
                _check_instruction(instruction)
    return text


def _check_instruction(instruction: Any) -> None:
    if instruction.opcode in _JUMPS:
        raise _refused(f"it holds {instruction.opcode}, a jump to where the text does not say")
    if instruction.opcode == "call":
        callee = list(instruction.operands)[-1]
        if callee.value_kind is llvm.ValueKind.inline_asm:
            raise _refused("it holds assembly (asm)")
        if callee.value_kind is not llvm.ValueKind.function or not callee.name.startswith("llvm."):
            shown = str(instruction).strip()[:80]
            raise _refused(f"it calls what is not an intrinsic of LLVM: {shown}")


def _parsed(text: str) -> Any:
    try:
        return parse(text)
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
    """The first lines of all functions, without the numbers of metadata."""
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


def _refused(what: str, hint: str = "an edited text is one function that calls intrinsics only") \
        -> RunError:  # fmt: skip
    return RunError(f"this text is not run: {what}", hint=hint)
