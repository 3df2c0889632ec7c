"""PTX for NVIDIA GPUs, sm_75 to sm_100, from a linear program.

Vectors are one register per element; loops test at their end, after one test at their start where
they might run zero times. Never optimises: ptxas does. Source of the instruction forms and of
the versions: NVIDIA, "Parallel Thread Execution ISA".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from core.errors import RenderError
from core.render.listing import Listing, resolve
from core.render.ptx_lines.alu import write_alu
from core.render.ptx_lines.cast import write_cast, write_word
from core.render.ptx_lines.matrix import version_of, write_product
from core.render.ptx_lines.memory import Memory
from core.render.ptx_lines.writer import Writer, class_of, type_of
from core.render.rendered import Lines, Rendered
from core.target import Target
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

VERSIONS: Final = {75: "6.4", 80: "7.0", 86: "7.1", 87: "7.4", 89: "7.8", 90: "7.8", 100: "8.6"}
"""The first version of the language for each compute capability (and for the features used, except
matrix instructions)."""


def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
    """One kernel called `name`: pointers data0.. by number, then variables by name.

    Raises RenderError for a node without a PTX form, or a target that is not NVIDIA's.
    """
    found = re.fullmatch(r"sm_(\d+)", target.arch)
    if found is None or int(found[1]) not in VERSIONS:
        raise RenderError(
            f"ptx: no language version for {target.name}",
            hint="one of sm_" + ", sm_".join(map(str, VERSIONS)),
        )
    kernel = _Kernel(Listing(uops, name, "ptx"), int(found[1]))
    for u in kernel.listing.written:
        kernel.write(u)
    return kernel.finish()


class _Kernel:
    def __init__(self, listing: Listing, arch: int) -> None:
        self.listing, self.arch = listing, arch
        self.w = Writer(listing)
        self.memory = Memory(self.w)
        self.copies = any(u.op is Ops.COPY_ASYNC for u in self.listing.uops)

    def write(self, u: UOp) -> None:
        """The text of one node."""
        self.w.at(u)
        if u.op in _nothing:
            return
        handler = _handlers.get(u.op)
        if handler is None:
            raise self.listing.unsupported(u)
        handler(self, u)

    def define(self, u: UOp) -> None:
        self.memory.define(u)

    def variable(self, u: UOp) -> None:
        name = _variable_name(u)
        register = self.w.named(name, class_of(u.dtype))
        self.w.do(f"ld.param.{type_of(u.dtype)} {register}, [{name}]")
        self.w.bind(u, (register,))

    def constant(self, u: UOp) -> None:
        self.w.constant(u)

    def special(self, u: UOp) -> None:
        register = self.w.named(u.arg, "r")
        self.w.do(f"mov.u32 {register}, %{_SPECIALS[u.arg[0]]}.{'xyz'[int(u.arg[-1])]}")
        self.w.bind(u, (register,))

    def cast(self, u: UOp) -> None:
        if u.dtype.count != u.src[0].dtype.count:
            self.w.bind(u, write_word(self.w, u))
        else:
            self.lanes(u, write_cast)

    def arithmetic(self, u: UOp) -> None:
        self.lanes(u, write_alu)

    def lanes(self, u: UOp, write: Callable[[Writer, UOp, int], str]) -> None:
        self.w.bind(u, tuple(write(self.w, u, lane) for lane in range(u.dtype.count)))

    def vectorize(self, u: UOp) -> None:
        self.w.bind(u, tuple(self.w.register(s, 0) for s in u.src))

    def gep(self, u: UOp) -> None:
        self.w.bind(u, tuple(self.w.register(u.src[0], lane) for lane in u.arg))

    def product(self, u: UOp) -> None:
        self.w.bind(u, write_product(self.w, u))

    def shuffle(self, u: UOp) -> None:
        value = self.w.register(u.src[0], 0)
        text = f"shfl.sync.bfly.b32 {{}}, {value}, {u.arg}, 31, 0xffffffff"
        self.w.bind(u, (self.w.let("r", text),))

    def address(self, u: UOp) -> None:
        self.memory.address(u)

    def load(self, u: UOp) -> None:
        self.memory.load(u)

    def store(self, u: UOp) -> None:
        self.memory.store(u)

    def range(self, u: UOp) -> None:
        at, t = self.listing.position[u], type_of(u.dtype)
        bound = resolve(u.src[0])
        i = self.w.named(f"loop{u.arg[0]}", class_of(u.dtype))
        self.w.bind(u, (i,))
        self.w.do(f"mov.{t} {i}, 0")
        if bound.op is not Ops.CONST or bound.arg <= 0:
            none = self.w.let("p", f"setp.le.{t} {{}}, {self.w.register(bound, 0)}, 0")
            self.w.do(f"@{none} bra EXIT{at}")
        self.w.label(f"LOOP{at}")

    def end(self, u: UOp) -> None:
        for loop in reversed(u.src[1:]):
            at, t = self.listing.position[loop], type_of(loop.dtype)
            i = self.w.register(loop, 0)
            self.w.do(f"add.{t} {i}, {i}, 1")
            more = self.w.let("p", f"setp.lt.{t} {{}}, {i}, {self.w.lane(loop.src[0], 0)}")
            self.w.do(f"@{more} bra LOOP{at}")
            self.w.label(f"EXIT{at}")

    def condition(self, u: UOp) -> None:
        at = self.listing.position[u]
        self.w.do(f"@!{self.w.register(u.src[0], 0)} bra DONE{at}")

    def endif(self, u: UOp) -> None:
        self.w.label(f"DONE{self.listing.position[u.src[0]]}")

    def barrier(self, _: UOp) -> None:
        self.w.do("bar.sync 0")

    def matrices(self, u: UOp) -> None:
        self.memory.matrices(u)

    def copy(self, u: UOp) -> None:
        self.memory.copy(u)

    def commit(self, _: UOp) -> None:
        if self.copies:  # without any, there is nothing to wait for
            self.w.do("cp.async.commit_group")

    def wait(self, u: UOp) -> None:
        if self.copies:
            self.w.do(f"cp.async.wait_group {u.arg}")

    def finish(self) -> Rendered:
        """The whole text."""
        out, listing = Lines(), self.listing
        needed = [version_of(u) for u in listing.uops if u.op in (Ops.WMMA, Ops.LDMATRIX)]
        out.add(f".version {max((VERSIONS[self.arch], *needed), key=float)}")
        out.add(f".target sm_{self.arch}")
        out.add(".address_size 64")
        out.add(f".visible .entry {listing.name}(")
        params = [(u, f".param .u64 data{u.arg}") for u in listing.pointers]
        params += [
            (u, f".param .{type_of(u.dtype)} {_variable_name(u)}") for u in listing.variables
        ]
        for i, (u, text) in enumerate(params):
            out.at = listing.position[u]
            out.add(f"  {text}" + ("," if i + 1 < len(params) else ""))
        out.at = -1
        out.add(")")
        local = listing.local_size
        out.add(".maxntid " + ", ".join(map(str, local)))
        out.add("{")
        for line in self.w.declarations():
            out.add(f"  {line}")
        out.extend(self.w.lines)
        out.add("  ret;")
        out.add("}")
        return out.finish()


def _variable_name(u: UOp) -> str:
    return "var_" + re.sub(r"\W", "_", u.arg[0], flags=re.ASCII)


_SPECIALS: Final = {"g": "ctaid", "l": "tid"}
_nothing = frozenset({Ops.INDEX, Ops.AFTER, Ops.GROUP, Ops.NOOP, Ops.SINK})
_handlers: dict[Ops, Callable[[_Kernel, UOp], None]] = {
    **dict.fromkeys(GroupOp.ALU, _Kernel.arithmetic),
    Ops.CAST: _Kernel.cast,
    Ops.BITCAST: _Kernel.cast,
    Ops.DEFINE_GLOBAL: _Kernel.define,
    Ops.DEFINE_LOCAL: _Kernel.define,
    Ops.DEFINE_REG: _Kernel.define,
    Ops.DEFINE_VAR: _Kernel.variable,
    Ops.CONST: _Kernel.constant,
    Ops.VCONST: _Kernel.constant,
    Ops.SPECIAL: _Kernel.special,
    Ops.VECTORIZE: _Kernel.vectorize,
    Ops.GEP: _Kernel.gep,
    Ops.WMMA: _Kernel.product,
    Ops.SHUFFLE: _Kernel.shuffle,
    Ops.ADDRESS: _Kernel.address,
    Ops.LOAD: _Kernel.load,
    Ops.STORE: _Kernel.store,
    Ops.RANGE: _Kernel.range,
    Ops.END: _Kernel.end,
    Ops.IF: _Kernel.condition,
    Ops.ENDIF: _Kernel.endif,
    Ops.BARRIER: _Kernel.barrier,
    Ops.LDMATRIX: _Kernel.matrices,
    Ops.COPY_ASYNC: _Kernel.copy,
    Ops.COMMIT: _Kernel.commit,
    Ops.WAIT: _Kernel.wait,
}
