"""Kernels that users write by hand, called on Tensors.

A call is a node of the lazy graph like any other: the kernel is built and checked at once, and runs
when a value is needed. Knows nothing of how a kernel is written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload
from weakref import WeakKeyDictionary

from core.dtype import DType, DTypeLike, dtypes, to_dtype
from core.errors import CompileError, DeviceError, DTypeError, ShapeError, UopvizError
from core.helpers import prod
from core.passes.program.written import check_written
from core.runtime.device import Device
from core.target import Target
from core.tensor.calls.origin import here, own_lines, raised_at
from core.tensor.state.base import GradMode, Shape, TensorBase, in_fresh_memory, make, tensor_of
from core.uop.call.givenkernel import check_builder
from core.uop.call.kernelcall import KernelCall, Parameter, called_kernel
from core.uop.engine.asking import asked_for_kernel, kernel_lines, working
from core.uop.facts.shapes import shown
from core.uop.kernelinfo import KernelInfo
from core.uop.ops import Ops
from core.uop.uop import UOp, creating

if TYPE_CHECKING:
    from core.tensor import Tensor

Output: TypeAlias = "tuple[Sequence[int], DTypeLike]"
"""The shape and dtype of an output."""


@overload
@classmethod
def call_kernel(
    cls: type[Tensor],
    build: Callable[..., UOp],
    *inputs: Tensor,
    outputs: Output,
    variables: Sequence[Any] = (),
    backward: Callable[..., Any] | None = None,
    device: str | None = None,
) -> Tensor: ...


@overload
@classmethod
def call_kernel(
    cls: type[Tensor],
    build: Callable[..., UOp],
    *inputs: Tensor,
    outputs: list[Output],
    variables: Sequence[Any] = (),
    backward: Callable[..., Any] | None = None,
    device: str | None = None,
) -> list[Tensor]: ...


@classmethod
def call_kernel(
    cls: type[Tensor],
    build: Callable[..., UOp],
    *inputs: Tensor,
    outputs: Any,
    variables: Sequence[Any] = (),
    backward: Callable[..., Any] | None = None,
    device: str | None = None,
) -> Tensor | list[Tensor]:
    """Tensors that a kernel written by hand computes from `inputs`.

    `build(target, *parameters)` returns the kernel, a SINK of loops and single elements. The
    parameters are a `Parameter` (number, shape, dtype; `p[i, j]` is an address) for each output
    and then each input, and then the DEFINE_VAR of each variable. It is called at once, but not
    again for a target, shapes and dtypes that it was called for: the same arguments have to
    give the same kernel. A kernel whose SINK has no KernelInfo is compiled as it is written,
    without optimisations.

    `outputs`: the (shape, dtype) of the result, or a list of them, which gives a list of
    Tensors. `variables`: bound variables, as in `n.bind(5)`; one kernel serves all values.
    `device`: where a kernel without inputs runs.

    `backward(grads, inputs, outputs)` gets lists of Tensors: the gradient of each output (zeros
    where there is none, None for integers), the inputs and the outputs. It returns a gradient
    for each input, None for those without, or the gradient alone where there is one input.

    Nothing runs before a value is needed, and then once, however many of the outputs are used.
    The kernel gets every input row-major in memory of its own, which it only reads, and has to
    write every element of its outputs. Raises CompileError for what is no such kernel, and
    where `build` raises an error; DTypeError, ShapeError or DeviceError for arguments that do
    not fit.
    """
    check_builder(build, "call_kernel")
    name = _name_of(build)
    several = isinstance(outputs, list)
    results = [_output(x) for x in (cast("list[Any]", outputs) if several else [outputs])]
    if not results:
        raise ShapeError(f"{name}: a kernel without outputs", hint=_OUTPUTS)
    place = _device_of(name, inputs, device)
    binds = _binds(name, variables)
    kinds = [*results, *((x.shape, x.dtype) for x in inputs)]
    for shape, _ in kinds:
        if not prod(shape):
            raise ShapeError(
                f"{name}: a Tensor of shape {shape} has no elements",
                hint="there is nothing to compute: call no kernel for it",
            )
    parameters = [Parameter(n, shape, dtype) for n, (shape, dtype) in enumerate(kinds)]
    target = Device[place].written_for
    asked = _Built(tuple(parameters), len(results), tuple(b.src[0] for b in binds), target)
    gradient = None
    if backward is not None and GradMode.enabled:
        gradient = _Backward(cls, _hashable(name, backward))
    call = KernelCall(_kernel_of(build, asked, name), tuple(results), gradient)
    values = [row_major(x.uop, place) for x in inputs]
    made = called_kernel(call, place, values, binds)
    tensors = [_result(cls, u, inputs) for u in made]
    return tensors if several else tensors[0]


def _result(cls: type[Tensor], uop: UOp, inputs: Sequence[Tensor]) -> Tensor:
    """A Tensor of an output, which wants a gradient where an input does and it can have one."""
    if not inputs:
        return tensor_of(cls, uop)
    found = make(inputs[0], uop, *inputs[1:])
    if not dtypes.is_float(uop.dtype):
        found.requires_grad = None
    return found


_OUTPUTS = "outputs is (shape, dtype), or a list of these: outputs=((2, 3), dtypes.float32)"


@dataclass(frozen=True, slots=True)
class _Built:
    """What a kernel is built for."""

    parameters: tuple[Parameter, ...]
    outputs: int
    variables: tuple[UOp, ...]
    target: Target


@dataclass(frozen=True, slots=True)
class _Backward:
    """A user's function on Tensors as one on the nodes of their graphs."""

    cls: type[Tensor]
    function: Callable[..., Any]

    def __call__(
        self, grads: Sequence[UOp | None], inputs: Sequence[UOp], outputs: Sequence[UOp]
    ) -> list[UOp | None]:
        def tensors(nodes: Iterable[UOp | None]) -> list[Tensor | None]:
            return [None if u is None else tensor_of(self.cls, u) for u in nodes]

        with own_lines():
            found = self.function(tensors(grads), tensors(inputs), tensors(outputs))
        several = isinstance(found, list | tuple)
        made = list(cast("Iterable[object]", found)) if several else [found]
        for x in made:
            if x is not None and not isinstance(x, self.cls):
                raise DTypeError(
                    f"{_name_of(self.function)} returned {type(x).__name__} as a gradient",
                    hint="return Tensors, or None for an input without a gradient",
                )
        return [x.uop if isinstance(x, self.cls) else None for x in made]


