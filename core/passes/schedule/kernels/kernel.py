"""One kernel: from what it stores and where, to its AST with numbered arguments.

Buffers become DEFINE_GLOBAL with LOAD and STORE, views go to the leaves. Never looks at another
kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from core.errors import DeviceError
from core.passes.contract import verifying
from core.passes.schedule.disk import is_disk
from core.passes.schedule.images import is_image, read_before_view, store_as_image
from core.passes.schedule.kernels.push_views import pushing
from core.passes.schedule.kernels.views import movement_to_view
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.facts.shapes import shown
from core.uop.kernelinfo import KernelInfo
from core.uop.spec.spec import ast_spec, verify

ANOTHER: Final = "_value_"
"""Between the name of a variable and a number: another value of it in the same kernel."""


@dataclass
class Arguments:
    """The memory that a kernel uses, in the order of its arguments: outputs first."""

    memory: list[UOp] = field(default_factory=lambda: list[UOp]())
    read: set[int] = field(default_factory=lambda: set[int]())
    """The numbers of those that values are loaded from."""
    binds: dict[UOp, UOp] = field(default_factory=lambda: dict[UOp, UOp]())

    def pointer(self, memory: UOp) -> UOp:
        """The argument for a BUFFER, BUFFER_VIEW or AFTER one of them."""
        if memory not in self.memory:
            self.memory.append(memory)
        number = self.memory.index(memory)
        return UOp(Ops.DEFINE_GLOBAL, memory.dtype.ptr(memory.size), (), number)


@rule(UPat((Ops.BUFFER, Ops.BUFFER_VIEW, Ops.AFTER), name="memory"))
def load_memory(ctx: Arguments, memory: UOp) -> UOp:
    """buffer -> load(view(argument))"""
    pointer = ctx.pointer(memory)
    ctx.read.add(pointer.arg)
    return pointer.view(ShapeTracker.from_shape(memory.shaped)).load(dtype=memory.dtype.base)


@rule(UPat(Ops.CAST, src=(UPat((Ops.BUFFER, Ops.AFTER), name="memory"),)))
def load_image(ctx: Arguments, memory: UOp) -> UOp | None:
    """cast(image, float) -> load(view(argument)): what is read of an image are floats"""
    return load_memory(ctx, memory) if is_image(memory.dtype) else None


@rule(UPat((Ops.CONST, Ops.IOTA), src=(UPat(Ops.DEVICE),), name="c"))
def forget_device(c: UOp) -> UOp:
    """c on a device -> c"""
    return c.replace(src=())


@rule(UPat(Ops.BIND, src=(UPat.var("variable"), UPat(Ops.CONST)), name="bind"))
def bind_variable(ctx: Arguments, bind: UOp, variable: UOp) -> UOp:
    """variable = value -> variable, the value given at launch; of several values of a variable,
    each but the first gets another name"""
    name, low, high = variable.arg
    for number in range(1, 2 + len(ctx.binds)):
        known = variable
        if number > 1:
            known = UOp.variable(f"{name}{ANOTHER}{number}", low, high, variable.dtype)
        first = ctx.binds.setdefault(known, bind.replace(src=(known, bind.src[1])))
        if first.src[1] is bind.src[1]:
            return known
    raise AssertionError("one of so many names is free")


@rule(
    UPat(
        Ops.STORE,
        src=(
            UPat(Ops.VIEW, name="place"),
            UPat(
                Ops.WHERE,
                src=(
                    UPat(Ops.VIEW, src=(UPat(Ops.CONST),), name="inside"),
                    UPat.var("x"),
                    UPat(Ops.LOAD, src=(UPat(Ops.VIEW, name="place"),)),
                ),
            ),
        ),
    ),
    changes_type=True,
)
def store_part(place: UOp, inside: UOp, x: UOp) -> UOp | None:
    """store(place, where(inside a box, x, load(place))) -> store(the box of place, the box of x)"""
    st: ShapeTracker = inside.arg
    box = st.views[-1].mask
    if box is None or len(st.views) != 1 or not inside.src[0].arg:
        return None
    part = ShapeTracker.from_shape(place.shaped).shrink(box)
    shown = x if x.op is Ops.CONST else x.view(part)
    return place.replace(arg=place.arg + part).store(shown)


arguments = PatternMatcher(
    [load_image, read_before_view, store_as_image, load_memory, forget_device, bind_variable],
    name="kernel: arguments",
)
to_leaves = pushing + PatternMatcher([movement_to_view])
parts = PatternMatcher([store_part], name="store parts") + pushing


def kernel_ast(
    stores: Sequence[tuple[UOp, ShapeTracker, UOp]],
) -> tuple[UOp, Arguments]:
    """The AST that stores each value through a tracker in memory: (memory, tracker, value).

    Raises DeviceError for memory on different devices or on a disk.
    """
    ctx = Arguments()
    places = [ctx.pointer(memory).view(st) for memory, st, _ in stores]
    sink = UOp.sink(
        *(place.store(value) for place, (_, _, value) in zip(places, stores, strict=True)),
        arg=KernelInfo(),
    )
    sink = graph_rewrite(sink, arguments, ctx, bottom_up=True, name="kernel: arguments")
    sink = graph_rewrite(sink, to_leaves, name="push views")
    if any(s.src[1].op is Ops.WHERE for s in sink.src):
        sink = graph_rewrite(sink, parts, name="store parts")
    if verifying():
        verify(sink, ast_spec, "push views")
    _check_devices(ctx, sink)
    return sink, ctx


def _check_devices(ctx: Arguments, sink: UOp) -> None:
    devices = list(dict.fromkeys(m.device for m in ctx.memory))
    if len(devices) > 1:
        raise DeviceError(
            "one kernel would need memory on " + " and ".join(map(shown, devices)),
            where=origin_of(sink),
            hint="move the operands to one device with .to(device)",
        )
    if isinstance(devices[0], tuple):
        raise DeviceError(
            f"a kernel would run on {shown(devices[0])} at once",
            where=origin_of(sink),
            hint="kernels run on one device; copy the values to one with .to(device)",
        )
    if is_disk(devices[0]):
        raise DeviceError(
            f"{devices[0]} stores but does not compute",
            where=origin_of(sink),
            hint='copy the values to a device that computes, such as .to("CPU")',
        )


def origin_of(sink: UOp) -> str:
    """The user's line that asked for the output of a kernel, as far as it is known."""
    for u in reversed(sink.toposort()):
        if u.origin:
            return u.origin
    return ""
