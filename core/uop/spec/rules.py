"""What a graph may hold at each stage: `tensor_spec`, `ast_spec`, `index_spec`, `program_spec`.

A rule of a spec answers a node with True (allowed) or False (not allowed); a node that no rule
answers is not allowed either. `spec.py` applies them. Nothing here changes a graph.
"""

from __future__ import annotations

from typing import Final

from core.dtype import AddrSpace, DType, PtrDType, dtypes
from core.uop.call.kernelcall import KernelCall, inputs_of_call
from core.uop.facts.meaning import on_bools, on_floats, on_ints
from core.uop.facts.shapes import is_devices
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.ops import GroupOp, Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.pointer import address_space, image_of, is_texel
from core.uop.spec.flight import ASYNCHRONOUS
from core.uop.spec.products import wmma_loop_spec, wmma_spec
from core.uop.uop import UOp

_reduces: Final = (Ops.ADD, Ops.MAX, Ops.MUL)


def is_pointer(u: UOp) -> bool:
    """Whether the value of a node is an address."""
    return isinstance(u.dtype, PtrDType)


def _is_index(u: UOp, count: int = 1) -> bool:
    return dtypes.is_int(u.dtype) and not is_pointer(u) and u.dtype.count == count


def _has(op: Ops, dtype: DType) -> bool:
    if op in (Ops.WHERE, Ops.MULACC):
        return True
    if dtypes.is_bool(dtype):
        return op in on_bools
    return op in (on_ints if dtypes.is_int(dtype) else on_floats)


# at every stage


@rule(UPat(Ops.SINK, name="u"))
def sink_spec(u: UOp) -> bool:
    """SINK is void; its arg is a KernelInfo or None"""
    return u.dtype is dtypes.void and (u.arg is None or isinstance(u.arg, KernelInfo))


@rule(UPat(Ops.CONST, name="u"))
def const_spec(u: UOp) -> bool:
    """the arg of a CONST is a bool, int or float as its dtype says"""
    d = u.dtype
    kind = bool if dtypes.is_bool(d) else int if dtypes.is_int(d) else float
    return type(u.arg) is kind and not is_pointer(u)


@rule(UPat(Ops.VCONST, name="u"))
def vconst_spec(u: UOp) -> bool:
    """a VCONST has one value per element"""
    return not u.src and isinstance(u.arg, tuple) and len(u.arg) == u.dtype.count > 1


@rule(UPat(Ops.WHERE, src=(UPat.var("c"), UPat.var("x"), UPat.var("y")), name="u"))
def where_spec(u: UOp, c: UOp, x: UOp, y: UOp) -> bool:
    """WHERE chooses by a bool of as many elements between two values of its own dtype"""
    return c.dtype == dtypes.bool.vec(u.dtype.count) and x.dtype == y.dtype == u.dtype


@rule(UPat(GroupOp.Comparison, src=(UPat.var("x"), UPat.var("y")), name="u"))
def comparison_spec(u: UOp, x: UOp, y: UOp) -> bool:
    """a comparison of two values of one dtype gives a bool per element"""
    same = x.dtype == y.dtype and not is_pointer(x)
    return same and u.dtype == dtypes.bool.vec(x.dtype.count)


@rule(UPat(GroupOp.ALU - GroupOp.Comparison - {Ops.WHERE}, name="u"))
def alu_spec(u: UOp) -> bool:
    """operands have the dtype of the result, which has the op, and are as many as the op takes"""
    count = 1 if u.op in GroupOp.Unary else 2 if u.op in GroupOp.Binary else 3
    alike = all(s.dtype == u.dtype for s in u.src)
    return len(u.src) == count and alike and not is_pointer(u) and _has(u.op, u.dtype)


@rule(UPat((Ops.CAST, Ops.BITCAST), src=(UPat.var("x"),), name="u"))
def cast_spec(u: UOp, x: UOp) -> bool:
    """a CAST keeps the number of elements; a BITCAST at kernel level keeps the number of bits"""
    if is_pointer(u) or is_pointer(x) or dtypes.void in (u.dtype, x.dtype):
        return False
    if u.op is Ops.CAST:
        return u.dtype.count == x.dtype.count
    return u.dtype.itemsize == x.dtype.itemsize or x.shape is not None


