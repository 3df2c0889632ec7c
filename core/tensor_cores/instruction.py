"""`TensorCore`: one matrix instruction of a processor, D = A * B + C, as data.

From the layouts everything else follows: how loops are split for it, how registers are packed, what
an emulator computes. Never says which targets have it (nvidia.py, amd.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from core.dtype import DType, dtypes
from core.errors import DTypeError
from core.tensor_cores.fragment import COPY, Fragment


@dataclass(frozen=True, slots=True, repr=False)
class TensorCore:
    """A matrix instruction that the lanes of a warp run together.

    `name` is the vendor's mnemonic, and no other row of a target has it. A is m x k, B is k x n, C
    and D are m x n. `dtype_in` is that of A and B, `dtype_out` that of C and D; products are exact
    and summed in `dtype_out`. `bits`: leading bits of an element of A and B that are multiplied,
    where that is fewer than `dtype_in` has (19 for TF32); 0 where nothing is lost.

    Raises DTypeError where the fragments do not hold such matrices.
    """

    name: str
    m: int
    n: int
    k: int
    dtype_in: DType
    dtype_out: DType
    a: Fragment
    b: Fragment
    c: Fragment
    bits: int = 0

    def __post_init__(self) -> None:
        for part, letters in ((self.a, "mk"), (self.b, "nk"), (self.c, "mn")):
            sizes = {"m": self.m, "n": self.n, "k": self.k}
            wanted = {
                f"{letter}{i}" for letter in letters for i in range(sizes[letter].bit_length() - 1)
            }
            named = {bit for bit in (*part.lanes, *part.elements) if bit != COPY}
            fits = all(part.size(letter) == sizes[letter] for letter in letters)
            if named != wanted or not fits or part.threads != self.c.threads:
                raise DTypeError(
                    f"{self.name}: {part} does not hold a matrix of {letters[0]} x {letters[1]}",
                    hint=f"its bits are {' '.join(sorted(wanted))}, of {self.c.threads} lanes",
                )
        if COPY in self.c.lanes:
            raise DTypeError(
                f"{self.name}: two lanes hold one element of the product",
                hint="only A and B may lie in several lanes",
            )
        numbers = [
            d in dtypes.all and d is not dtypes.bool for d in (self.dtype_in, self.dtype_out)
        ]
        if not all(numbers):
            raise DTypeError(
                f"{self.name}: elements are {self.dtype_in} and {self.dtype_out}",
                hint="they are scalar numbers",
            )

    def __repr__(self) -> str:
        return f"TensorCore({self.name})"

    def __str__(self) -> str:
        return self.name

    @property
    def dims(self) -> tuple[int, int, int]:
        """(m, n, k)."""
        return self.m, self.n, self.k

    @property
    def threads(self) -> int:
        """Lanes of a warp."""
        return self.c.threads

    @property
    def fragments(self) -> tuple[Fragment, Fragment, Fragment]:
        """Of A, B and C; D lies as C does."""
        return self.a, self.b, self.c

    @property
    def near(self) -> tuple[Fragment, Fragment]:
        """A and B with the bits of k in another order, the same in both, so that lanes hold
        neighbours along k where they can. A sum has no order: whatever is at a place of A meets
        what is at the same place of B."""
        held = [bit for bit in self.a.elements if bit[0] == "k"]
        if held != [bit for bit in self.b.elements if bit[0] == "k"]:
            return self.a, self.b
        order = held + [bit for bit in self.a.lanes if bit[0] == "k"]
        if order[len(held) :] != [bit for bit in self.b.lanes if bit[0] == "k"]:
            return self.a, self.b
        renamed = {bit: f"k{i}" for i, bit in enumerate(order)}
        a, b = (
            Fragment(
                tuple(renamed.get(bit, bit) for bit in part.lanes),
                tuple(renamed.get(bit, bit) for bit in part.elements),
            )
            for part in (self.a, self.b)
        )
        return a, b

    @property
    def exact(self) -> bool:
        """Whether products are those of the elements as they are in memory."""
        return not self.bits
