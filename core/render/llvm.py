"""LLVM IR from a linear program, for CPUs and AMD GPUs.

A loop is four blocks (test, body, step, exit), a gated load a branch, registers are allocas that
LLVM turns into values. Every instruction carries debug location `line = position in the program +
1`, so that assembly compiled from it maps back to nodes. Never optimises and never calls LLVM.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from core.dtype import AddrSpace, PtrDType, dtypes
from core.render.listing import Listing, resolve
from core.render.llvm_lines import alu, cast
from core.render.llvm_lines.alu import write_alu
from core.render.llvm_lines.amd_matrix import call_of
from core.render.llvm_lines.cast import write_bitcast, write_cast
from core.render.llvm_lines.dialect import Dialect, dialect_of
from core.render.llvm_lines.types import constant
from core.render.llvm_lines.writer import METADATA, Operand, Writer
from core.render.rendered import Lines, Rendered
from core.target import Target
from core.uop.kernelinfo import AxisType
from core.uop.ops import GroupOp, Ops
from core.uop.pointer import address_space, pointer_of
from core.uop.uop import UOp

INTRINSICS: Final = alu.INTRINSICS | cast.INTRINSICS | {"masked.load"}
"""The LLVM intrinsics that CPU code calls, without the types in their names."""


def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
    """One function called `name`: pointers by number, then variables by name; where a loop is
    shared out between cores, its first and last iteration (i32 begin, end) follow.

    Raises RenderError for a node that has no LLVM form.
    """
    listing = Listing(uops, name, "llvm")
    kernel = _Kernel(listing, dialect_of(target))
    for u in listing.written:
        kernel.write(u)
    return kernel.finish(target)


class _Kernel:
    def __init__(self, listing: Listing, dialect: Dialect) -> None:
        self.listing, self.dialect = listing, dialect
        self.w = Writer(listing, dialect)
        self.globals = Lines()
        self.args = self._arguments()

    def _arguments(self) -> list[str]:
        args: list[str] = []
        for u in self.listing.pointers:
            pointer = Operand(self.dialect.pointer(AddrSpace.GLOBAL), f"%data{u.arg}")
            only_read = "" if u in self.listing.stored else " readonly"
            aligned = f" align {self.dialect.aligned}" if self.dialect.aligned else ""
            args.append(f"{pointer.type} noalias{only_read}{aligned} {pointer.text}")
            self.w.bind(u, pointer)
        for u in self.listing.variables:
            value = Operand(
                self.w.type(u.dtype), "%arg." + re.sub(r"\W", "_", u.arg[0], flags=re.ASCII)
            )
            args.append(str(value))
            self.w.bind(u, value)
        if self.listing.thread_range is not None:
            args += ["i32 %begin", "i32 %end"]
        return args

    def write(self, u: UOp) -> None:
        """The text of one node."""
        self.w.at(u)
        if u.op in GroupOp.ALU:
            self.w.bind(u, write_alu(self.w, u))
        elif u.op not in _nothing:
            handler = _handlers.get(u.op)
            if handler is None:
                raise self.listing.unsupported(u)
            handler(self, u)

    # values

    def cast(self, u: UOp) -> None:
        self.w.bind(u, write_cast(self.w, u))

    def bitcast(self, u: UOp) -> None:
        self.w.bind(u, write_bitcast(self.w, u))

    def vectorize(self, u: UOp) -> None:
        to = self.w.type(u.dtype)
        parts = [self.w.value(s) for s in u.src]
        vector = Operand(to, "poison")
        if len(set(parts)) == 1:
            one = self.w.let(to, f"insertelement {to} poison, {parts[0]}, i64 0")
            mask = f"<{u.dtype.count} x i32> zeroinitializer"
            vector = self.w.let(to, f"shufflevector {one}, {to} poison, {mask}")
        else:
            for lane, part in enumerate(parts):
                vector = self.w.let(to, f"insertelement {vector}, {part}, i64 {lane}")
        self.w.bind(u, vector)

    def gep(self, u: UOp) -> None:
        x, to = self.w.value(u.src[0]), self.w.type(u.dtype)
        if u.dtype.count == 1:
            self.w.bind(u, self.w.let(to, f"extractelement {x}, i64 {u.arg[0]}"))
            return
        mask = ", ".join(f"i32 {i}" for i in u.arg)
        vector = f"shufflevector {x}, {x.type} poison, <{len(u.arg)} x i32> <{mask}>"
        self.w.bind(u, self.w.let(to, vector))

    def product(self, u: UOp) -> None:
        how, to = call_of(u.arg), self.w.type(u.dtype)
        args: list[str] = []
        for at, s in enumerate(u.src):
            x = self.w.value(s)
            if at < 2 and how.operand:
                x = self.w.let(how.operand, f"bitcast {x} to {how.operand}")
            args += [*(how.before if at < 2 else ()), str(x)]
        text = ", ".join((*args, *how.after))
        self.w.bind(u, self.w.let(to, f"call {to} @{how.name}({text})"))

    def shuffle(self, u: UOp) -> None:
        function = self.dialect.permute
        if function is None:
            raise self.listing.unsupported(u)
        ones, zero = Operand("i32", "-1"), Operand("i32", "0")
        lane = self.w.call("i32", self.dialect.lanes_before[0], ones, zero)
        for more in self.dialect.lanes_before[1:]:
            lane = self.w.call("i32", more, ones, lane)
        other = self.w.let("i32", f"xor {lane}, {u.arg}")
        place = self.w.let("i32", f"shl {other}, 2")
        self.w.bind(u, self.w.call("i32", function, place, self.w.value(u.src[0])))

    def special(self, u: UOp) -> None:
        function = self.dialect.special.get(u.arg[:-1])
        if function is None:
            raise self.listing.error(
                f"there is no hardware index {u.arg} here",
                u,
                "this target runs loops: do not turn them into indices",
            )
        found = self.w.call("i32", function + "xyz"[int(u.arg[-1])])
        self.w.bind(u, found)

    # memory

    def local(self, u: UOp) -> None:
        if not self.dialect.shared_global:
            self.register(u)
            return
        assert isinstance(u.dtype, PtrDType)
        name = f"@local{u.arg}"
        self.globals.at = self.listing.position[u]
        space = self.dialect.spaces[AddrSpace.LOCAL]
        array = f"[{u.dtype.size} x {self.w.stored(u.dtype.base)}]"
        self.globals.add(
            f"{name} = internal unnamed_addr addrspace({space}) global {array} poison, align 16"
        )
        self.w.bind(u, Operand(self.dialect.pointer(AddrSpace.LOCAL), name))

    def register(self, u: UOp) -> None:
        """Stack memory at the function's start; LLVM keeps it in registers."""
        if not isinstance(u.dtype, PtrDType) or u.dtype.size < 0:
            raise self.listing.error("memory of unknown size", u, "give its pointer a size")
        name, number = self.w.name(), self.dialect.spaces[AddrSpace.REG]
        space = f", addrspace({number})" if number else ""
        array = f"[{u.dtype.size} x {self.w.stored(u.dtype.base)}]"
        self.w.entry.add(f"  {name} = alloca {array}, align 16{space}, !dbg !{self.w.location}")
        self.w.bind(u, Operand(self.dialect.pointer(AddrSpace.REG), name))

    def index(self, u: UOp) -> None:
        pointer, offset = self.w.value(u.src[0]), self.w.value(u.src[1])
        element = self.w.stored(u.src[0].dtype.base)
        text = f"getelementptr inbounds {element}, {pointer}, {offset}"
        self.w.bind(u, self.w.let(pointer.type, text))

    def _align(self, u: UOp, address: UOp) -> int:
        """Bytes that the address of a load or store of dtype u.dtype is a multiple of."""
        item, widest = memory_bytes(address), self.dialect.aligned
        if address.op is not Ops.INDEX:
            return item
        return item * self.listing.lanes_together(address.src[1], item, u.dtype.count, widest)

    def load(self, u: UOp) -> None:
        address = resolve(u.src[0])
        stored = self.w.stored(u.dtype)
        text = f"load {stored}, {self.w.value(address)}, align {self._align(u, address)}"
        gate = address.src[2] if address.op is Ops.INDEX and len(address.src) > 2 else None
        if gate is None:
            self.w.bind(u, self._from_memory(u, self.w.let(stored, text)))
            return
        if len(u.src) < 2:
            raise self.listing.error(
                "a gated load without an alternative value", u, "give LOAD a second source"
            )
        if gate.dtype.count > 1:
            self.masked_load(u, address, gate)
            return
        at, other = self.w.number, self.w.value(u.src[1])
        self.w.branch(self.w.value(gate), f"read{at}", f"skip{at}")
        before = self.w.block
        self.w.label(f"read{at}")
        found = self._from_memory(u, self.w.let(stored, text))
        self.w.jump(f"skip{at}")
        self.w.label(f"skip{at}")
        to = self.w.type(u.dtype)
        pairs = f"[ {found.text}, %read{at} ], [ {other.text}, %{before} ]"
        self.w.bind(u, self.w.let(to, f"phi {to} {pairs}"))

    def masked_load(self, u: UOp, address: UOp, gate: UOp) -> None:
        """A vector load with a gate for each lane (LLVM language reference, "Masked Vector Load
        and Store Intrinsics"): memory of lanes whose gate is false is not touched."""
        stored, other = self.w.stored(u.dtype), self.w.value(u.src[1])
        if dtypes.is_bool(u.dtype):
            other = self.w.let(stored, f"zext {other} to {stored}")
        lane = self.w.stored(u.dtype.scalar())
        suffix = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}.get(lane, lane)
        align = Operand("i32", str(self._align(u, address)))
        space = self.dialect.spaces[address_space(address)]
        function = f"llvm.masked.load.v{u.dtype.count}{suffix}.p{space}"
        args = (self.w.value(address), align, self.w.value(gate), other)
        self.w.bind(u, self._from_memory(u, self.w.call(stored, function, *args)))

    def _from_memory(self, u: UOp, x: Operand) -> Operand:
        if not dtypes.is_bool(u.dtype):
            return x
        zero = constant(dtypes.uint8.vec(u.dtype.count), 0)
        return self.w.let(self.w.type(u.dtype), f"icmp ne {x}, {zero}")

    def store(self, u: UOp) -> None:
        address, value = resolve(u.src[0]), self.w.value(u.src[1])
        if address.op is Ops.INDEX and len(address.src) > 2:
            raise self.listing.error("a gated store", u, "turn the gate into an IF first")
        if dtypes.is_bool(u.src[1].dtype):
            to = self.w.stored(u.src[1].dtype)
            value = self.w.let(to, f"zext {value} to {to}")
        align = self._align(u.src[1], address)
        self.w.do(f"store {value}, {self.w.value(address)}, align {align}")

    # control

    def range(self, u: UOp) -> None:
        at, to = self.w.number, self.w.type(u.dtype)
        threaded = u.arg[1] is AxisType.THREAD and u is self.listing.thread_range
        first, last = ("%begin", "%end") if threaded else ("0", self.w.value(u.src[0]).text)
        if threaded and u.src[0].op is not Ops.CONST:  # a part may lie behind what is to be done
            end = self.w.value(u.src[0])
            before = self.w.let("i1", f"icmp slt {end}, %end")
            last = self.w.let(to, f"select {before}, {end}, {to} %end").text
        self.w.jump(f"enter{at}")
        self.w.label(f"enter{at}")
        self.w.jump(f"loop{at}")
        self.w.label(f"loop{at}")
        i = self.w.let(to, f"phi {to} [ {first}, %enter{at} ], [ %next{at}, %step{at} ]")
        more = self.w.let("i1", f"icmp slt {i}, {last}")
        self.w.branch(more, f"body{at}", f"exit{at}")
        self.w.label(f"body{at}")
        self.w.bind(u, i)

    def end(self, u: UOp) -> None:
        for loop in reversed(u.src[1:]):
            at = self.listing.position[loop]
            i = self.w.value(loop)
            self.w.jump(f"step{at}")
            self.w.label(f"step{at}")
            self.w.let(i.type, f"add nsw {i}, 1", f"%next{at}")
            self.w.jump(f"loop{at}")
            self.w.label(f"exit{at}")

    def condition(self, u: UOp) -> None:
        at = self.w.number
        self.w.branch(self.w.value(u.src[0]), f"then{at}", f"done{at}")
        self.w.label(f"then{at}")

    def endif(self, u: UOp) -> None:
        at = self.listing.position[u.src[0]]
        self.w.jump(f"done{at}")
        self.w.label(f"done{at}")

    def barrier(self, _: UOp) -> None:
        for line in self.dialect.barrier:
            self.w.do(line)

    # the module around the function

    def finish(self, target: Target) -> Rendered:
        """The whole module."""
        out, name = Lines(), self.listing.name
        out.add(f'target triple = "{self.dialect.triple}"')
        out.extend(self.globals)
        attributes = self._attributes(target)
        convention = self.dialect.convention
        out.add(f"define {convention}void @{name}({', '.join(self.args)}) #0 !dbg !2 {{")
        out.add("entry:")
        out.extend(self.w.entry)
        out.extend(self.w.lines)
        out.add(f"  ret void, !dbg !{self.w.location}")
        out.add("}")
        out.add(f"attributes #0 = {{ {attributes} }}")
        for line in _metadata(name, sorted(self.w.located)):
            out.add(line)
        return out.finish()

    def _attributes(self, target: Target) -> str:
        if target.family != "amd":
            return "nounwind"
        x, y, z = self.listing.local_size
        threads = x * y * z
        return f'nounwind "amdgpu-flat-work-group-size"="{threads},{threads}"'