@rule(UPat(Ops.DEFINE_VAR, src=(), name="u"))
def variable_spec(u: UOp) -> bool:
    """a DEFINE_VAR is an integer with arg (name, smallest, largest)"""
    if not _is_index(u) or len(u.arg) != 3:
        return False
    low, high = u.arg[1:]
    return isinstance(low, int) and isinstance(high, int) and low <= high


@rule(UPat(Ops.BIND, src=(UPat(Ops.DEFINE_VAR, name="v"), UPat(Ops.CONST, name="c"))))
def bind_spec(v: UOp, c: UOp) -> bool:
    """BIND gives a variable a value within its bounds"""
    return v.dtype == c.dtype and v.arg[1] <= c.arg <= v.arg[2]


@rule(UPat((Ops.NOOP, Ops.GROUP, Ops.AFTER)))
def grouping_spec() -> bool:
    """NOOP, GROUP and AFTER order other nodes"""
    return True


shared = PatternMatcher(
    [
        sink_spec,
        const_spec,
        vconst_spec,
        where_spec,
        comparison_spec,
        alu_spec,
        cast_spec,
        variable_spec,
        bind_spec,
        grouping_spec,
    ],
    name="shared",
)

# Tensor level


@rule(UPat((Ops.UNIQUE, Ops.DEVICE), dtypes.void, src=(), name="u"))
def identity_spec(u: UOp) -> bool:
    """UNIQUE has a number, DEVICE a name, or at least two different names"""
    return isinstance(u.arg, int) if u.op is Ops.UNIQUE else is_devices(u.arg)


@rule(UPat(Ops.BUFFER, src=(UPat(Ops.UNIQUE), UPat(Ops.DEVICE)), name="u"))
def buffer_spec(u: UOp) -> bool:
    """a BUFFER of a UNIQUE and a DEVICE has a number of elements, or columns that devices divide"""
    if is_pointer(u):
        return False
    if isinstance(u.arg, tuple):
        rows, columns = u.arg
        devices = u.device
        return isinstance(devices, tuple) and rows >= 0 <= columns and not columns % len(devices)
    return isinstance(u.arg, int) and u.arg >= 0


@rule(UPat(Ops.BUFFER_VIEW, src=(UPat(),), name="u"))
def buffer_view_spec(u: UOp) -> bool:
    """the arg of a BUFFER_VIEW is (elements, offset)"""
    return isinstance(u.arg, tuple) and len(u.arg) == 2


@rule(UPat((Ops.MULTI, Ops.ALLREDUCE), name="u"))
def multi_spec(u: UOp) -> bool:
    """MULTI and ALLREDUCE have values of one shape and dtype, each on another device"""
    first, *_ = u.src
    alike = all(s.dtype == u.dtype and s.shape == first.shape is not None for s in u.src)
    devices = {s.device for s in u.src}
    apart = len(u.src) > 1 and len(devices) == len(u.src) and all(type(d) is str for d in devices)
    if u.op is Ops.ALLREDUCE:
        return alike and apart and u.arg in _reduces
    return alike and apart and (u.arg is None or 0 <= u.arg < len(first.shaped))


@rule(UPat(Ops.MSELECT, src=(UPat.var("x"),), name="u"))
def mselect_spec(u: UOp, x: UOp) -> bool:
    """MSELECT is the part that one of several devices has, of an axis that they divide"""
    devices = x.device
    number, _ = u.arg
    several = isinstance(devices, tuple) and 0 <= number < len(devices)
    return several and u.dtype == x.dtype and u.shape is not None


@rule(UPat(Ops.IOTA, name="u"))
def iota_spec(u: UOp) -> bool:
    """an IOTA counts in integers, on a device or (in a kernel) on none"""
    return _is_index(u) and u.arg >= 0 and all(s.op is Ops.DEVICE for s in u.src)


@rule(UPat((*GroupOp.Movement, Ops.VIEW), src=(UPat.var("x"),), name="u"))
def movement_spec(u: UOp, x: UOp) -> bool:
    """movement keeps the dtype and has a shape"""
    return u.dtype == x.dtype and u.shape is not None


