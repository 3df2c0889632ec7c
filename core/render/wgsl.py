"""WGSL for WebGPU: what browsers, and the device WEBGPU, load.

A value that is used once, in the block that computes it, is written where it is used; vectors are
computed element by element. A load is a statement. Its facts have the layout of a launch
(`wgsl_lines/layout.py`). Never optimises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from core.dtype import AddrSpace, PtrDType, dtypes
from core.helpers import ceildiv
from core.render.expressions import NO_TEXT, bare
from core.render.listing import Listing, resolve
from core.render.rendered import Lines, Rendered
from core.render.wgsl_lines.launch import FACT
from core.render.wgsl_lines.layout import (
    PACK,
    VARIABLES,
    entry_of,
    launch_of,
    layout_of,
    name_of,
    whole_words,
)
from core.render.wgsl_lines.memory import Memory
from core.render.wgsl_lines.ops import DIVISION, HELPERS, alu, bitcast, cast
from core.render.wgsl_lines.types import NOT_FINITE, TYPES, literal
from core.target import Target
from core.uop.ops import GroupOp, Ops
from core.uop.pointer import image_of, pointer_of
from core.uop.uop import UOp

_LONGEST: Final = 72
"""Longer expressions get a name of their own even if they are used once."""


def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
    """A module with one compute shader. Raises RenderError for a node that WGSL has no text for."""
    walk = _Walk(Listing(uops, name, "wgsl"), target)
    for u in walk.listing.written:
        walk.write(u)
    return walk.finish()


class _Walk:
    def __init__(self, listing: Listing, target: Target) -> None:
        self.listing, self.target = listing, target
        self.layout = layout_of(listing, target)
        self.lines, self.module = Lines(), Lines()
        self.depth = 1
        self.memory: dict[UOp, Memory] = dict(self.layout.memory)
        self.values: dict[UOp, tuple[str, ...]] = {}
        self.behind: dict[UOp, tuple[int, ...]] = {}
        self.helpers: dict[str, None] = {}
        self.not_finite = False
        self.shared_bytes = 0
        self.uses: dict[UOp, list[UOp]] = {}
        for u in listing.written:
            for s in u.src if u.op is not Ops.SPECIAL else ():
                self.uses.setdefault(resolve(s), []).append(u)

    def put(self, text: str, *sources: UOp) -> None:
        """One line, made from the current node and the expressions written into it."""
        also = [p for s in sources for p in self.behind.get(resolve(s), ())]
        self.lines.add("  " * self.depth + text, *also)

    def lane(self, u: UOp, lane: int = 0) -> str:
        """The expression of one element. Raises RenderError where nothing computed it."""
        u = resolve(u)
        if u.op in (Ops.CONST, Ops.VCONST):
            if u.dtype.scalar() not in TYPES:
                raise self.listing.unsupported(u)
            text = literal(u.dtype, u.arg if u.op is Ops.CONST else u.arg[lane])
            self.not_finite |= NOT_FINITE in text
            return text
        if u not in self.values:
            raise self.listing.error("used before it is computed", u, "check the linear order")
        found = self.values[u]
        return found[lane if len(found) > 1 else 0]

    def write(self, u: UOp) -> None:
        """The text of one node."""
        self.lines.at = self.module.at = self.listing.position[u]
        if u.op in GroupOp.Elementwise:
            self.compute(u)
        elif u.op not in NO_TEXT:
            handler = _handlers.get(u.op)
            if handler is None:
                raise self.listing.unsupported(u)
            handler(self, u)

    def compute(self, u: UOp) -> None:
        """An ALU node, CAST or BITCAST, in place or as variables."""
        if u.dtype.scalar() not in TYPES:
            raise self.listing.unsupported(u)
        if u.op is Ops.BITCAST and u.dtype.count != u.src[0].dtype.count:
            self.words(u)
            return
        texts = [self.expression(u, lane) for lane in range(u.dtype.count)]
        users = self.uses.get(u, [])
        if all(text.isidentifier() for text in texts):  # the same bits
            self.values[u] = tuple(texts)
            self._behind(u)
            return
        short = len(users) == 1 and len(texts) == 1 and len(texts[0]) <= _LONGEST
        if short and u.dtype.bits < 64 and users[0].op in _inlining \
                and self.listing.same_block(u, users[0]):  # fmt: skip
            self.values[u] = (texts[0],)
            own = [p for s in u.src for p in self.behind.get(resolve(s), ())]
            self.behind[u] = (*own, self.listing.position[u])
            return
        self.bind(u, texts)

    def bind(self, u: UOp, texts: Sequence[str], *sources: UOp) -> None:
        """Names the elements of a node."""
        at = self.listing.position[u]
        names = [f"v{at}" if len(texts) == 1 else f"v{at}_{i}" for i in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            self.put(f"let {name} = {bare(text)};", *(sources or u.src))
        self.values[u] = tuple(names)

    def words(self, u: UOp) -> None:
        """An integer of 64 bits of its two words, or the words of one."""
        source, pair = u.src[0], dtypes.uint32.vec(2)
        if source.dtype is pair and u.dtype.bits == 64:
            low, high = (bare(self.lane(source, i)) for i in range(2))
            self.bind(u, [f"vec2<u32>({low}, {high})"])
        elif u.dtype is pair and source.dtype.bits == 64 and source.dtype.count == 1:
            text = self.lane(source)
            self.values[u] = (f"{text}.x", f"{text}.y")
        else:
            raise self.listing.unsupported(u)

    def expression(self, u: UOp, lane: int) -> str:
        operands = [self.lane(s, lane) for s in u.src]
        if all(resolve(s).op in (Ops.CONST, Ops.VCONST) for s in u.src):
            # WGSL rejects constant expressions that overflow
            name = f"c{self.listing.position[u]}" + (f"_{lane}" if u.dtype.count > 1 else "")
            self.put(f"let {name} = {bare(operands[0])};")
            operands[0] = name
        if u.op is Ops.BITCAST:
            return bitcast(u, operands[0], self.listing)
        if u.op is Ops.CAST:
            return cast(u, operands[0], self.listing)
        if u.op in DIVISION and u.dtype.bits == 64:
            self.helpers[DIVISION[u.op]] = None
        return alu(u, operands, self.listing)

    def vectorize(self, u: UOp) -> None:
        self.values[u] = tuple(self.lane(s) for s in u.src)
        self._behind(u)

    def gep(self, u: UOp) -> None:
        self.values[u] = tuple(self.lane(u.src[0], i) for i in u.arg)
        self._behind(u)

    def _behind(self, u: UOp) -> None:
        self.behind[u] = tuple(p for s in u.src for p in self.behind.get(resolve(s), ()))

    def define(self, u: UOp) -> None:
        assert isinstance(u.dtype, PtrDType)
        space, dtype = u.dtype.addrspace, u.dtype.base
        if dtype not in TYPES:
            raise self.listing.unsupported(u)
        if space is AddrSpace.GLOBAL:
            if u.dtype.image is not None:
                self.values[u] = (f"data{u.arg}",)
            return
        if u.dtype.size < 0:
            raise self.listing.error("memory of unknown size", u, "give its pointer a size")
        local = space is AddrSpace.LOCAL
        name = f"{'shared' if local else 'acc'}{self.listing.position[u]}"
        self.memory[u] = memory = Memory(name, dtype)
        array = f"array<{memory.element}, {u.dtype.size}>"
        if local:
            self.module.add(f"var<workgroup> {name}: {array};")
            self.shared_bytes += ceildiv(u.dtype.size * max(4, dtype.itemsize), 16) * 16
            if self.shared_bytes > self.target.shared_bytes:
                most = self.target.shared_bytes
                what = f"{self.shared_bytes} bytes of workgroup memory, {most} at most"
                hint = "use a smaller tile: elements of fewer than 32 bits take a word each"
                raise self.listing.error(what, u, hint)
        else:
            self.put(f"var {name}: {array};")

    def variable(self, u: UOp) -> None:
        field = f"{VARIABLES}.{name_of(u)}"
        if u.dtype.bits == 64:
            field = f"vec2<u32>(u32({field}), u32({field} >> 31u))"
        elif TYPES[u.dtype] == "u32":
            field = f"u32({field})"
        self.bind(u, [field])

    def special(self, u: UOp) -> None:
        name, axis = u.arg, int(u.arg[-1])
        if name[:-1] == "lidx":
            text = f"i32(thread.{'xyz'[axis]})"
        elif not self.layout.folded:
            text = f"i32(group.{'xyz'[axis]})"
        else:
            size = [f"{VARIABLES}.groups_{letter}" for letter in "xy"]
            text = (
                f"i32(counted % {size[0]})",
                f"i32(counted / {size[0]} % {size[1]})",
                f"i32(counted / ({size[0]} * {size[1]}))",
            )[axis]
        self.put(f"let {name} = {text};")
        self.values[u] = (name,)

    def place(self, index: UOp, extra: int = 0) -> str:
        """The index of the element `extra` after an address."""
        node = resolve(index.src[1])
        if node.op is Ops.CONST:
            return str(node.arg + extra)
        offset = self.lane(node)
        return f"({offset} + {extra})" if extra else offset

    def load(self, u: UOp) -> None:
        index, dtype, lanes = resolve(u.src[0]), u.dtype.scalar(), u.dtype.count
        gated = len(index.src) > 2
        if gated and len(u.src) < 2:
            raise self.listing.error(
                "a gated load without an alternative value", u, "give LOAD a second source"
            )
        behind, at = [*index.src[1:], *u.src[1:]], self.listing.position[u]
        texts: list[str] = []
        if image_of(index) is not None:
            self.put(f"let t{at} = textureLoad({self._texel(index)}, 0);", *behind)
            texts = [f"t{at}.{lane}" for lane in "xyzw"]
            self.bind(u, [self._chosen(u, text, i) for i, text in enumerate(texts)], *behind)
            return
        memory = self.memory[pointer_of(index)]
        if memory.shares and lanes > 1 and whole_words(self.listing, index, dtype, lanes):
            size = 32 // memory.each
            for first in range(0, lanes, memory.each):
                word = f"w{at}_{first}"
                self.put(f"let {word} = {memory.whole_word(self.place(index, first))};", *behind)
                texts += [memory.unpacked(word, f"{i * size}u") for i in range(memory.each)]
        else:
            texts = [memory.read(self.place(index, i)) for i in range(lanes)]
        self.bind(u, [self._chosen(u, text, i) for i, text in enumerate(texts)], *behind)

    def _chosen(self, u: UOp, text: str, lane: int) -> str:
        """One element of a load, or what its gate has in place of it."""
        index = resolve(u.src[0])
        if len(index.src) < 3:
            return text
        return f"select({self.lane(u.src[1], lane)}, {text}, {self.lane(index.src[2], lane)})"

    def _texel(self, index: UOp) -> str:
        """A texture, and the place of a texel in it."""
        x, y = (bare(self.lane(index.src[1], i)) for i in range(2))
        return f"{self.lane(pointer_of(index))}, vec2<i32>({x}, {y})"

    def store(self, u: UOp) -> None:
        index, value = resolve(u.src[0]), u.src[1]
        if len(index.src) > 2:
            raise self.listing.error("a gated store", u, "turn the gate into an IF first")
        lanes, behind = value.dtype.count, [*index.src[1:], value]
        values = [self.lane(value, i) for i in range(lanes)]
        if image_of(index) is not None:
            texel = ", ".join(map(bare, values))
            self.put(f"textureStore({self._texel(index)}, vec4<f32>({texel}));", *behind)
            return
        memory = self.memory[pointer_of(index)]
        if memory.shares and whole_words(self.listing, index, value.dtype.scalar(), lanes):
            for first in range(0, lanes, memory.each):
                part = values[first : first + memory.each]
                self.put(memory.write_word(self.place(index, first), part), *behind)
            return
        for i, text in enumerate(values):
            for line in memory.write(self.place(index, i), text):
                self.put(line, *behind)

    def range(self, u: UOp) -> None:
        name = f"i{u.arg[0]}_{self.listing.position[u]}"
        to, bound = TYPES[u.dtype], self.lane(u.src[0])
        if u.dtype.bits == 64:
            raise self.listing.error("a loop of more than 2 ** 31 iterations", u)
        self.put(f"for (var {name}: {to} = 0; {name} < {bound}; {name}++) {{", u.src[0])
        self.values[u] = (name,)
        self.depth += 1

    def end(self, u: UOp) -> None:
        for _ in u.src[1:]:
            self.close(u)

    def close(self, _: UOp) -> None:
        self.depth -= 1
        self.put("}")

    def condition(self, u: UOp) -> None:
        self.put(f"if ({bare(self.lane(u.src[0]))}) {{", u.src[0])
        self.depth += 1

    def barrier(self, u: UOp) -> None:
        self.put("workgroupBarrier();")

    def finish(self) -> Rendered:
        """The whole text."""
        out, listing, layout = Lines(), self.listing, self.layout
        for at, u in enumerate(layout.bound):
            memory = layout.memory[u]
            out.at = listing.position[u]
            out.add(_binding(at, "storage, read_write", memory.name, f"array<{memory.element}>"))
        out.at = -1
        at = len(layout.bound)
        if layout.packed:
            element = "atomic<u32>" if layout.pack_atomic else "u32"
            marks = (listing.position[u] for u in layout.packed)
            out.add(_binding(at, "storage, read_write", PACK, f"array<{element}>"), *marks)
            at += 1
        if layout.fields:
            kinds = ["i32"] * len(listing.variables) + ["u32"] * 3
            members = ", ".join(f"{n}: {k}" for n, k in zip(layout.fields, kinds, strict=False))
            out.add(f"struct Variables {{ {members} }}")
            marks = (listing.position[u] for u in listing.variables)
            out.add(_binding(at, "uniform", VARIABLES, "Variables"), *marks)
        for at, u in enumerate(layout.images, layout.first_texture):
            out.at = listing.position[u]
            written = u in listing.stored
            kind = "texture_storage_2d<rgba32float, write>" if written else "texture_2d<f32>"
            out.add(f"@group(0) @binding({at}) var data{u.arg}: {kind};")
        out.at = -1
        out.extend(self.module)
        if self.not_finite:
            out.add(f"var<private> {NOT_FINITE}: u32 = 0x7f800000u;")
        for name in self.helpers:
            for line in HELPERS[name].split("\n"):
                out.add(line)
        out.add(f"@compute @workgroup_size({', '.join(map(str, listing.local_size))})")
        given = [
            "@builtin(workgroup_id) group: vec3<u32>",
            "@builtin(local_invocation_id) thread: vec3<u32>",
            *(["@builtin(num_workgroups) groups: vec3<u32>"] if layout.folded else ()),
        ]
        out.add(f"fn {entry_of(listing)}(")
        for line in given:
            out.add(f"  {line},")
        out.add(") {")
        if layout.folded:
            total = " * ".join(f"{VARIABLES}.groups_{letter}" for letter in "xyz")
            out.add("  let counted = group.x + group.y * groups.x;")
            out.add(f"  if (counted >= {total}) {{ return; }}")
        out.extend(self.lines)
        out.add("}")
        return out.finish({FACT: launch_of(listing, layout).to_json()})


def _binding(at: int, space: str, name: str, kind: str) -> str:
    return f"@group(0) @binding({at}) var<{space}> {name}: {kind};"


_inlining = GroupOp.Elementwise | {Ops.STORE, Ops.INDEX, Ops.IF}
_handlers: dict[Ops, Callable[[_Walk, UOp], None]] = {
    Ops.DEFINE_GLOBAL: _Walk.define,
    Ops.DEFINE_LOCAL: _Walk.define,
    Ops.DEFINE_REG: _Walk.define,
    Ops.DEFINE_VAR: _Walk.variable,
    Ops.SPECIAL: _Walk.special,
    Ops.VECTORIZE: _Walk.vectorize,
    Ops.GEP: _Walk.gep,
    Ops.LOAD: _Walk.load,
    Ops.STORE: _Walk.store,
    Ops.RANGE: _Walk.range,
    Ops.END: _Walk.end,
    Ops.IF: _Walk.condition,
    Ops.ENDIF: _Walk.close,
    Ops.BARRIER: _Walk.barrier,
}
