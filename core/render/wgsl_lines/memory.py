"""Memory in WGSL: what a binding is an array of, and how elements of it are read and written.

Elements of 32 bits are elements of the array, those of 64 bits are vec2<u32>. Smaller ones share
words: they are read by a shift and a mask; a store of whole words writes these, one of less changes
its bits alone, atomically, because other threads may change the rest of the word. Arguments beyond
those that have a binding of their own are in one array of words, each from a word on that the text
has as a number. Shared memory and registers have one element per dtype, and no words are shared; a
bool is a word there, too: with arrays of bool, to which naga gives a stride of one byte in SPIR-V
(gfx-rs/wgpu issue 7696), an NVIDIA GPU computed wrong values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.dtype import DType, dtypes
from core.helpers import ceildiv
from core.render.expressions import bare
from core.render.wgsl_lines.types import TYPES


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a kernel: its variable, the dtype of elements; whether elements of fewer than 32
    bits share words; whether its words are atomic; `words`: it is in an array of words with others,
    from word `start` on."""

    name: str
    dtype: DType
    shares: bool = False
    atomic: bool = False
    words: bool = False
    start: int = 0

    @property
    def each(self) -> int:
        """Elements of a word."""
        return 32 // bits_in_memory(self.dtype) if self.shares else 1

    @property
    def element(self) -> str:
        """What the array is made of."""
        if self.atomic:
            return "atomic<u32>"
        if self.words or self.shares or dtypes.is_bool(self.dtype):
            return "u32"
        return TYPES[self.dtype]

    def _at(self, index: str) -> str:
        return f"{self.name}[{f'{index} + {self.start}' if self.start else bare(index)}]"

    def _word(self, index: str) -> str:
        place = self._at(index)
        return f"atomicLoad(&{place})" if self.atomic else place

    def read(self, index: str) -> str:
        """The element at an index."""
        if self.shares:
            return self.unpacked(self._word(f"({index} >> {_log(self.each)}u)"), self._bit(index))
        if dtypes.is_bool(self.dtype):
            return f"({self._at(index)} != 0u)"
        if not self.words and not self.atomic:
            return self._at(index)
        if self.dtype.bits == 64:
            low, high = self._word(f"(2 * {index})"), self._word(f"(2 * {index} + 1)")
            return f"vec2<u32>({low}, {high})"
        return self.of_word(self._word(index))

    def of_word(self, word: str) -> str:
        """A word as an element of 32 bits."""
        kind = TYPES[self.dtype]
        return word if kind == "u32" else f"bitcast<{kind}>({word})"

    def _bit(self, index: str) -> str:
        """The first bit of an element in its word."""
        return f"(u32({index} & {self.each - 1}) * {32 // self.each}u)"

    def unpacked(self, word: str, bit: str) -> str:
        """The element of a word that begins at a bit."""
        dtype, size = self.dtype, 32 // self.each
        moved = f"({word} >> {bit})" if bit != "0u" else word
        if dtypes.is_bool(dtype):
            return f"(({moved} & 255u) != 0u)"
        kind = TYPES[dtype]
        if kind == "i32":
            return f"((i32({moved}) << {32 - size}u) >> {32 - size}u)"
        return f"({moved} & {(1 << size) - 1}u)"

    def whole_word(self, index: str) -> str:
        """The word that begins with the element at an index."""
        return self._word(f"({index} >> {_log(self.each)}u)")

    def bits_of(self, value: str) -> str:
        """A value of a shared word as its bits, in the lowest ones of a word."""
        if dtypes.is_bool(self.dtype):
            return f"select(0u, 1u, {value})"
        if TYPES[self.dtype] == "i32":
            # a negative constant is no number that a u32 has
            return f"(bitcast<u32>({bare(value)}) & {(1 << 32 // self.each) - 1}u)"
        return value

    def write(self, index: str, value: str) -> list[str]:
        """The statements that store one element."""
        if self.shares:
            place = self._at(f"({index} >> {_log(self.each)}u)")
            return [
                "{",
                f"  let bit = {self._bit(index)};",
                f"  let changed = atomicLoad(&{place}) ^ ({self.bits_of(value)} << bit);",
                f"  atomicXor(&{place}, changed & ({(1 << 32 // self.each) - 1}u << bit));",
                "}",
            ]
        if dtypes.is_bool(self.dtype):
            return [f"{self._at(index)} = {self.bits_of(value)};"]
        if not self.words and not self.atomic:
            return [f"{self._at(index)} = {bare(value)};"]
        if self.dtype.bits == 64:
            return [
                "{",
                f"  let pair = {value};",
                f"  {self._put(f'(2 * {index})', 'pair.x')}",
                f"  {self._put(f'(2 * {index} + 1)', 'pair.y')}",
                "}",
            ]
        word = value if TYPES[self.dtype] == "u32" else f"bitcast<u32>({bare(value)})"
        return [self._put(index, word)]

    def _put(self, index: str, word: str) -> str:
        place = self._at(index)
        return f"atomicStore(&{place}, {word});" if self.atomic else f"{place} = {word};"

    def write_word(self, index: str, values: Sequence[str]) -> str:
        """The statement that stores all elements of a word, from the one at an index on."""
        size = 32 // self.each
        parts = [self.bits_of(v) for v in values]
        text = " | ".join(p if not i else f"({p} << {i * size}u)" for i, p in enumerate(parts))
        return self._put(f"({index} >> {_log(self.each)}u)", text)

    def words_of(self, elements: int) -> int:
        """Words that a number of elements takes."""
        return ceildiv(elements * bits_in_memory(self.dtype), 32)


def bits_in_memory(dtype: DType) -> int:
    """Bits of an element; a bool takes a byte."""
    return dtype.scalar().itemsize * 8


def _log(n: int) -> int:
    return n.bit_length() - 1