@rule(UPat(Ops.REDUCE_AXIS, src=(UPat.var("x"),), name="u"))
def reduce_axis_spec(u: UOp, x: UOp) -> bool:
    """the arg of a REDUCE_AXIS is (ADD, MAX or MUL, axes); it keeps the dtype"""
    return u.dtype == x.dtype and u.arg[0] in _reduces and u.shape is not None


@rule(
    UPat(
        (Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.FUSE, Ops.DETACH),
        src=(UPat.var("x"),),
        allow_any_len=True,
        name="u",
    )
)
def same_value_spec(u: UOp, x: UOp) -> bool:
    """CONTIGUOUS, CONTIGUOUS_BACKWARD, FUSE and DETACH keep the dtype"""
    return u.dtype == x.dtype


@rule(UPat(Ops.LENGTH, src=(UPat.var("x"), UPat.var("n")), name="u"))
def length_spec(u: UOp, x: UOp, n: UOp) -> bool:
    """the arg of a LENGTH is an axis, whose first elements a number counts; it keeps the dtype"""
    return u.dtype == x.dtype and _is_index(n) and n.shape == () == u.lengths[:0]


@rule(UPat(Ops.DERIVATIVE, name="u"))
def derivative_spec(u: UOp) -> bool:
    """DERIVATIVE has a value, then arguments and derivatives of its dtype and shape in turn; with
    a function, that and any arguments"""
    if u.arg is not None:
        return callable(u.arg) and u.src[0].dtype == u.dtype and u.src[0].shape == u.shape
    odd = len(u.src) >= 3 and len(u.src) % 2 == 1
    return odd and all(s.dtype == u.dtype and s.shape == u.shape for s in u.src)


@rule(UPat(Ops.COPY, src=(UPat.var("x"), UPat(Ops.DEVICE)), name="u"))
def copy_spec(u: UOp, x: UOp) -> bool:
    """COPY takes a value to a DEVICE and keeps its dtype"""
    return u.dtype == x.dtype


@rule(UPat(Ops.ASSIGN, src=(UPat.var("x"), UPat.var("y")), allow_any_len=True, name="u"))
def assign_spec(u: UOp, x: UOp, y: UOp) -> bool:
    """ASSIGN stores a value of the same dtype and shape"""
    if y.op is Ops.KERNEL:
        return True
    return u.dtype == x.dtype == y.dtype and x.shape == y.shape


@rule(UPat(Ops.KERNEL, dtypes.void, name="u"))
def kernel_spec(u: UOp) -> bool:
    """KERNEL calls a kernel; one written by hand is on a DEVICE, and its arguments are values"""
    if not isinstance(u.arg, KernelCall):
        return True
    inputs = inputs_of_call(u)
    return u.src[0].op is Ops.DEVICE and all(s.shape is not None for s in inputs)


@rule(UPat(Ops.OUTPUT, src=(UPat(Ops.KERNEL, name="k"),), name="u"))
def output_spec(u: UOp, k: UOp) -> bool:
    """the arg of an OUTPUT is (number, shape), as its KERNEL has it"""
    number, shape = u.arg
    return k.arg.outputs[number] == (shape, u.dtype)


tensor_spec = PatternMatcher(
    [
        *shared.rules,
        identity_spec,
        buffer_spec,
        buffer_view_spec,
        multi_spec,
        mselect_spec,
        iota_spec,
        movement_spec,
        reduce_axis_spec,
        same_value_spec,
        length_spec,
        derivative_spec,
        copy_spec,
        assign_spec,
        kernel_spec,
        output_spec,
    ],
    name="tensor",
)

# kernel AST


@rule(UPat(Ops.DEFINE_GLOBAL, src=(), name="u"))
def global_spec(u: UOp) -> bool:
    """a DEFINE_GLOBAL is a numbered pointer"""
    return is_pointer(u) and isinstance(u.arg, int)


POINTER_VIEW = UPat(Ops.VIEW, src=(UPat(Ops.DEFINE_GLOBAL).or_after(),), name="v")


