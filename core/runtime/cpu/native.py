"""LLVM IR that launches CPU kernels: a list of launches as one call, and the loop of the worker
threads that share the iterations of a kernel.

The launching thread begins at once and takes pieces of the work as the workers do, so a worker that
wakes too late takes none. Workers spin for a few microseconds before they sleep, so that kernels
that follow each other find them awake. Never decides how a kernel is divided.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from core.toolchain import llvm_compiler

ENTRY: Final = 6
"""Words of a launch: the function that calls the kernel, the kernel, its arguments, iterations to
divide (0: none), iterations of a piece, workers."""
STATE: Final = 512
"""Bytes that workers and launches share: each word has a cache line of its own."""
SPINS: Final = 2000
"""How often a worker looks for work before it sleeps: about 20 microseconds."""
GENERATION: Final = 0
"""Index of the 4-byte word that counts divided launches; workers wait for it to change."""
OPEN: Final = 32
"""Index of the 4-byte word that is 1 while a launch is divided, else 0 or CLOSED."""
CLOSED: Final = 2
"""The value of the word OPEN that ends the workers."""
_FUTEX: Final = {"x86_64": 202, "aarch64": 98}
_PAUSE: Final = {
    "x86_64": ("llvm.x86.sse2.pause", "", ""),
    "aarch64": ("llvm.aarch64.hint", "i32", " 1"),
}
"""By processor: what lets the other thread of a core go on, its type and its argument."""

_TAKE_PIECES: Final = """\
take:
  %from = atomicrmw add ptr %next, i64 %piece seq_cst
  %left = icmp slt i64 %from, %all
  br i1 %left, label %part, label %AFTER
part:
  %upto = add i64 %from, %piece
  %before = icmp slt i64 %upto, %all
  %to = select i1 %before, i64 %upto, i64 %all
  %from32 = trunc i64 %from to i32
  %to32 = trunc i64 %to to i32
  call void %call(ptr %kernel, ptr %args, i32 %from32, i32 %to32)
  br label %take
