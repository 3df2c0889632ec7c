"""`parse_module`: the text of LLVM IR to a `Module` whose names are known to fit together.

One kernel, its shared memory and the intrinsics that it declares; what else a module may hold is
refused, or has no meaning here and is passed over (metadata, and attributes that are words).
"""

from __future__ import annotations

from typing import Final

from core.runtime.emulator.llvm.text.attributes import (
    CONVENTIONS,
    alignment,
    attributes,
    few,
)
from core.runtime.emulator.llvm.text.check import check_function
from core.runtime.emulator.llvm.text.cursor import Cursor
from core.runtime.emulator.llvm.text.instructions import parse_instruction
from core.runtime.emulator.llvm.text.module import (
    Block,
    Function,
    Instruction,
    Module,
    Parameter,
    Variable,
)
from core.runtime.emulator.llvm.text.operands import address_space, parse_type, value_type
from core.runtime.emulator.llvm.text.types import VOID

MAX_INSTRUCTIONS: Final = 1 << 17
"""Instructions of a kernel."""
MAX_BLOCKS: Final = 1 << 13
"""Blocks of a kernel: finding what dominates what may take their square."""
ENDS: Final = frozenset({"br", "switch", "ret", "unreachable"})
"""The instructions that leave a block."""
_LINKAGE: Final = frozenset({
    "private", "internal", "external", "common", "weak", "linkonce", "dso_local",
    "unnamed_addr", "local_unnamed_addr", "hidden", "protected", "default",
})  # fmt: skip
_REFUSED: Final = {
    "module": "assembly outside of the kernel",
    "alias": "an alias",
    "ifunc": "a function that is chosen when it is loaded",
}


def parse_module(text: str) -> Module:
    """The module. Raises CompileError with "line 3: the line" where the text is not one, or holds
    what is not emulated."""
    c = Cursor(text)
    triple, variables = "", list[Variable]()
    functions: list[Function] = []
    groups: dict[str, dict[str, str]] = {}
    wanted: list[str] = []
    while c.token.kind != "over":
        kind, word = c.token.kind, c.token.text
        if kind == "metadata":
            _skip_metadata(c)
        elif kind == "global":
            variables.append(_variable(c))
        elif kind != "word":
            c.expected("a function, a variable or metadata")
        elif word in ("source_filename", "target"):
            triple = _header(c) or triple
        elif word == "attributes":
            name, found = _attribute_group(c)
            groups[name] = found
        elif word == "declare":
            _declaration(c)
        elif word == "define":
            if functions:
                c.fail("a second function", hint="a kernel calls intrinsics only")
            functions.append(_function(c, wanted))
        else:
            c.fail(f"{_REFUSED.get(word, repr(word))} is not emulated")
    if not functions:
        c.fail("there is no function in it", hint="the text of a kernel defines one")
    attributes_ = {k: v for group in wanted for k, v in groups.get(group, {}).items()}
    function = functions[0]
    function = Function(
        function.name, function.line, function.parameters, function.blocks, attributes_
    )
    module = Module(text, triple, tuple(variables), function)
    check_function(module)
    return module


def _skip_metadata(c: Cursor) -> None:
    c.take()
    c.expect("=")
    c.words({"distinct"})
    token = c.take()
    if token.kind != "metadata":
        c.fail("metadata is a name and a list", token.line)
    if c.sees("{") or c.sees("("):
        c.skip_brackets()


def _header(c: Cursor) -> str:
    """`target triple = "..."` and the like; the triple."""
    word = c.take().text
    what = c.word("triple or datalayout") if word == "target" else word
    c.expect("=")
    text = c.of_kind("string", "a text in quotes")
    return text if what == "triple" else ""


def _attribute_group(c: Cursor) -> tuple[str, dict[str, str]]:
    c.take()
    name = c.of_kind("group", "the number of a group")
    c.expect("=", "{")
    found: dict[str, str] = {}
    while not c.accept("}"):
        token = c.take()
        if token.kind == "string":
            found[token.text] = c.of_kind("string", "a text") if c.accept("=") else ""
        elif token.kind != "word":
            c.fail("an attribute is a word or a text", token.line)
        elif c.sees("("):
            c.skip_brackets()
        elif c.accept("="):
            c.take()
    return name, found


