"""Attention goes through shared memory block by block: where the target copies asynchronously, the
next block is on its way during the products of this one, and nothing that is not used is read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.compile import compile_kernel
from core.dtype import dtypes
from core.runtime.emulator.counters import Counters
from core.target import targets
from core.tile import kernels
from core.tile.kernels import AttentionShape
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.tile.cases import attention, attention_backward
from tests.core.tile.running import counted

KERNELS: dict[str, Callable[[AttentionShape, str], UOp]] = {
    "attention": kernels.attention,
    "keys": kernels.attention_keys,
    "queries": kernels.attention_queries,
}
SHAPE = AttentionShape(1, 2, 100, 64)


def asynchronous(ast: UOp) -> bool:
    return any(u.op is Ops.WAIT for u in ast.toposort())


@pytest.mark.parametrize("name", KERNELS)
def test_the_next_blocks_are_on_their_way_during_products(name: str) -> None:
    text = compile_kernel(KERNELS[name](SHAPE, "sm_80"), targets["sm_80"]).source.text
    body = text[text.index("LOOP") : text.index("EXIT")]
    order = ["cp.async.wait_group 0", "bar.sync 0", "cp.async.c", "mma.sync"]
    assert [body.index(part) for part in order] == sorted(body.index(part) for part in order)
    last_copy = body.rindex("cp.async.c", 0, body.index("cp.async.commit_group"))
    assert last_copy < body.index("mma.sync")
    assert body.count("bar.sync") == 1
    assert "st.shared" not in body and "ld.shared" not in body
    # 32 rows of two matrices of 64 halves, in pieces of 16 bytes, by 128 threads
    assert body.count("cp.async.cg.shared.global") == 2 * 32 * 64 * 2 // 16 // 128


@pytest.mark.parametrize("name", KERNELS)
def test_where_nothing_is_copied_asynchronously_blocks_are_loaded_when_needed(name: str) -> None:
    build = KERNELS[name]
    assert asynchronous(build(SHAPE, "sm_90"))
    for target in ("sm_75", "gfx942", "gfx1100", "x86-64"):
        assert not asynchronous(build(SHAPE, target))
    wide = AttentionShape(1, 2, 100, 16, dtype=dtypes.float32)
    assert not asynchronous(build(wide, "sm_80")), "products need shared memory of their own"


@pytest.mark.parametrize(
    ("name", "size", "columns", "later"),
    [("attention", 128, 32, True), ("attention", 128, 48, True), ("attention", 128, 64, False),
     ("keys", 128, 16, True), ("keys", 128, 32, False), ("queries", 256, 32, False)],
)  # fmt: skip
def test_two_blocks_of_each_are_held_as_far_as_memory_goes(
    name: str, size: int, columns: int, later: bool
) -> None:
    """48 KiB, of which the second kernel keeps 32 for its own rows; and one block fits anyway."""
    shape = AttentionShape(1, 2, 100, size, columns=columns)
    assert asynchronous(KERNELS[name](shape, "sm_80")) is later


def copied_bytes(counters: Counters) -> int:
    """What asynchronous copies read of global memory."""
    return sum(c.loaded["global"] for c in counters.lines.values() if c.stored["shared"])


def test_nothing_behind_the_last_block_that_is_seen_is_read() -> None:
    """Two blocks of 16 queries: causal, the first sees 16 keys and not all 32."""
    small = {"warps": 1, "columns": 16}
    for causal, seen in ((False, 32 + 32), (True, 16 + 32)):
        forward = attention("sm_80", 32, 64, causal, **small)
        _, _, queries = attention_backward("sm_80", 32, 64, causal, **small)
        for case in (forward, queries):
            found = copied_bytes(counted(case.ast, case.arrays, "sm_80"))
            assert found == 2 * 2 * seen * 64 * 2  # heads, matrices, rows, halves
