"""What was given where the AST of a kernel is wanted: an error that says what to give instead.

Knows what is wrong by what it has, not by its type, so that no layer is asked for its classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from core.errors import CompileError
from core.uop.ops import Ops
from core.uop.uop import UOp


def check_ast(given: object, taker: str) -> None:
    """Raises CompileError where `given` is not the root of a kernel; `taker` wants one."""
    if isinstance(given, UOp) and given.op is Ops.SINK and given.src:
        return
    raise CompileError(f"{taker} takes the AST of a kernel, not {shown(given)}", hint=hint(given))


def check_node(given: object, taker: str) -> None:
    """The same where `given` is no node; `taker` has its own word for other nodes."""
    if not isinstance(given, UOp):
        check_ast(given, taker)


def check_stage(given: object, taker: str) -> None:
    """The same where `given` is neither that nor a linear program, of nodes in their order."""
    if isinstance(given, UOp) or not isinstance(given, Sequence) or not _all_nodes(given):
        check_ast(given, taker)


def check_builder(given: object, taker: str) -> None:
    """Raises CompileError where `given` cannot be called; `taker` wants what builds a kernel."""
    if callable(given):
        return
    hint = "give it as build(target, *outputs, *inputs, *variables), which returns a SINK"
    if _has(given, "ast"):
        hint = "give a function that returns its .ast: lambda *parameters: kernel.ast"
    elif isinstance(given, UOp):
        hint = "give a function that returns it: lambda *parameters: kernel"
    raise CompileError(
        f"{taker} takes a function that returns the AST of a kernel, not {shown(given)}", hint=hint
    )


def shown(given: object) -> str:
    """What something is, in a few words."""
    if isinstance(given, UOp):
        return f"a node {given.op.name}"
    if given is None:
        return "None"
    name = type(given).__name__
    return f"an {name}" if name[0] in "aeiouAEIO" else f"a {name}"


def hint(given: object, otherwise: str = "") -> str:
    """What to give in place of `given`; `otherwise` where it has no kernel."""
    if isinstance(given, list | tuple) and given and _has(given[0], "ast"):
        return "give the .ast of one of its items: items[0].ast"
    if _has(given, "ast"):
        return f"give its .ast: the {type(given).__name__} holds more than the kernel"
    if _has(given, "schedule"):
        return "x.schedule() gives its kernels: item.ast for each item"
    if callable(given):
        return "call it, and give the .ast of what it returns; Tensor.call_kernel takes functions"
    return otherwise or "a SINK of what the kernel stores: item.ast of Tensor.schedule()"


def _all_nodes(given: object) -> bool:
    nodes = cast("Sequence[Any]", given)
    return bool(nodes) and all(isinstance(u, UOp) for u in nodes)


def _has(given: object, name: str) -> bool:
    """Without running a property, which may raise."""
    if isinstance(given, type):
        return False
    return hasattr(type(given), name) or name in getattr(given, "__dict__", {})
