"""The emulator of GPUs: instructions of threads per second, and kernels beside machine code."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from core import Device, Tensor
from core.compile import compile_kernel
from core.passes.schedule import create_schedule
from core.runtime.buffer import Buffer
from core.runtime.emulator.counters import Profile
from core.runtime.emulator.device import EmulatorDevice, EmulatorRunner, launch_of
from core.runtime.emulator.machine import execute
from core.runtime.emulator.memory.globalmemory import Region
from core.runtime.emulator.prepare import Prepared, prepare
from core.runtime.emulator.ptx.front import read
from core.runtime.emulator.state import Checks, Launch
from core.uop import Ops, UOp
from core.uop.pointer import pointer_of
from tests.bench.measure import spread, table

RUNS, TRIPS, THREADS = 3, 10, 1 << 15

BODIES = {
    "add.u32": "add.u32 %r5, %r3, %r4;",
    "mul.rn.f32": "mul.rn.f32 %f1, %f0, %f0;",
    "fma.rn.f32": "fma.rn.f32 %f1, %f0, %f0, %f0;",
    "fma.rn.f64": "fma.rn.f64 %fd1, %fd0, %fd0, %fd0;",
    "ld.global.f32": "ld.global.f32 %f1, [%rd2];",
    "st.shared.f32, ld.shared.f32": "st.shared.f32 [%r6], %f0; ld.shared.f32 %f1, [%r6];",
    "add.u32 of half the threads": "@%p1 add.u32 %r5, %r3, %r4;",
}


def text_of(body: str) -> str:
    """A loop around eight times `body`."""
    return f""".version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data0)
{{
  .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .pred %p<9>; .reg .b64 %rd<9>;
  .shared .align 16 .b8 buf[1024];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r3, %r1, %r2, %r0;
  mov.u32 %r7, buf;
  mad.lo.u32 %r6, %r0, 4, %r7;
  cvt.rn.f32.u32 %f0, %r3;
  cvt.rn.f64.u32 %fd0, %r3;
  mov.f32 %f1, 0f3F800000; mov.u32 %r5, %r3;
  and.b32 %r8, %r0, 1; setp.eq.u32 %p1, %r8, 0;
  ld.param.u64 %rd0, [data0];
  mad.wide.u32 %rd2, %r3, 4, %rd0;
  mov.u32 %r4, 0;
LOOP:
  {body * 8}
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p0, %r4, {TRIPS};
  @%p0 bra LOOP;
  ret;
}}
"""


def best(function: Callable[[], object]) -> list[float]:
    """Seconds of several calls, after one that warms up."""
    function()
    found: list[float] = []
    for _ in range(RUNS):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return found


def started() -> Launch:
    """A launch of THREADS threads with a number for each."""
    region = Region("data0", 1 << 40, np.zeros(4 * THREADS, np.uint8))
    return Launch((THREADS // 256, 1, 1), (256, 1, 1), (1 << 40).to_bytes(8, "little"), (region,))


def counted(kernel: Prepared, launch: Launch) -> int:
    """Instructions that all threads run."""
    profile = Profile(kernel)
    execute(kernel, launch, profile=profile)
    return profile.counters().threads


def instructions() -> str:
    """Millions of thread-instructions per second of one instruction in a loop."""
    bare = Checks(initialised=False, content=False, races=False)
    rows: list[list[object]] = []
    for name, body in BODIES.items():
        code = read(text_of(body), "k")
        rows.append([name, *(rate(prepare(code, checks)) for checks in (Checks(), bare))])
    columns = ["instruction", "million a second, checked", "without checks of content and races"]
    return table("Emulator: instructions that threads run", columns, rows)


def rate(kernel: Prepared) -> str:
    """Millions of instructions a second."""
    count = counted(kernel, started())
    return spread([count / s / 1e6 for s in best(lambda: execute(kernel, started()))], 0)


def kernels() -> str:
    """Kernels beside the CPU's machine code."""
    rng = np.random.default_rng(0)
    a, b = (Tensor(rng.random((128, 128), np.float32)).realize() for _ in range(2))
    images = Tensor(rng.random((32, 16, 8, 8), np.float32)).realize()
    filters = Tensor(rng.random((32, 16, 3, 3), np.float32)).realize()
    cases = {
        "matrix product 128": a @ b,
        "softmax 128": a.softmax(1),
        "sum of 16,384": a.sum(),
        "convolution 32x16x8x8 by 32x16x3x3": images.conv2d(filters, padding=1),
    }
    rows: list[list[object]] = []
    for name, value in cases.items():
        asts = [i.ast for i in create_schedule(UOp.sink(value.uop))[0] if i.ast.op is Ops.SINK]
        emulated = [runnable(ast, "PTX:EMU") for ast in asts]
        native = [runnable(ast, "CPU") for ast in asts]
        count = sum(c for _, c in emulated)
        slow = best(lambda runs=emulated: [run() for run, _ in runs])
        fast = best(lambda runs=native: [run() for run, _ in runs])
        speeds = spread([count / s / 1e6 for s in slow], 0)
        times = spread([1e3 * s for s in slow], 1)
        rows.append([name, f"{count / 1e6:.1f}", times, speeds, f"{min(slow) / min(fast):.0f}"])
    columns = ["kernels of", "million instructions", "ms", "million a second", "times the CPU's"]
    return table("Emulator: kernels of PTX:EMU", columns, rows)


def runnable(ast: UOp, name: str) -> tuple[Callable[[], object], int]:
    """(a kernel in memory of its own, thread-instructions that it takes; 0 on the CPU)."""
    device = Device[name]
    assert device.target is not None
    program = compile_kernel(ast, device.target)
    pointers = {pointer_of(u).arg: u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
    buffers = [
        Buffer(name, pointers[n].dtype.size, pointers[n].dtype.base) for n in sorted(pointers)
    ]
    for buffer in buffers:
        buffer.copyin(memoryview(bytes(buffer.nbytes)))
    runner = device.load(program)
    count = 0
    if isinstance(device, EmulatorDevice) and isinstance(runner, EmulatorRunner):
        count = counted(runner.prepared(), launch_of(program, runner.code, buffers, {}))
    return lambda: runner(buffers, {}, wait=True), count


def figures() -> str:
    """The tables."""
    return f"{instructions()}\n{kernels()}"