"""
"""Runs pieces of the divided launch until none is left, then goes on at AFTER."""
_RUN: Final = """
define void @uopviz_run(ptr %list, i64 %count, ptr %state) {
entry:
  %gen = getelementptr i8, ptr %state, i64 0
  %sleepers = getelementptr i8, ptr %state, i64 64
  %open = getelementptr i8, ptr %state, i64 128
  %next = getelementptr i8, ptr %state, i64 192
  %active = getelementptr i8, ptr %state, i64 256
  %busy = getelementptr i8, ptr %state, i64 320
  %job = getelementptr i8, ptr %state, i64 384
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %launch, label %end
launch:
  %at = phi i64 [ 0, %entry ], [ %after, %done ]
  %start = mul i64 %at, 48
  %one = getelementptr i8, ptr %list, i64 %start
  %p1 = getelementptr i8, ptr %one, i64 8
  %p2 = getelementptr i8, ptr %one, i64 16
  %p3 = getelementptr i8, ptr %one, i64 24
  %p4 = getelementptr i8, ptr %one, i64 32
  %p5 = getelementptr i8, ptr %one, i64 40
  %call = load ptr, ptr %one
  %kernel = load ptr, ptr %p1
  %args = load ptr, ptr %p2
  %all = load i64, ptr %p3
  %workers = load i64, ptr %p5
  %end32 = trunc i64 %all to i32
  %alone = icmp eq i64 %workers, 0
  br i1 %alone, label %whole, label %try
try:
  %lock = cmpxchg ptr %busy, i32 0, i32 1 acq_rel monotonic
  %mine = extractvalue { i32, i1 } %lock, 1
  br i1 %mine, label %share, label %whole
whole:
  call void %call(ptr %kernel, ptr %args, i32 0, i32 %end32)
  br label %done
share:
  %words = load <6 x i64>, ptr %one, align 8
  store <6 x i64> %words, ptr %job, align 8
  %piece = load i64, ptr %p4
  store atomic i64 0, ptr %next seq_cst, align 8
  store atomic i32 1, ptr %open seq_cst, align 4
  %g = atomicrmw add ptr %gen, i32 1 seq_cst
  %asleep = load atomic i32, ptr %sleepers seq_cst, align 4
  %wake = icmp sgt i32 %asleep, 0
  br i1 %wake, label %waking, label %take
waking:
  %woken = call i64 (i64, ...)
    @syscall(i64 FUTEX, ptr %gen, i32 129, i64 %workers, i64 0, i64 0, i64 0)
  br label %take
TAKE_PIECES(close)
close:
  store atomic i32 0, ptr %open seq_cst, align 4
  br label %wait
wait:
  %waited = phi i32 [ 0, %close ], [ %more, %again ]
  %running = load atomic i32, ptr %active seq_cst, align 4
  %over = icmp eq i32 %running, 0
  br i1 %over, label %free, label %pausing
pausing:
  call void @PAUSE(KIND VALUE)
  %more = add i32 %waited, 1
  %turn = and i32 %more, 1023
  %long = icmp eq i32 %turn, 0
  br i1 %long, label %yield, label %again
yield:
  %y = call i32 @sched_yield()
  br label %again
again:
  br label %wait
free:
  store atomic i32 0, ptr %busy release, align 4
  br label %done
done:
  %after = add i64 %at, 1
  %further = icmp slt i64 %after, %count
  br i1 %further, label %launch, label %end
end:
  ret void
}
declare i64 @syscall(i64, ...)
declare void @PAUSE(KIND)
declare i32 @sched_yield()
"""

_WORK: Final = """
define void @uopviz_work(ptr %state, i64 %number) {
entry:
  %gen = getelementptr i8, ptr %state, i64 0
  %sleepers = getelementptr i8, ptr %state, i64 64
  %open = getelementptr i8, ptr %state, i64 128
  %next = getelementptr i8, ptr %state, i64 192
  %active = getelementptr i8, ptr %state, i64 256
  %job = getelementptr i8, ptr %state, i64 384
  %p1 = getelementptr i8, ptr %job, i64 8
  %p2 = getelementptr i8, ptr %job, i64 16
  %p3 = getelementptr i8, ptr %job, i64 24
  %p4 = getelementptr i8, ptr %job, i64 32
  %p5 = getelementptr i8, ptr %job, i64 40
  %begun = load atomic i32, ptr %gen seq_cst, align 4
  %first = sub i32 %begun, 1  ; looks once, also where it begins after it was told to end
  br label %look
look:
  %last = phi i32 [ %first, %entry ], [ %last, %again ], [ %last, %sleep ], [ %now, %leave ]
  %spun = phi i32 [ 0, %entry ], [ %more, %again ], [ 0, %sleep ], [ 0, %leave ]
  %now = load atomic i32, ptr %gen seq_cst, align 4
  %new = icmp ne i32 %now, %last
  br i1 %new, label %enter, label %nothing
nothing:
  %tired = icmp sgt i32 %spun, SPINS
  br i1 %tired, label %sleep, label %again
again:
  call void @PAUSE(KIND VALUE)
  %more = add i32 %spun, 1
  br label %look
sleep:
  %s = atomicrmw add ptr %sleepers, i32 1 seq_cst
  %w = call i64 (i64, ...)
    @syscall(i64 FUTEX, ptr %gen, i32 128, i32 %last, i64 0, i64 0, i64 0)
  %t = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  br label %look
enter:
  %a = atomicrmw add ptr %active, i32 1 seq_cst
  %is_open = load atomic i32, ptr %open seq_cst, align 4
  switch i32 %is_open, label %stop [ i32 0, label %leave
                                     i32 1, label %wanted ]
stop:
  ret void
wanted:
  %workers = load i64, ptr %p5
  %asked = icmp slt i64 %number, %workers
  br i1 %asked, label %begin, label %leave
begin:
  %call = load ptr, ptr %job
  %kernel = load ptr, ptr %p1
  %args = load ptr, ptr %p2
  %all = load i64, ptr %p3
  %piece = load i64, ptr %p4
  br label %take
TAKE_PIECES(leave)
leave:
  %b = atomicrmw sub ptr %active, i32 1 seq_cst
  br label %look
}
declare i64 @syscall(i64, ...)
declare void @PAUSE(KIND)
"""


def wake(address: int, count: int) -> None:
    """Wakes up to `count` workers that sleep at the address of a state."""
    private = 129
    ctypes.CDLL(None).syscall(
        ctypes.c_long(_FUTEX[platform.machine()]),
        ctypes.c_void_p(address), private, ctypes.c_long(count), None, None, 0,
    )  # fmt: skip


def available() -> bool:
    """Whether workers can sleep and be woken here: on Linux, on x86-64 and AArch64."""
    return sys.platform == "linux" and platform.machine() in _FUTEX


def _loaded(text: str, name: str) -> llvm_compiler.Loaded:
    machine = platform.machine()
    pause, kind, value = _PAUSE[machine]
    for label in ("close", "leave"):
        text = text.replace(f"TAKE_PIECES({label})\n", _TAKE_PIECES.replace("AFTER", label))
    text = text.replace("PAUSE", pause).replace("KIND VALUE", kind + value).replace("KIND", kind)
    text = text.replace("FUTEX", str(_FUTEX[machine])).replace("SPINS", str(SPINS))
    return llvm_compiler.load(text, name)


@lru_cache(maxsize=1)
def run() -> Callable[[int, int, int], None]:
    """Runs a list of launches in order: (address of the list, number of launches, address of the
    state of the workers)."""
    code = _loaded(_RUN, "uopviz_run")
    return _kept(ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p), code)


@lru_cache(maxsize=1)
def worker() -> Callable[[int, int], None]:
    """The loop of a worker, given the address of the state and its number, until the state is
    CLOSED."""
    code = _loaded(_WORK, "uopviz_work")
    return _kept(ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64), code)


@lru_cache(maxsize=256)
def calling(pointers: int, widths: tuple[int, ...], shared: bool) -> llvm_compiler.Loaded:
    """The function that calls a kernel with the words of its arguments: so many pointers, then
    variables of so many bits, then, where it is `shared`, the first and the last iteration."""
    kinds = ["ptr"] * pointers + [f"i{bits}" for bits in widths]
    lines: list[str] = []
    for at, kind in enumerate(kinds):
        lines += [
            f"  %p{at} = getelementptr i64, ptr %args, i64 {at}",
            f"  %a{at} = load {kind}, ptr %p{at}, align 8",
        ]
    given = [f"{kind} %a{at}" for at, kind in enumerate(kinds)]
    given += ["i32 %from", "i32 %to"] if shared else []
    name = "uopviz_call_" + "_".join(map(str, (pointers, *widths, int(shared))))
    text = (
        f"define void @{name}(ptr %kernel, ptr %args, i32 %from, i32 %to) {{\nentry:\n"
        + "\n".join(lines)
        + f"\n  call void %kernel({', '.join(given)})\n  ret void\n}}\n"
    )
    return llvm_compiler.load(text, name)


def _kept(kind: Any, code: llvm_compiler.Loaded) -> Callable[..., None]:
    function = kind(code.address)
    function.code = code  # which goes with the function
    return function