def memory_bytes(address: UOp) -> int:
    """Bytes of one element at `address`."""
    return pointer_of(address).dtype.base.itemsize


def _metadata(name: str, located: list[int]) -> list[str]:
    """Debug metadata that gives each instruction a line and writes nothing into the object but
    line directives (LLVM language reference, "Metadata")."""
    return [
        "!llvm.dbg.cu = !{!0}",
        "!llvm.module.flags = !{!3}",
        (
            "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, "
            "emissionKind: DebugDirectivesOnly)"
        ),
        f'!1 = !DIFile(filename: "{name}", directory: "")',
        (
            f'!2 = distinct !DISubprogram(name: "{name}", file: !1, line: 1, type: !4, unit: !0, '
            "spFlags: DISPFlagDefinition)"
        ),
        '!3 = !{i32 2, !"Debug Info Version", i32 3}',
        "!4 = !DISubroutineType(types: !5)",
        "!5 = !{null}",
        *(f"!{METADATA + i} = !DILocation(line: {i + 1}, scope: !2)" for i in located),
    ]


_nothing = frozenset(
    {
        Ops.CONST,
        Ops.VCONST,
        Ops.DEFINE_GLOBAL,
        Ops.DEFINE_VAR,
        Ops.AFTER,
        Ops.COMMIT,
        Ops.WAIT,
        Ops.GROUP,
        Ops.NOOP,
        Ops.SINK,
    }
)

_handlers: dict[Ops, Callable[[_Kernel, UOp], None]] = {
    Ops.CAST: _Kernel.cast,
    Ops.BITCAST: _Kernel.bitcast,
    Ops.VECTORIZE: _Kernel.vectorize,
    Ops.GEP: _Kernel.gep,
    Ops.WMMA: _Kernel.product,
    Ops.SHUFFLE: _Kernel.shuffle,
    Ops.SPECIAL: _Kernel.special,
    Ops.DEFINE_LOCAL: _Kernel.local,
    Ops.DEFINE_REG: _Kernel.register,
    Ops.INDEX: _Kernel.index,
    Ops.LOAD: _Kernel.load,
    Ops.STORE: _Kernel.store,
    Ops.RANGE: _Kernel.range,
    Ops.END: _Kernel.end,
    Ops.IF: _Kernel.condition,
    Ops.ENDIF: _Kernel.endif,
    Ops.BARRIER: _Kernel.barrier,
}
