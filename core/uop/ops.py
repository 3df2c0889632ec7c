"""`Ops`: every kind of node that a UOp graph can hold, and the named groups of them.

Says nothing of what an op computes; that is the meaning table (`core/uop/facts/meaning.py`).
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Final


class Ops(IntEnum):
    """The kinds of node. Nothing relies on their order."""

    # graph and program structure
    SINK = auto()
    """Root of a graph: every source is an output."""
    NOOP = auto()
    """Stands for its source; a placeholder that later rules remove."""
    UNIQUE = auto()
    """A number that keeps two otherwise equal nodes apart; arg is the number."""
    DEVICE = auto()
    """A device by name; arg is the name, or a tuple of the names of several."""
    KERNEL = auto()
    """A kernel call. Of a kernel written by hand, in a graph of Tensors: sources are the DEVICE,
    the inputs and the BINDs, arg is a KernelCall. In a schedule: sources are the AST, the memory of
    its arguments and the BINDs, arg is a KernelInfo."""
    OUTPUT = auto()
    """What a KERNEL written by hand (source 0) stores in one of its outputs; arg is (number,
    shape)."""

    # buffers and laziness
    BUFFER = auto()
    """Memory on a device: sources (UNIQUE, DEVICE), arg is the number of elements. On several
    devices: as many elements on each, all alike; or arg is (rows, columns), and each device has as
    many of the columns, in order."""
    BUFFER_VIEW = auto()
    """A contiguous part of a buffer: arg is (elements, offset in elements)."""
    COPY = auto()
    """The value of source 0 on the device of source 1."""
    CONTIGUOUS = auto()
    """The value of its source, stored in row-major order in memory of its own."""
    CONTIGUOUS_BACKWARD = auto()
    """Its source; the gradient that flows back through it is made contiguous."""
    FUSE = auto()
    """Its source, which one kernel computes from memory: no value on the way is stored."""
    LENGTH = auto()
    """Source 0, of which only the first elements along the axis arg count: as many as source 1, a
    value of variables, says. The others are anything, and reduces leave them out. With the length
    of the axis, a CONST, all of them count."""
    DETACH = auto()
    """Its source, without a gradient."""
    DERIVATIVE = auto()
    """Source 0, a function of x, y, ... whose partial derivatives are given: the other sources are
    x, df/dx, y, df/dy, ... Gradients flow through these and not into source 0."""
    GRADIENT = auto()
    """What flows on to source arg of source 0, where the gradient of source 0 is source 1 (those of
    its outputs, of a KERNEL): the product of source 1 and the derivative. Stands in the pass
    `gradient` alone, for what is not worked out yet."""
    ASSIGN = auto()
    """Source 0 (a buffer or view of one) after the value of source 1 was stored in it."""
    BIND = auto()
    """A variable (source 0) with a value (source 1, CONST)."""

    # values on several devices
    MULTI = auto()
    """A value in parts (its sources), one on each of several devices. arg is the axis along which
    it is cut into them, or None where each part is the whole value."""
    MSELECT = auto()
    """The part of a value on several devices (source 0) that one of them has; arg is (the number of
    the device, the axis along which the value is cut for this, or None for the whole value)."""
    ALLREDUCE = auto()
    """The values of all sources, each on another device, combined element by element; on all of
    these devices. arg is the op."""

    # movement: a new shape, the same elements
    RESHAPE = auto()
    PERMUTE = auto()
    EXPAND = auto()
    PAD = auto()
    SHRINK = auto()
    FLIP = auto()
    VIEW = auto()
    """Any chain of movements as one ShapeTracker (arg)."""

    # reduction and sequences
    REDUCE_AXIS = auto()
    """Reduce over axes, which stay as length 1; arg is (op, axes)."""
    REDUCE = auto()
    """Reduce source 0 over the RANGEs in the other sources; arg is the op."""
    IOTA = auto()
    """The integers 0..n-1 as a tensor of shape (n,): arg is n. Never stored in memory."""

    # kernel arguments and memory
    DEFINE_GLOBAL = auto()
    """A pointer argument of the kernel; arg is its number."""
    DEFINE_VAR = auto()
    """An integer argument of the kernel; arg is (name, min, max)."""
    DEFINE_LOCAL = auto()
    """Memory shared by a work group; arg is a number."""
    DEFINE_REG = auto()
    """Registers of one thread; arg is a number."""
    SPECIAL = auto()
    """A hardware index (gidx0, lidx0, ...); source 0 is its bound, for work groups also one made of
    variables; arg its name."""
    INDEX = auto()
    """Before lowering: a shaped value (source 0) at an index per axis. After it: the address of
    one element, sources (pointer, offset) or (pointer, offset, gate)."""
    ADDRESS = auto()
    """In the passes for one kind of text, an address in bytes. Sources (pointer, offset): pointer +
    offset * arg, in a register; (pointer,): pointer + arg, a part of the load or store."""
    LOAD = auto()
    """Memory at an INDEX; a second source is the value where the gate is false. At an ADDRESS the
    gate is a third source."""
    LDMATRIX = auto()
    """Matrices of 8 x 8 elements of 16 bits in shared memory, that a warp loads together; arg is
    (how many, whether transposed). Lane 8 i + r is at the first element of row r of matrix i; those
    beyond the last matrix are at a row again. Elements 2 i and 2 i + 1 of lane 4 r + c are those in
    row r and columns 2 c and 2 c + 1 of matrix i, transposed: in rows 2 c and 2 c + 1 of column
    r."""
    STORE = auto()
    """Source 1 written to the INDEX in source 0. With the arg "asynchronous", to shared memory: at
    some time before the WAIT for its group ends."""
    COPY_ASYNC = auto()
    """In the passes for one kind of text, an asynchronous STORE of what is loaded: arg bytes from
    the address in source 1 to that in source 0. The first of them, as many as source 2 says, are
    read, the others become 0. A source 3 is the gate."""

    # control
    RANGE = auto()
    """A loop variable 0..source 0 - 1; arg is (number, AxisType)."""
    END = auto()
    """Ends the loops (sources 1..) around source 0."""
    AFTER = auto()
    """Source 0, once the other sources have happened."""
    IF = auto()
    ENDIF = auto()
    BARRIER = auto()
    COMMIT = auto()
    """The thread's asynchronous stores since its last COMMIT, which are among the sources, are a
    group from here on."""
    WAIT = auto()
    """All of the thread's groups but the last arg have arrived: it sees what they stored. Other
    threads see it after a BARRIER."""
    GROUP = auto()
    """All of its sources happened; no value."""

    # vectors
    VECTORIZE = auto()
    """A vector from scalars."""
    GEP = auto()
    """Elements of a vector; arg is a tuple of positions."""
    UNROLL = auto()
    """A vector whose elements are the iterations of unrolled axes; arg is ((axis, size), ...)."""
    CONTRACT = auto()
    """The inverse of UNROLL: the unrolled axes become elements; arg is ((axis, size), ...)."""
    WMMA = auto()
    """A matrix instruction; arg describes it."""
    SHUFFLE = auto()
    """The value that source 0 has in another lane of the warp: the one whose number is this lane's
    XOR arg."""

    # constants
    CONST = auto()
    VCONST = auto()
    """A vector constant; arg is a tuple of Python values."""

    # arithmetic, unary
    CAST = auto()
    BITCAST = auto()
    NEG = auto()
    RECIPROCAL = auto()
    EXP2 = auto()
    LOG2 = auto()
    SIN = auto()
    COS = auto()
    SQRT = auto()
    TRUNC = auto()
    # arithmetic, binary
    ADD = auto()
    SUB = auto()
    MUL = auto()
    IDIV = auto()
    """Integer division that truncates toward zero, as in C."""
    MOD = auto()
    """Remainder with the sign of the dividend, as in C."""
    FDIV = auto()
    MAX = auto()
    POW = auto()
    SHL = auto()
    SHR = auto()
    AND = auto()
    OR = auto()
    XOR = auto()
    CMPLT = auto()
    CMPNE = auto()
    CMPEQ = auto()
    THREEFRY = auto()
    """threefry2x32: source 0 is the counter, source 1 the key, both uint64."""
    # arithmetic, ternary
    WHERE = auto()
    MULACC = auto()


class GroupOp:
    """Named sets of ops. Patterns take them in place of a single op."""

    Unary = frozenset(
        {
            Ops.NEG,
            Ops.RECIPROCAL,
            Ops.EXP2,
            Ops.LOG2,
            Ops.SIN,
            Ops.COS,
            Ops.SQRT,
            Ops.TRUNC,
        }
    )
    Binary = frozenset(
        {
            Ops.ADD,
            Ops.SUB,
            Ops.MUL,
            Ops.IDIV,
            Ops.MOD,
            Ops.FDIV,
            Ops.MAX,
            Ops.POW,
            Ops.SHL,
            Ops.SHR,
            Ops.AND,
            Ops.OR,
            Ops.XOR,
            Ops.CMPLT,
            Ops.CMPNE,
            Ops.CMPEQ,
            Ops.THREEFRY,
        }
    )
    Ternary = frozenset({Ops.WHERE, Ops.MULACC})
    ALU = Unary | Binary | Ternary
    Elementwise = ALU | frozenset({Ops.CAST, Ops.BITCAST})
    Comparison = frozenset({Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ})
    Commutative = frozenset(
        {Ops.ADD, Ops.MUL, Ops.MAX, Ops.AND, Ops.OR, Ops.XOR, Ops.CMPNE, Ops.CMPEQ}
    )
    Associative = frozenset({Ops.ADD, Ops.MUL, Ops.MAX, Ops.AND, Ops.OR, Ops.XOR})
    Movement = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.PAD, Ops.SHRINK, Ops.FLIP})
    Defines = frozenset({Ops.DEFINE_GLOBAL, Ops.DEFINE_LOCAL, Ops.DEFINE_REG})
    UnsafePad = frozenset(
        {
            Ops.RECIPROCAL,
            Ops.LOG2,
            Ops.EXP2,
            Ops.COS,
            Ops.IDIV,
            Ops.MOD,
            Ops.FDIV,
            Ops.POW,
            Ops.CMPNE,
            Ops.CMPEQ,
            Ops.THREEFRY,
            Ops.CMPLT,
        }
    )
    """Ops with f(0) != 0 for some operand: a pad may not move past them."""
    All = frozenset(Ops)


OP_BITS: Final = tuple(1 << number for number in range(max(Ops) + 1))
"""By op: its bit in a set of ops that is an integer."""
