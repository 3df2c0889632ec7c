"""`Layout`: where each argument of a kernel is bound, and the `Launch` that follows from it.

Never writes WGSL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.dtype import AddrSpace, DType, PtrDType, dtypes
from core.render.listing import Listing, resolve
from core.render.wgsl_lines.launch import Bound, Launch, Packed, Part, Size, Texture, Uniform
from core.render.wgsl_lines.memory import Memory, bits_in_memory
from core.target import Target
from core.uop.ops import Ops
from core.uop.pointer import image_of, pointer_of
from core.uop.uop import UOp

PACK: Final = "packed"
"""The array of words that holds arguments beyond those with a binding of their own."""
VARIABLES: Final = "variables"
"""The uniform buffer of variables and of the size of a folded grid."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`memory`: each argument and where it is; `bound`: those with a binding of their own, in the
    order of bindings; `packed`: the others, in one binding after them; `fields`: the members of the
    uniform buffer, the binding after that, words each; `images`: arguments that are textures, a
    binding each after these; `folded`: the grid is larger than one dimension may be, so its groups
    are counted."""

    memory: Mapping[UOp, Memory]
    bound: tuple[UOp, ...]
    packed: tuple[UOp, ...]
    fields: tuple[str, ...]
    images: tuple[UOp, ...]
    folded: bool

    @property
    def pack_atomic(self) -> bool:
        """Whether the words of the packed arguments are atomic."""
        return any(self.memory[u].atomic for u in self.packed)

    @property
    def first_texture(self) -> int:
        """The binding of the first texture."""
        return len(self.bound) + bool(self.packed) + bool(self.fields)


def shares_words(dtype: DType, space: AddrSpace) -> bool:
    """Whether elements of this memory share words with others."""
    return space is AddrSpace.GLOBAL and bits_in_memory(dtype) < 32


def whole_words(listing: Listing, index: UOp, dtype: DType, lanes: int) -> bool:
    """Whether neighbours from an address on are whole words."""
    each = 32 // bits_in_memory(dtype)
    return lanes % each == 0 and listing.divisor(resolve(index.src[1])) % each == 0


def entry_of(listing: Listing) -> str:
    """What the function is called: a kernel's own name may be a reserved word."""
    return f"kernel_{listing.name}"


def name_of(variable: UOp) -> str:
    """What a variable is called in the text."""
    return "var_" + re.sub(r"\W", "_", variable.arg[0], flags=re.ASCII)


def layout_of(listing: Listing, target: Target) -> Layout:
    """The layout of a program. Raises RenderError for more arguments than can be bound where the
    size of one is unknown."""
    atomic: set[UOp] = set()
    for u in listing.uops:
        if u.op is Ops.STORE:
            index, dtype = resolve(u.src[0]), u.src[1].dtype
            pointer = pointer_of(index)
            if pointer.op is Ops.DEFINE_GLOBAL and bits_in_memory(dtype) < 32 \
                    and not whole_words(listing, index, dtype, dtype.count):  # fmt: skip
                atomic.add(pointer)
    images = tuple(u for u in listing.pointers if image_of(u) is not None)
    pointers = tuple(u for u in listing.pointers if u not in images)
    most = target.buffers
    bound, packed = pointers, ()
    if most and len(pointers) > most:
        # those that are written keep a binding where they can: what is packed is copied
        wanted = sorted(pointers, key=lambda u: (u not in listing.stored, u.arg))
        chosen = frozenset(wanted[: most - 1])
        bound = tuple(u for u in pointers if u in chosen)
        packed = tuple(u for u in pointers if u not in chosen)
    memory: dict[UOp, Memory] = {}
    for u in bound:
        dtype = u.dtype.base
        shares = shares_words(dtype, AddrSpace.GLOBAL)
        memory[u] = Memory(f"data{u.arg}", dtype, shares, u in atomic)
    start, any_atomic = 0, any(u in atomic for u in packed)
    for u in packed:
        assert isinstance(u.dtype, PtrDType)
        if u.dtype.size < 0:
            raise listing.error(
                f"more than {most} arguments, one of unknown size", u, "give its pointer a size"
            )
        dtype = u.dtype.base
        shares = shares_words(dtype, AddrSpace.GLOBAL)
        memory[u] = Memory(PACK, dtype, shares, any_atomic, True, start)
        start += memory[u].words_of(u.dtype.size)
    limit = target.groups_max
    folded = bool(limit) and any(n.vmax > limit for n in listing.grid)
    fields = tuple(name_of(v) for v in listing.variables)
    fields += _GRID if folded else ()
    return Layout(memory, bound, packed, fields, images, folded)


_GRID: Final = ("groups_x", "groups_y", "groups_z")


def launch_of(listing: Listing, layout: Layout) -> Launch:
    """What a launch of the kernel needs."""
    bound = tuple(Bound(*_described(u, listing), at) for at, u in enumerate(layout.bound))
    at = len(bound)
    packed, uniform = None, None
    if layout.packed:
        parts = tuple(Part(*_described(u, listing), layout.memory[u].start) for u in layout.packed)
        last = parts[-1]
        words = last.word + layout.memory[layout.packed[-1]].words_of(last.elements)
        packed = Packed(at, words, parts)
        at += 1
    if layout.fields:
        uniform = Uniform(at, tuple(v.arg[0] for v in listing.variables), layout.folded)
    x, y, z = listing.grid
    return Launch(
        entry=entry_of(listing),
        workgroup=listing.local_size,
        grid=(size(x), size(y), size(z)),
        folded=layout.folded,
        bindings=bound,
        packed=packed,
        uniform=uniform,
        variables={v.arg[0]: (v.arg[1], v.arg[2]) for v in listing.variables},
        textures=tuple(
            _texture(u, listing, at) for at, u in enumerate(layout.images, layout.first_texture)
        ),
    )


def _described(u: UOp, listing: Listing) -> tuple[int, str, int, bool]:
    """The fields of `Argument`."""
    assert isinstance(u.dtype, PtrDType)
    return u.arg, u.dtype.base.name, u.dtype.size, u in listing.stored


def _texture(u: UOp, listing: Listing, binding: int) -> Texture:
    number, _, elements, written = _described(u, listing)
    image = image_of(u)
    assert image is not None
    dtype = dtypes.float16 if image.bits == 16 else dtypes.float32
    return Texture(number, dtype.name, elements, written, binding, image.width, image.height)


def size(u: UOp) -> Size:
    """A size of the grid as data."""
    if u.op is Ops.CONST:
        return int(u.arg)
    if u.op is Ops.DEFINE_VAR:
        return str(u.arg[0])
    if u.op is Ops.CAST and dtypes.is_int(u.dtype):
        return size(u.src[0])
    return [u.op.name, *(size(s) for s in u.src)]