@rule(UPat(Ops.LOAD, src=(POINTER_VIEW,), name="u"))
def ast_load_spec(u: UOp, v: UOp) -> bool:
    """LOAD of a VIEW of a global has the global's element dtype"""
    return u.dtype == v.dtype.base


@rule(UPat(Ops.STORE, dtypes.void, (POINTER_VIEW, UPat.var("x"))))
def ast_store_spec(v: UOp, x: UOp) -> bool:
    """STORE to a VIEW of a global takes a value of its element dtype and shape, or a constant"""
    return x.dtype == v.dtype.base and (x.shape == v.shape or x.shape == ())


ast_spec = PatternMatcher(
    [
        *shared.rules,
        global_spec,
        ast_load_spec,
        ast_store_spec,
        iota_spec,
        movement_spec,
        reduce_axis_spec,
        same_value_spec,
    ],
    name="ast",
)

# index level


@rule(UPat((Ops.DEFINE_LOCAL, Ops.DEFINE_REG), src=(), name="u"))
def memory_spec(u: UOp) -> bool:
    """DEFINE_LOCAL and DEFINE_REG are pointers"""
    return is_pointer(u)


@rule(UPat(Ops.RANGE, src=(UPat.var("n"),), name="u"))
def range_spec(u: UOp, n: UOp) -> bool:
    """a RANGE has the dtype of its bound and the arg (number, AxisType)"""
    arg = u.arg
    shaped = isinstance(arg, tuple) and len(arg) >= 2 and isinstance(arg[-1], AxisType)
    return _is_index(u) and u.dtype == n.dtype and shaped


@rule(UPat(Ops.SPECIAL, src=(UPat.var("n"),), name="u"))
def special_spec(u: UOp, n: UOp) -> bool:
    """a SPECIAL has an integer bound and the name of a hardware index"""
    return _is_index(u) and _is_index(n) and isinstance(u.arg, str)


@rule(UPat(Ops.INDEX, src=(UPat.var("p"), UPat.var("i")), allow_any_len=True, name="u"))
def index_spec_(u: UOp, p: UOp, i: UOp) -> bool:
    """INDEX is (pointer, integer offset) or (pointer, integer offset, bool gate); the offset of a
    texel are two coordinates in an image"""
    gates = u.src[2:]
    gated = all(dtypes.is_bool(g.dtype) for g in gates) and len(gates) <= 1
    if is_texel(u) and (image_of(p) is None or i.dtype.count != 2):
        return False
    return is_pointer(p) and dtypes.is_int(i.dtype) and gated and u.dtype == p.dtype


@rule(UPat(Ops.LOAD, src=(UPat.var("p"),), allow_any_len=True, name="u"))
def load_spec(u: UOp, p: UOp) -> bool:
    """LOAD gives elements of its pointer; where the address is gated, there is an alternative"""
    gated = p.op is Ops.INDEX and len(p.src) > 2
    alternative = len(u.src) > 1 and u.src[1].dtype == u.dtype
    element = is_pointer(p) and p.dtype.base.scalar() == u.dtype.scalar()
    return element and (alternative or not gated)


@rule(UPat(Ops.STORE, dtypes.void, (UPat.var("p"), UPat.var("x")), allow_any_len=True, name="u"))
def store_spec(u: UOp, p: UOp, x: UOp) -> bool:
    """STORE writes elements of its pointer's dtype, where its gate (if any, a bool or one for each
    element) holds; an asynchronous one is to shared memory"""
    gates = dtypes.bool, dtypes.bool.vec(x.dtype.count)
    gated = len(u.src) == 3 and u.src[2].dtype in gates and p.op is Ops.INDEX
    plain = len(u.src) == 2 or (gated and len(p.src) == 2)
    held = is_pointer(p) and p.dtype.base.scalar() == x.dtype.scalar()
    return plain and held and _at_its_time(u, p)


def _at_its_time(u: UOp, p: UOp) -> bool:
    """Whether a STORE at a pointer may have its argument."""
    return u.arg is None or (u.arg == ASYNCHRONOUS and address_space(p) is AddrSpace.LOCAL)


