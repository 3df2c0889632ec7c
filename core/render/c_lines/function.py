"""The walk that C, CUDA C++, HIP C++ and OpenCL C share: from a linear program to a function.

A value that is used once, in the block that computes it, is written where it is used; vectors are
arrays in a struct, loaded and stored at once and computed element by element. Never optimises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from core.dtype import AddrSpace, DType, PtrDType, dtypes
from core.render.c_lines.dialect import Dialect
from core.render.c_lines.matrix import Helper, name_of
from core.render.c_lines.ops import alu, bitcast, cast, helper, literal
from core.render.expressions import NO_TEXT, bare
from core.render.listing import Listing, resolve
from core.render.rendered import Lines, Rendered
from core.tensor_cores import TensorCore
from core.uop.ops import GroupOp, Ops
from core.uop.pointer import address_space, image_of, pointer_of
from core.uop.uop import UOp

_LONGEST = 72
"""Longer expressions get a name of their own even if they are used once."""


def render_with(dialect: Dialect, uops: Sequence[UOp], name: str) -> Rendered:
    """The function of a program in one dialect. Raises RenderError for a node without a text."""
    walk = _Walk(Listing(uops, name, dialect.language), dialect)
    for u in walk.listing.written:
        walk.write(u)
    return walk.finish()


class _Walk:
    def __init__(self, listing: Listing, dialect: Dialect) -> None:
        self.listing, self.dialect = listing, dialect
        self.lines = Lines()
        self.depth = 1
        self.helpers: dict[str, None] = {}
        self.products: dict[Helper, None] = {}
        self.structs: dict[tuple[str, int], str] = {}
        self.values: dict[UOp, tuple[str, ...]] = {}
        self.behind: dict[UOp, tuple[int, ...]] = {}
        self.uses: dict[UOp, list[UOp]] = {}
        self.stores: dict[UOp, list[int]] = {}
        for u in listing.written:
            for s in u.src if u.op is not Ops.SPECIAL else ():
                self.uses.setdefault(resolve(s), []).append(u)
            if u.op is Ops.STORE:
                self.stores.setdefault(pointer_of(u.src[0]), []).append(listing.position[u])

    def put(self, text: str, *sources: UOp) -> None:
        """One line, made from the current node and the expressions written into it."""
        also = [p for s in sources for p in self.behind.get(resolve(s), ())]
        self.lines.add("  " * self.depth + text, *also)

    def lane(self, u: UOp, lane: int = 0) -> str:
        """The expression of one element. Raises RenderError where nothing computed it."""
        u = resolve(u)
        if u.op is Ops.CONST:
            return literal(u.dtype, u.arg, self.dialect)
        if u.op is Ops.VCONST:
            return literal(u.dtype, u.arg[lane], self.dialect)
        if u not in self.values:
            raise self.listing.error("used before it is computed", u, "check the linear order")
        found = self.values[u]
        return found[lane if len(found) > 1 else 0]

    def write(self, u: UOp) -> None:
        """The text of one node."""
        self.lines.at = self.listing.position[u]
        if u.op in GroupOp.Elementwise:
            self.compute(u, [self.expression(u, lane) for lane in range(u.dtype.count)])
        elif u.op not in NO_TEXT:
            handler = _handlers.get(u.op)
            if handler is None:
                raise self.listing.unsupported(u)
            handler(self, u)

    def expression(self, u: UOp, lane: int) -> str:
        operands = [self.lane(s, lane) for s in u.src]
        if u.op is Ops.BITCAST:
            if u.src[0].dtype.count != u.dtype.count:
                raise self.listing.unsupported(u)
            return bitcast(self.dialect, u, operands[0])
        if u.op is Ops.CAST:
            text, needs = cast(self.dialect, u, operands[0], self.listing)
        else:
            text, needs = alu(self.dialect, u, operands, self.listing)
        if needs:
            self.helpers[needs] = None
        return text

    def compute(self, u: UOp, texts: list[str]) -> None:
        """Binds `u` to expressions, in place or as variables."""
        users = self.uses.get(u, [])
        short = len(users) == 1 and len(texts) == 1 and len(texts[0]) <= _LONGEST
        if short and users[0].op in _inlining and self.listing.same_block(u, users[0]):
            self.values[u] = (texts[0],)
            own = [p for s in u.src for p in self.behind.get(resolve(s), ())]
            self.behind[u] = (*own, self.listing.position[u])
            return
        at, to = self.listing.position[u], self.dialect.types[u.dtype.name]
        names = [f"v{at}" if len(texts) == 1 else f"v{at}_{i}" for i in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            self.put(f"{to} {name} = {bare(text)};", *u.src)
        self.values[u] = tuple(names)

    def vectorize(self, u: UOp) -> None:
        self.values[u] = tuple(self.lane(s) for s in u.src)
        self.behind[u] = tuple(p for s in u.src for p in self.behind.get(resolve(s), ()))

    def gep(self, u: UOp) -> None:
        self.values[u] = tuple(self.lane(u.src[0], lane) for lane in u.arg)
        self.behind[u] = self.behind.get(resolve(u.src[0]), ())

    def shuffle(self, u: UOp) -> None:
        if not self.dialect.shuffle:
            raise self.listing.unsupported(u)
        name, to = f"v{self.listing.position[u]}", self.dialect.types[u.dtype.name]
        text = self.dialect.shuffle.format(x=bare(self.lane(u.src[0])), mask=u.arg)
        self.put(f"{to} {name} = {text};", *u.src)  # a statement: all lanes have to run it
        self.values[u] = (name,)

    def matrices(self, u: UOp) -> None:
        """An LDMATRIX."""
        if self.dialect.matrices is None:
            raise self.listing.unsupported(u)
        pointer, offset = self.place(resolve(u.src[0]))
        name, to = f"v{self.listing.position[u]}", self.struct(u.dtype.scalar(), u.dtype.count)
        for line in self.dialect.matrices(name, to, f"{pointer} + {offset}", *u.arg):
            self.put(line, *u.src)
        self.values[u] = self.elements(name, u.dtype.count)

    def product(self, u: UOp) -> None:
        if self.dialect.product is None:
            raise self.listing.unsupported(u)
        core: TensorCore = u.arg
        kinds = (core.dtype_in, core.dtype_in, core.dtype_out)
        counts = [part.count for part in core.fragments]
        a, b, c = (self.struct(d, n) for d, n in zip(kinds, counts, strict=True))
        helper = Helper(core, name_of(core), (a, b, c), self.dialect.helper)
        self.products[helper] = None
        values = [
            self.value(struct, [bare(self.lane(s, i)) for i in range(s.dtype.count)])
            for struct, s in zip(helper.structs, u.src, strict=True)
        ]
        name = f"v{self.listing.position[u]}"
        self.put(f"{c} {name} = {helper.name}({', '.join(values)});", *u.src)
        self.values[u] = self.elements(name, u.dtype.count)

    def define(self, u: UOp) -> None:
        assert isinstance(u.dtype, PtrDType)
        if u.dtype.addrspace is AddrSpace.GLOBAL:
            self.values[u] = (f"data{u.arg}",)
            return
        if u.dtype.size < 0:
            raise self.listing.error("memory of unknown size", u, "give its pointer a size")
        local = u.dtype.addrspace is AddrSpace.LOCAL
        name = f"{'shared' if local else 'acc'}{self.listing.position[u]}"
        prefix = self.dialect.shared.format(align=16) + " " if local else ""
        self.put(f"{prefix}{self.dialect.types[u.dtype.name]} {name}[{u.dtype.size}];")
        self.values[u] = (name,)

    def variable(self, u: UOp) -> None:
        self.values[u] = ("var_" + re.sub(r"\W", "_", u.arg[0], flags=re.ASCII),)

    def special(self, u: UOp) -> None:
        text = self.dialect.special.get(u.arg[:-1])
        if text is None:
            raise self.listing.error(f"there is no hardware index {u.arg} here", u)
        number = int(u.arg[-1])
        self.put(f"int {u.arg} = {text.format(axis='xyz'[number], number=number)};")
        self.values[u] = (u.arg,)

    def place(self, index: UOp, extra: int = 0) -> tuple[str, str]:
        """(pointer, offset) of the element `extra` after an address."""
        offset = bare(self.lane(index.src[1]))
        if extra:
            constant = resolve(index.src[1])
            number = constant.op is Ops.CONST
            offset = str(constant.arg + extra) if number else f"{offset} + {extra}"
        return self.lane(pointer_of(index)), offset

    def struct(self, dtype: DType, count: int) -> str:
        """The name of the type of `count` elements."""
        name = self.dialect.vector.format(
            dtype=dtype.name, type=self.dialect.types[dtype.name], count=count
        )
        return self.structs.setdefault((dtype.name, count), name)

    def elements(self, name: str, count: int) -> tuple[str, ...]:
        """Each element of a vector."""
        return tuple(self.dialect.element.format(x=name, lane=i) for i in range(count))

    def space(self, pointer: UOp) -> str:
        """The qualifier of the memory that an address is in."""
        return self.dialect.spaces.get(address_space(pointer), "")

    def pieces(self, index: UOp, dtype: DType, lanes: int) -> list[tuple[int, int]]:
        """(first element, elements) of each access that `lanes` elements take."""
        together = lanes
        if address_space(index) is AddrSpace.REG:
            together = 1
        elif self.dialect.aligned:
            offset = resolve(index.src[1])
            together = self.listing.lanes_together(offset, dtype.itemsize, lanes, 16)
        return [(at, together) for at in range(0, lanes, together)]

    def load(self, u: UOp) -> None:
        index, dtype, lanes = resolve(u.src[0]), u.dtype.scalar(), u.dtype.count
        gated = len(index.src) > 2
        if gated and len(u.src) < 2:
            raise self.listing.error(
                "a gated load without an alternative value", u, "give LOAD a second source"
            )
        at, found = self.listing.position[u], list[str]()
        behind = [*index.src, *u.src[1:]]
        if image_of(index) is not None:
            self._load_texel(u, index, behind)
            return
        if lanes == 1 and not gated and self._read_at_use(u):
            pointer, offset = self.place(index)
            self.values[u] = (f"{pointer}[{offset}]",)
            self.behind[u] = (*self.behind.get(resolve(index.src[1]), ()), at)
            return
        by_lane = gated and index.src[2].dtype.count > 1
        parts = self.pieces(index, dtype, lanes)
        for first, count in [(k, 1) for k in range(lanes)] if by_lane else parts:
            pointer, offset = self.place(index, first)
            name = f"v{at}" if count == lanes else f"v{at}_{first}"
            to = self.dialect.types[dtype.name] if count == 1 else self.struct(dtype, count)
            text = f"{pointer}[{offset}]"
            if count > 1:
                text = f"*({self.space(index)}{to}*)({pointer} + {offset})"
            if gated:
                values = [self.lane(u.src[1], first + i) for i in range(count)]
                other = values[0] if count == 1 else self.value(to, values)
                gate = self.lane(index.src[2], first if by_lane else 0)
                text = f"{gate} ? {text} : {other}"
            self.put(f"{to} {name} = {text};", *behind)
            found += [name] if count == 1 else self.elements(name, count)
        self.values[u] = tuple(found)

    def _load_texel(self, u: UOp, index: UOp, behind: Sequence[UOp]) -> None:
        name, to = f"v{self.listing.position[u]}", self.struct(u.dtype.scalar(), u.dtype.count)
        text = self._texel(index)
        if len(index.src) > 2:
            other = self.value(to, [self.lane(u.src[1], i) for i in range(u.dtype.count)])
            text = f"{self.lane(index.src[2])} ? {text} : {other}"
        self.put(f"{to} {name} = {text};", *behind)
        self.values[u] = self.elements(name, u.dtype.count)

    def _texel(self, index: UOp, value: str = "") -> str:
        """The expression that reads a texel, or the statement that writes it."""
        images, at = self.dialect.images, index.src[1]
        if images is None:
            raise self.listing.error(f"{self.dialect.language} has no images here", index)
        x, y = (bare(self.lane(at, i)) for i in range(2))
        form = images.store if value else images.load
        return form.format(image=self.lane(pointer_of(index)), x=x, y=y, value=value)

    def _read_at_use(self, u: UOp) -> bool:
        """Whether a load may be written where its value is used: once, in the same block, and with
        no store to the same memory before the statement that it ends up in."""
        node = u
        while True:
            users = self.uses.get(node, [])
            if len(users) != 1 or not self.listing.same_block(node, users[0]):
                end = node  # a statement of its own
                break
            if users[0].op is Ops.STORE:
                end = users[0]
                break
            if users[0].op not in GroupOp.Elementwise or users[0].dtype.count > 1:
                return False
            node = users[0]
        first, last = self.listing.position[u], self.listing.position[end]
        stores = self.stores.get(pointer_of(u.src[0]), [])
        return end is not u and not any(first < at < last for at in stores)

    def value(self, struct: str, values: list[str]) -> str:
        """A struct of these elements."""
        return self.dialect.literal.format(name=struct, values=", ".join(values))

    def store(self, u: UOp) -> None:
        index, value = resolve(u.src[0]), u.src[1]
        if len(index.src) > 2:
            raise self.listing.error("a gated store", u, "turn the gate into an IF first")
        dtype = value.dtype.scalar()
        if image_of(index) is not None:
            lanes = [bare(self.lane(value, i)) for i in range(value.dtype.count)]
            texel = self.value(self.struct(dtype, len(lanes)), lanes)
            self.put(self._texel(index, texel), *index.src, value)
            return
        for first, count in self.pieces(index, dtype, value.dtype.count):
            pointer, offset = self.place(index, first)
            values = [bare(self.lane(value, first + i)) for i in range(count)]
            if count == 1:
                self.put(f"{pointer}[{offset}] = {values[0]};", *index.src, value)
            else:
                name = self.struct(dtype, count)
                target = f"*({self.space(index)}{name}*)({pointer} + {offset})"
                self.put(f"{target} = {self.value(name, values)};", *index.src, value)

    def range(self, u: UOp) -> None:
        name = f"i{u.arg[0]}_{self.listing.position[u]}"
        to, bound = self.dialect.types[u.dtype.name], self.lane(u.src[0])
        self.put(f"for ({to} {name} = 0; {name} < {bound}; {name}++) {{", u.src[0])
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
        if self.dialect.barrier:
            self.put(self.dialect.barrier)

    def _parameter(self, u: UOp) -> str:
        dialect, name = self.dialect, f"data{u.arg}"
        if image_of(u) is None or dialect.images is None:
            return f"{self.space(u)}{dialect.types[u.dtype.name]}* {dialect.restrict} {name}"
        form = dialect.images.writes if u in self.listing.stored else dialect.images.reads
        return form.format(name=name)

    def finish(self) -> Rendered:
        """The whole text."""
        out, dialect, listing = Lines(), self.dialect, self.listing
        used = {u.dtype.scalar().name for u in listing.uops}
        needed = (line for name, lines in dialect.needs.items() if name in used for line in lines)
        for line in (*dialect.header, *needed):
            out.add(line)
        if dialect.images is not None and any(image_of(u) is not None for u in listing.pointers):
            out.add(dialect.images.header)
        for (dtype, count), name in self.structs.items() if dialect.struct else ():
            bytes_ = count * dtypes.named(dtype).itemsize
            out.add(
                dialect.struct.format(
                    name=name, type=dialect.types[dtype], count=count, align=min(16, bytes_)
                )
            )
        for name in self.helpers:
            out.add(helper(dialect, name))
        for product in self.products:
            for line in dialect.product(product) if dialect.product is not None else ():
                out.add(line)
        x, y, z = listing.local_size
        args = [self._parameter(u) for u in listing.pointers]
        args += [f"{dialect.types[u.dtype.name]} {self.lane(u)}" for u in listing.variables]
        start = dialect.kernel.format(threads=x * y * z, x=x, y=y, z=z)
        out.at = -1
        out.add(
            f"{start}{listing.name}({', '.join(args)}) {{",
            *(listing.position[u] for u in (*listing.pointers, *listing.variables)),
        )
        out.extend(self.lines)
        out.at = -1
        out.add("}")
        return out.finish()


_inlining = GroupOp.Elementwise | {Ops.STORE, Ops.INDEX, Ops.LOAD, Ops.IF}
_handlers: dict[Ops, Callable[[_Walk, UOp], None]] = {
    Ops.DEFINE_GLOBAL: _Walk.define,
    Ops.DEFINE_LOCAL: _Walk.define,
    Ops.DEFINE_REG: _Walk.define,
    Ops.DEFINE_VAR: _Walk.variable,
    Ops.SPECIAL: _Walk.special,
    Ops.VECTORIZE: _Walk.vectorize,
    Ops.GEP: _Walk.gep,
    Ops.WMMA: _Walk.product,
    Ops.SHUFFLE: _Walk.shuffle,
    Ops.LDMATRIX: _Walk.matrices,
    Ops.LOAD: _Walk.load,
    Ops.STORE: _Walk.store,
    Ops.RANGE: _Walk.range,
    Ops.END: _Walk.end,
    Ops.IF: _Walk.condition,
    Ops.ENDIF: _Walk.close,
    Ops.BARRIER: _Walk.barrier,
}
