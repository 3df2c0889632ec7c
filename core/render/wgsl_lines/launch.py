"""`Launch`: what a launch of a WGSL kernel needs, kept as JSON in the fact `launch` of its text.

The renderer writes it; the device WEBGPU and whatever prepares a page read it. docs/webgpu.md
documents its fields. Launches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

FACT: Final = "launch"
"""The name of the fact."""
Size = int | str | list[Any]
"""A size of the grid: a number, the name of a variable, or an op and its operands."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A pointer argument: its number, the dtype and number of its elements, and whether the kernel
    writes it."""

    argument: int
    dtype: str
    elements: int
    written: bool


@dataclass(frozen=True, slots=True)
class Bound(Argument):
    """An argument with a binding of its own."""

    binding: int


@dataclass(frozen=True, slots=True)
class Part(Argument):
    """An argument in the packed binding, from `word` on."""

    word: int


@dataclass(frozen=True, slots=True)
class Texture(Argument):
    """An argument that is an image: a texture of so many texels, RGBA of float32 whatever the dtype
    of its elements."""

    binding: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Packed:
    """The one binding, of so many words, of all arguments that have none of their own."""

    binding: int
    words: int
    arguments: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Uniform:
    """The uniform buffer: variables in order, then the size of the grid where `grid` is true."""

    binding: int
    variables: tuple[str, ...]
    grid: bool


@dataclass(frozen=True, slots=True)
class Launch:
    """`entry`: the name of the function; `workgroup`: its threads along x, y and z; `folded`: the
    groups are counted, because the grid is larger than one dimension may be; `variables`: the
    smallest and the largest value of each."""

    entry: str
    workgroup: tuple[int, int, int]
    grid: tuple[Size, Size, Size]
    folded: bool
    bindings: tuple[Bound, ...]
    packed: Packed | None
    uniform: Uniform | None
    variables: Mapping[str, tuple[int, int]]
    textures: tuple[Texture, ...] = ()

    def to_json(self) -> str:
        """The value of the fact."""
        data = asdict(self)
        if not self.textures:  # as of every text for a page
            del data["textures"]
        return json.dumps(data, separators=(",", ":"))


def launch_in(facts: Mapping[str, str]) -> Launch:
    """The launch that the facts of a text tell."""
    data: dict[str, Any] = json.loads(facts[FACT])
    packed, uniform = data["packed"], data["uniform"]
    if packed is not None:
        parts = tuple(Part(**part) for part in packed["arguments"])
        packed = Packed(packed["binding"], packed["words"], parts)
    if uniform is not None:
        uniform = Uniform(uniform["binding"], tuple(uniform["variables"]), uniform["grid"])
    x, y, z = data["workgroup"]
    return Launch(
        entry=data["entry"],
        workgroup=(x, y, z),
        grid=tuple(data["grid"]),
        folded=data["folded"],
        bindings=tuple(Bound(**bound) for bound in data["bindings"]),
        packed=packed,
        uniform=uniform,
        variables={name: (low, high) for name, (low, high) in data["variables"].items()},
        textures=tuple(Texture(**texture) for texture in data.get("textures", ())),
    )