@rule(UPat(Ops.END, dtypes.void, name="u"))
def end_spec(u: UOp) -> bool:
    """END ends ranges"""
    return len(u.src) > 1 and all(_is_index(r) for r in u.src[1:])


@rule(UPat(Ops.REDUCE, src=(UPat.var("x"),), allow_any_len=True, name="u"))
def reduce_spec(u: UOp, x: UOp) -> bool:
    """REDUCE combines values of its dtype, or vectors of a multiple, by ADD, MAX or MUL"""
    same = u.dtype.scalar() == x.dtype.scalar() and x.dtype.count % u.dtype.count == 0
    return same and u.arg in _reduces


@rule(UPat(Ops.VECTORIZE, name="u"))
def vectorize_spec(u: UOp) -> bool:
    """VECTORIZE makes a vector of scalars of its dtype"""
    return len(u.src) == u.dtype.count > 1 and all(s.dtype == u.dtype.scalar() for s in u.src)


@rule(UPat(Ops.GEP, src=(UPat.var("x"),), name="u"))
def gep_spec(u: UOp, x: UOp) -> bool:
    """GEP takes elements that its vector has"""
    inside = all(0 <= i < x.dtype.count for i in u.arg)
    return inside and u.dtype == x.dtype.scalar().vec(len(u.arg))


@rule(UPat((Ops.UNROLL, Ops.CONTRACT), src=(UPat.var("x"),), name="u"))
def unroll_spec(u: UOp, x: UOp) -> bool:
    """UNROLL and CONTRACT keep the element dtype"""
    return isinstance(u.arg, tuple) and u.dtype.scalar() == x.dtype.scalar()


@rule(UPat(Ops.SHUFFLE, src=(UPat.var("x"),), name="u"))
def shuffle_spec(u: UOp, x: UOp) -> bool:
    """SHUFFLE takes a value of its dtype from the lane that is this one XOR arg, 1 to 63"""
    moved = type(u.arg) is int and 0 < u.arg < 64
    return moved and u.dtype == x.dtype and not is_pointer(x) and x.dtype is not dtypes.void


@rule(UPat(Ops.LDMATRIX, src=(UPat.var("p"),), name="u"))
def ldmatrix_spec(u: UOp, p: UOp) -> bool:
    """LDMATRIX gives two elements of each of 1, 2 or 4 matrices of 16 bits in shared memory"""
    count, transposed = u.arg
    shaped = count in (1, 2, 4) and isinstance(transposed, bool) and is_pointer(p)
    base = p.dtype.base
    there = shaped and address_space(p) is AddrSpace.LOCAL and base.itemsize == 2
    return there and u.dtype in (base.vec(2 * count), dtypes.uint32.vec(count))


@rule(UPat((Ops.BARRIER, Ops.COMMIT), dtypes.void, name="u"))
def barrier_spec(u: UOp) -> bool:
    """BARRIER and COMMIT are void, without an argument"""
    return u.arg is None


@rule(UPat(Ops.WAIT, dtypes.void, name="u"))
def wait_spec(u: UOp) -> bool:
    """the arg of a WAIT is how many groups need not have arrived, 0 or more"""
    return type(u.arg) is int and u.arg >= 0


@rule(UPat(Ops.IF, dtypes.void, (UPat.var("c"),), allow_any_len=True))
def if_spec(c: UOp) -> bool:
    """IF takes a bool"""
    return c.dtype == dtypes.bool


@rule(UPat(Ops.ENDIF, dtypes.void, (UPat(Ops.IF),), allow_any_len=True))
def endif_spec() -> bool:
    """ENDIF ends an IF"""
    return True


_lowered: Final = (
    global_spec,
    memory_spec,
    range_spec,
    special_spec,
    index_spec_,
    load_spec,
    store_spec,
    end_spec,
    vectorize_spec,
    gep_spec,
    wmma_spec,
    shuffle_spec,
    ldmatrix_spec,
    barrier_spec,
    wait_spec,
    if_spec,
    endif_spec,
)

index_spec = PatternMatcher(
    [*shared.rules, *_lowered, wmma_loop_spec, reduce_spec, unroll_spec], name="index"
)
program_spec = PatternMatcher([*shared.rules, *_lowered], name="program")
