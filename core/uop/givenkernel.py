"""What was given where the AST of a kernel is wanted: an error that says what to give instead.

Knows what is wrong by what it has, not by its type, so that no layer is asked for its classes.
"""

from __future__ import annotations

from core.errors import CompileError
from core.uop.ops import Ops
from core.uop.uop import UOp


def check_ast(given: object, taker: str) -> None:
    """Raises CompileError where `given` is not the root of a kernel; `taker` wants one."""
    if isinstance(given, UOp) and given.op is Ops.SINK and given.src:
        return
    raise CompileError(f"{taker} takes the AST of a kernel, not {shown(given)}", hint=hint(given))


def shown(given: object) -> str:
    """What something is, in a few words."""
    if isinstance(given, UOp):
        return f"a node {given.op.name}"
    return f"a {type(given).__name__}" if given is not None else "None"


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


def _has(given: object, name: str) -> bool:
    """Without running a property, which may raise."""
    if isinstance(given, type):
        return False
    return hasattr(type(given), name) or name in getattr(given, "__dict__", {})
