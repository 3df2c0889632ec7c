"""Gradients of kernels written by hand: what a call's own function makes of them, checked.

The function is the user's. Never differentiates a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.dtype import DType, dtypes
from core.errors import GradientError
from core.uop.call.kernelcall import KernelCall, inputs_of_call, outputs_of_call
from core.uop.facts.shapes import shown
from core.uop.node import DeviceName
from core.uop.ops import Ops
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp


@rule(UPat(Ops.KERNEL))
def gradient_of_call() -> None:
    """d kernel(x, ...) = what the function `backward` of the call makes of the gradients of its
    outputs

    Names the steps of `call_gradients`, and matches nothing itself: a call may have several
    outputs.
    """


def call_gradients(kernel: UOp, grads: Mapping[UOp, UOp]) -> Sequence[UOp | None]:
    """The gradient of each input of a kernel written by hand, from those of its OUTPUTs that have
    one. Raises GradientError where the kernel has none, or where its function returns others than
    one of the shape, dtype and device of each input, None for inputs without."""
    call: KernelCall = kernel.arg
    where = kernel.origin or ""
    if call.backward is None:
        raise GradientError(
            f"a kernel written by hand has no gradient: {call}",
            where=where,
            hint="give the call a function `backward`, or detach() what needs no gradient",
        )
    inputs, outputs = inputs_of_call(kernel), list(outputs_of_call(kernel))
    given = [u.const_like(0) if dtypes.is_float(u.dtype) else None for u in outputs]
    for output, grad in grads.items():
        given[output.arg[0]] = grad
    found = call.backward(given, inputs, outputs)
    if len(found) != len(inputs):
        raise GradientError(
            f"backward of a kernel with {len(inputs)} inputs returned {len(found)} gradients",
            where=where,
            hint="return one for each input, None for those without",
        )
    for number, (value, g) in enumerate(zip(inputs, found, strict=True)):
        if g is None:
            continue
        if not dtypes.is_float(value.dtype):
            raise GradientError(
                f"backward returned a gradient of input {number}, which is {value.dtype}",
                where=where,
                hint="return None for it: only floats have gradients",
            )
        have, want = ((u.shaped, u.dtype, u.device) for u in (g, value))
        if have[:2] != want[:2] or have[2] not in (want[2], None):
            raise GradientError(
                f"backward returned {_kind(have)} as the gradient of input {number}, "
                f"which is {_kind(want)}",
                where=where,
                hint="a gradient has the shape, dtype and device of its input",
            )
    return found


def _kind(value: tuple[tuple[int, ...], DType, DeviceName | None]) -> str:
    shape, dtype, device = value
    return f"{dtype} of shape {shape} on {shown(device)}"