def _hashable(name: str, backward: Callable[..., Any]) -> Callable[..., Any]:
    """`backward`, which is part of a node, and nodes are looked up by what they are made of."""
    try:
        hash(backward)
    except TypeError as error:
        raise DTypeError(
            f"{name}: backward is a {type(backward).__name__}, which has no hash",
            hint="give a function, or its class a __hash__ that fits its __eq__",
        ) from error
    return backward


_kernels: WeakKeyDictionary[Any, dict[tuple[Any, _Built], UOp]] = WeakKeyDictionary()
"""The kernels of each function (of a method: of its object), as long as that lives."""


def _kernel_of(build: Callable[..., UOp], asked: _Built, name: str) -> UOp:
    """The kernel that a function builds, checked."""
    owner, method = build, None
    if inspect.ismethod(build):
        owner, method = build.__self__, build.__func__
    try:
        known = _kernels.setdefault(owner, {})
    except TypeError:  # an object that is not hashed, or of which there are no weak references
        known = {}
    key = (method, asked)
    if key not in known:
        known[key] = _build(build, asked, name)
    return known[key]


def _build(build: Callable[..., UOp], asked: _Built, name: str) -> UOp:
    arguments = (asked.target, *asked.parameters, *asked.variables)
    try:
        inspect.signature(build).bind(*arguments)
    except TypeError as error:
        counts = f"{asked.outputs} outputs and {len(asked.parameters) - asked.outputs} inputs"
        raise DTypeError(
            f"{name} does not take a target, {counts} and {len(asked.variables)} variables: "
            f"{error}",
            hint="it is called as build(target, *outputs, *inputs, *variables)",
        ) from error
    except ValueError:  # a builtin, whose signature is not known
        pass
    called = f"called at {here()}"
    try:
        with working() as work, own_lines():
            made = build(*arguments)
            checked = check_written(
                made, asked.parameters, asked.outputs, asked.variables, asked.target, name
            )
    except UopvizError as error:
        place = error.where or raised_at(error)
        error.locate("\n".join(filter(None, (place, called))))
        raise
    except Exception as error:
        raise CompileError(
            f"{name} raised {type(error).__name__}: {error}",
            where="\n".join(filter(None, (raised_at(error), called))),
            hint="that is the function that builds the kernel; its own error is above this one",
        ) from error
    kernel = UOp.sink(*checked.src, arg=checked.arg or KernelInfo(opts=()))
    kernel.origin = creating.origin or kernel.origin
    if work is not None:
        known = {**kernel_lines.of(made), **work.lines, kernel: kernel.origin}
        asked_for_kernel(kernel, known.get)
    return kernel


