"""Divergence: post-dominators against networkx, and random jumps against threads that run alone."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest

from core.errors import FaultError
from core.runtime.emulator import machine
from core.runtime.emulator.flow import flow_of
from core.runtime.emulator.machine import execute
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.program import Branch, Code, Compute, Exit, Guard, Instruction, Load
from core.runtime.emulator.ptx.front import read
from core.runtime.emulator.state import Checks
from tests.core.runtime.emulator.running import kernel, launch, run_text
from tests.core.runtime.emulator.threads import run_thread
from tests.fuzzing import seeds


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds(metafunc.config, 60, 4000))


def random_code(rng: random.Random) -> Code:
    """Jumps anywhere, guarded or not, and some exits; nothing that could be run."""
    count = rng.randint(1, 14)
    instructions: list[Instruction] = []
    for line in range(count):
        guard = Guard(0) if rng.random() < 0.6 else None
        kind = rng.random()
        if kind < 0.45:
            target = rng.randint(0, count)
            instructions.append(Branch(line=line, name="bra", guard=guard, target=target))
        elif kind < 0.55:
            instructions.append(Exit(line=line, name="ret", guard=guard))
        else:
            instructions.append(Compute(line=line, name="mov", function=lambda: None))
    return Code("k", "", "test", tuple(instructions), ("%p",))


def test_post_dominators(seed: int) -> None:
    code = random_code(random.Random(seed))
    blocks = flow_of(code).blocks
    end = len(blocks)
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(end + 1))
    for at, block in enumerate(blocks):
        graph.add_edges_from(((block.taken, at), (block.following, at)))
    wanted = nx.immediate_dominators(graph, end)
    assert [b.join for b in blocks] == [wanted.get(at, end) for at in range(end)]


def random_kernel(rng: random.Random) -> str:
    """Blocks that mix numbers and jump by them, forwards and, while a counter lasts, backwards."""
    count = rng.randint(3, 9)
    lines = ["  mov.u32 %r0, %r61;", "  mov.u32 %r1, 0;", "  mov.u32 %r2, 17;"]
    for block in range(count):
        lines.append(f"B{block}:")
        for _ in range(rng.randint(1, 3)):
            a, b = rng.choice(("%r0", "%r2")), rng.choice(("%r0", "%r1", "%r2", "12345"))
            guard = rng.choice(("", "", f"@{rng.choice(('', '!'))}%p1 ")) if block else ""
            op = rng.choice(("add.u32", "xor.b32", "mul.lo.u32", "sub.u32"))
            lines.append(f"  {guard}{op} {a}, {a}, {b};")
        bit = rng.randint(0, 4)
        lines += [f"  shr.u32 %r3, %r0, {bit};", "  and.b32 %r3, %r3, 1;",
                  "  setp.ne.u32 %p1, %r3, 0;"]  # fmt: skip
        kind = rng.random()
        target = rng.randint(0, count - 1)
        if kind < 0.5 and target > block:
            lines.append(f"  @%p1 bra B{target};")
        elif kind < 0.8:
            lines += ["  add.u32 %r1, %r1, 1;",
                      f"  setp.lt.and.u32 %p2, %r1, {rng.randint(2, 9)}, %p1;",
                      f"  @%p2 bra B{min(target, block)};"]  # fmt: skip
        elif kind < 0.86:
            lines.append("  @%p1 ret;")
        elif kind < 0.92 and target > block:
            lines.append(f"  bra B{target};")
    lines += ["  mad.wide.u32 %rd0, %r61, 4, %rd50;", "  st.global.u32 [%rd0], %r2;"]
    return kernel("\n".join(lines))


@pytest.mark.parametrize(("lanes", "single"), [(1 << 14, False), (16, False), (1 << 14, True)])
def test_random_jumps(seed: int, lanes: int, single: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """`single`: one instruction at a time, as sessions do."""
    monkeypatch.setattr(machine, "LANES", lanes)
    text = random_kernel(random.Random(seed))
    code = read(text, "k")
    threads, blocks = 16, 3
    out = np.full(threads * blocks, 0xDEAD, np.uint32)
    started = launch([out], (blocks, 1, 1), (threads, 1, 1))
    prepared = prepare(code)
    if single:
        for state in machine.batches(prepared, started):
            runner = machine.Machine(prepared, state)
            with np.errstate(all="ignore"):
                while not runner.done:
                    runner.advance()
    else:
        execute(prepared, started)
    wanted = np.full_like(out, 0xDEAD)
    for number in range(threads * blocks):
        memory: dict[int, int] = {}
        specials = {"tid.x": number % threads, "ctaid.x": number // threads, "ntid.x": threads}
        run_thread(without_params(code), specials, memory)
        for address, value in memory.items():
            wanted[address // 4] = value
    assert out.tolist() == wanted.tolist(), text


def without_params(code: Code) -> Code:
    """The code with its pointer at address 0."""
    zero = np.zeros(1, np.uint64)
    first, *rest = code.instructions
    assert isinstance(first, Load) and first.name == "ld.param.u64"
    start = Compute(line=1, name="mov", function=lambda: zero, results=first.results)
    return Code(code.name, code.text, code.language, (start, *rest), code.registers)


NESTED = """
  mov.u32 %r0, 0;
  mov.u32 %r5, 0;