def _variable(c: Cursor) -> Variable:
    line, name = c.token.line, c.take().text
    c.expect("=")
    c.words(_LINKAGE)
    space = address_space(c)
    c.words({"externally_initialized"})
    if not (c.accept("global") or c.accept("constant")):
        c.expected("global or constant")
    type_ = parse_type(c)
    if c.sees("undef") or c.sees("poison"):
        c.take()
    elif c.token.line == line and not c.sees(","):
        c.fail("memory with a first content is not emulated", line,
               "its content is poison: let the kernel fill it")  # fmt: skip
    align = 0
    while c.sees(",") and c.token.line == line:
        c.take()
        c.expect("align")
        align = alignment(c)
    if space != 3:
        c.fail(f"a variable in address space {space} is not emulated", line,
               "variables are shared memory: addrspace(3)")  # fmt: skip
    return Variable(name, type_, space, align, line)


def _declaration(c: Cursor) -> None:
    c.take()
    attributes(c)
    parse_type(c)
    name = c.of_kind("global", "the name of a function")
    if not name.startswith("llvm."):
        c.fail(f"@{name} is not part of LLVM", hint="a kernel calls intrinsics only")
    if not c.sees("("):
        c.expected("'('")
    c.skip_brackets()
    attributes(c)


def _function(c: Cursor, groups: list[str]) -> Function:
    line = c.token.line
    c.take()
    c.words(_LINKAGE)
    attributes(c)
    c.words(CONVENTIONS)
    attributes(c)
    if parse_type(c) != VOID:
        c.fail("a kernel returns void", line)
    name = c.of_kind("global", "the name of the kernel")
    parameters = _parameters(c)
    while not c.accept("{"):
        if c.token.kind == "group":
            groups.append(c.take().text)
        elif c.token.kind == "metadata":
            c.take()
            c.of_kind("metadata", "metadata")
        elif c.token.kind == "word" and c.accept("addrspace"):
            c.skip_brackets()
        else:
            before = c.token
            attributes(c)
            if c.token is before:
                c.expected("the body of the function")
    unnamed = sum(p.name.isdigit() for p in parameters)
    return Function(name, line, parameters, _blocks(c, str(unnamed)))


def _parameters(c: Cursor) -> tuple[Parameter, ...]:
    c.expect("(")
    found: list[Parameter] = []
    while not c.accept(")"):
        if found:
            c.expect(",")
        type_ = value_type(c)
        align, words = attributes(c)
        named = c.token.kind == "local"
        name = c.take().text if named else str(len(found))
        found.append(Parameter(name, type_, align, bool(words & {"readonly", "readnone"})))
        few(c, len(found))
    return tuple(found)


def _blocks(c: Cursor, first: str) -> tuple[Block, ...]:
    blocks: list[Block] = []
    count = 0
    while not c.accept("}"):
        line, name = c.token.line, first
        if c.token.kind == "label":
            name = c.take().text
        elif blocks:
            c.fail("after the end of a block comes the label of another", line)
        body: list[Instruction] = []
        while not body or body[-1].op not in ENDS:
            if c.token.kind in ("label", "over") or c.sees("}"):
                c.fail(f"the block %{name} has no end", hint="end it with br, switch or ret")
            body.append(_instruction(c))
            count += 1
            if count > MAX_INSTRUCTIONS:
                c.fail(f"more than {MAX_INSTRUCTIONS:,} instructions")
        phis = [i for i in body if i.op == "phi"]
        if any(i.op != "phi" for i in body[: len(phis)]):
            c.fail("a phi stands before all other instructions", phis[-1].line)
        if len(blocks) == MAX_BLOCKS:
            c.fail(f"more than {MAX_BLOCKS:,} blocks")
        blocks.append(Block(name, line, tuple(phis), tuple(body[len(phis) : -1]), body[-1]))
    if not blocks:
        c.fail("the function has no blocks")
    return tuple(blocks)


def _instruction(c: Cursor) -> Instruction:
    result = ""
    if c.token.kind == "local":
        result = c.take().text
        c.expect("=")
    return parse_instruction(c, result)