def _name_of(function: Callable[..., Any]) -> str:
    inner = getattr(function, "func", function)  # functools.partial
    return getattr(inner, "__name__", None) or type(inner).__name__


def _output(given: Any) -> tuple[Shape, DType]:
    """(shape, dtype) of an output."""
    try:
        shape, dtype = given
        lengths = tuple(index(n) for n in shape)
    except (TypeError, ValueError):
        raise ShapeError(f"an output is given as {given!r}", hint=_OUTPUTS) from None
    if any(n < 0 for n in lengths):
        raise ShapeError(f"an output of shape {lengths}", hint=_OUTPUTS)
    found = to_dtype(dtype) if isinstance(dtype, DType | str) else None
    if found is None or found.count != 1 or found is dtypes.void:
        raise DTypeError(f"an output of dtype {dtype!r}", hint=_OUTPUTS)
    return lengths, found


def _device_of(name: str, inputs: Sequence[TensorBase], device: str | None) -> str:
    """The one device of a call. Raises DeviceError for several."""
    several = next((d for x in inputs if isinstance(d := x.uop.device, tuple)), None)
    if several is not None:
        raise DeviceError(
            f"{name} would run on {shown(several)} at once",
            hint="a kernel written by hand runs on one device: move its inputs there with .to()",
        )
    used = dict.fromkeys(d for x in inputs if (d := x.uop.one_device) is not None)
    if device is not None:
        used[Device.canonicalize(device)] = None
    if len(used) > 1:
        raise DeviceError(
            f"{name} would read memory on {' and '.join(used)}",
            hint="move the inputs to one device with .to(device)",
        )
    return next(iter(used), Device.DEFAULT)


def _binds(name: str, variables: Iterable[Any]) -> list[UOp]:
    """Variables with their values, each once."""
    found: dict[UOp, UOp] = {}
    for given in variables:
        if not isinstance(given, UOp) or given.op is not Ops.BIND:
            shown = given.op.name if isinstance(given, UOp) else repr(given)
            raise DTypeError(
                f"{name}: a variable is given as {shown}",
                hint='give it with its value: Variable("n", 1, 10).bind(5)',
            )
        if found.setdefault(given.src[0], given) is not given:
            raise DTypeError(
                f"{name}: variable {given.src[0].arg[0]} is given twice",
                hint="give it one value, or use two variables",
            )
    return list(found.values())


def row_major(uop: UOp, device: str) -> UOp:
    """A value row-major in memory of its own, when it is computed."""
    if uop.device is None:
        return in_fresh_memory(uop, device)
    return uop if uop.op in (Ops.BUFFER, Ops.CONTIGUOUS, Ops.OUTPUT) else uop.contiguous()