OUTER:
  mov.u32 %r1, 0;
INNER:
  add.u32 %r5, %r5, 1;
  add.u32 %r1, %r1, 1;
  setp.le.u32 %p0, %r1, %r0;
  @%p0 bra INNER;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, %r60;
  @%p0 bra OUTER;
  mad.wide.u32 %rd0, %r61, 4, %rd50;
  st.global.u32 [%rd0], %r5;
"""


def test_nested_loops_with_trip_counts_of_each_thread() -> None:
    out = np.zeros(64, np.uint32)
    run_text(kernel(NESTED), [out], threads=32, blocks=2)
    trips = [max(1, t % 32) for t in range(64)]
    assert out.tolist() == [n * (n + 1) // 2 for n in trips]


def test_threads_that_left_early_do_not_run_on() -> None:
    body = """
  setp.ge.u32 %p0, %r61, 5;
  @%p0 ret;
  mad.wide.u32 %rd0, %r61, 4, %rd50;
  st.global.u32 [%rd0], %r61;
"""
    out = np.full(5, 99, np.uint32)  # any other thread's store would be outside
    run_text(kernel(body), [out], threads=8, blocks=4)
    assert out.tolist() == [0, 1, 2, 3, 4]


def test_an_endless_loop_is_ended() -> None:
    with pytest.raises(FaultError, match="basic blocks have run") as caught:
        run_text(kernel("L:\n  add.u32 %r1, %r60, 1;\n  bra L;", pointers=0), [], limit=50)
    assert caught.value.kind == "endless"


def test_registers_that_live_in_one_block_only_are_not_kept() -> None:
    text = kernel("""
  add.u32 %r1, %r60, 1;
  add.u32 %r2, %r1, 1;
  setp.lt.u32 %p0, %r60, 3;
  @%p0 bra A;
  add.u32 %r2, %r2, 5;
A:
  mad.wide.u32 %rd0, %r61, 4, %rd50;
  st.global.u32 [%rd0], %r2;
""")
    code = read(text, "k")
    kept = {code.registers[n] for n in flow_of(code).kept}
    assert "%r2" in kept and "%r1" not in kept and "%p0" not in kept


def test_writes_under_a_predicate_and_its_negation_are_one() -> None:
    body = """
  setp.lt.u32 %p0, %r60, 3;
  @%p0 mov.u32 %r1, 7;
  @!%p0 mov.u32 %r1, 8;
  mad.wide.u32 %rd0, %r61, 4, %rd50;
  st.global.u32 [%rd0], %r1;
"""
    code = read(kernel(body), "k")
    assert not flow_of(code).doubtful
    out = np.zeros(6, np.uint32)
    run_text(kernel(body), [out], threads=6)
    assert out.tolist() == [7, 7, 7, 8, 8, 8]


def test_a_doubtful_read_is_none_where_no_thread_takes_that_path() -> None:
    body = """
  setp.lt.u32 %p0, %r60, 1000;
  @!%p0 bra A;
  mov.u32 %r1, 4;
A:
  mad.wide.u32 %rd0, %r61, 4, %rd50;
  st.global.u32 [%rd0], %r1;
"""
    code = read(kernel(body), "k")
    assert {code.registers[n] for _, n in flow_of(code).doubtful} == {"%r1"}
    out = np.zeros(4, np.uint32)
    run_text(kernel(body), [out], threads=4)
    assert out.tolist() == [4] * 4
    with pytest.raises(FaultError, match="register %r1") as caught:
        run_text(kernel(body.replace("1000", "2")), [out], threads=4)
    assert caught.value.thread == (2, 0, 0)
    run_text(kernel(body.replace("1000", "2")), [out], threads=4, checks=Checks(False))
    assert out.tolist()[:2] == [4, 4]
