"""Kernels for lesser processors: none needs a function that is not there, all compute the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from core import Tensor, dtypes
from core.compile import compile_kernel
from core.dtype import DType
from core.errors import DeviceError, EnvError
from core.target import targets
from core.toolchain.assembled import amd_isa
from core.toolchain.llvm_compiler import named, object_code
from core.toolchain.processor import Machine, host, processor
from core.uop.ops import Ops
from tests.core.runtime.asts import KERNELS
from tests.core.toolchain.elf import undefined_symbols

CPUS = [t.name for t in targets.values() if t.family == "cpu" and t.name != "hexagon"]
"""Without the one whose processor has no division: there LLVM calls its own runtime."""
PROVIDED = {"memcpy", "memset", "memmove"}
"""What LLVM may call of the C library, which every process has."""
X86 = "x86_64-unknown-linux-gnu"
LESSER = {
    "no F16C": ("x86-64-v2", Machine(X86, "x86-64-v3", "-f16c")),
    "no FMA": ("x86-64-v2", Machine(X86, "x86-64-v3", "-fma")),
    "AVX only": ("x86-64-v2", Machine(X86, "sandybridge", "")),
    "AVX-512 without BF16": ("x86-64", Machine(X86, "skylake-avx512", "")),
    "Sapphire Rapids": ("x86-64", Machine(X86, "sapphirerapids", "")),
    "ARM with SVE": ("aarch64", Machine("aarch64-unknown-linux-gnu", "neoverse-v2", "")),
}
"""Processors that are not named after a target, and the target that fits."""
MACHINES = {name: (name, named(targets[name])) for name in CPUS} | LESSER


CASTS = [d for d in dtypes.all if dtypes.is_float(d) or d.bits != 16]


def programs(dtype: DType) -> dict[str, Callable[[], Tensor]]:
    """One program per operation, each on memory of `dtype`. 40 elements: vectors, and a rest."""
    x, y, flag = (Tensor.empty(40, dtype=d) for d in (dtype, dtype, dtypes.bool))
    square = Tensor.empty(8, 8, dtype=dtype)
    made: dict[str, Callable[[], Tensor]] = {
        "add": lambda: x + y,
        "mul": lambda: x * y + x,
        "compare": lambda: x < y,
        "where": lambda: flag.where(x, y),
        "max": lambda: x.maximum(y),
        "pad": lambda: x.pad((1, 2)),
        "cat": lambda: x.cat(y),
        "roll": lambda: x.roll(3, 0),
        "gather": lambda: x[Tensor.empty(5, dtype="int32")],
        "scatter": lambda: x.scatter(0, Tensor.empty(7, dtype="int32"), y),
        "sum": lambda: square.sum(1),
        "largest": lambda: square.max(0),
        "cumsum": lambda: x.cumsum(0),
        "matmul": lambda: square @ square,
        "copy": lambda: square.permute(1, 0).contiguous(),
        **{f"to {d}": lambda d=d: x.cast(d) for d in CASTS if d is not dtype},
    }
    if dtypes.is_float(dtype):
        names = ("exp", "log", "sin", "sqrt", "tanh", "trunc", "floor", "round", "reciprocal")
        made |= {name: lambda name=name: getattr(x, name)() for name in names}
        made |= {"pow": lambda: x**y, "mod": lambda: x % y, "softmax": lambda: square.softmax()}
    if dtypes.is_int(dtype):
        made |= {"floor division": lambda: x // y, "mod": lambda: x % y, "pow": lambda: x**3}
        made |= {"shift": lambda: (x << 2) ^ (x >> 1), "constant": lambda: x // 7 + x % 1000}
    return made


def needed(x: Tensor, machine: str) -> set[str]:
    """The functions that the kernels of `x` call on a machine."""
    target, llvms = MACHINES[machine]
    found: set[str] = set()
    for item in x.schedule():
        if item.ast.op is Ops.SINK:
            program = compile_kernel(item.ast, targets[target])
            found |= undefined_symbols(object_code(program.source.text, program.name, llvms))
    return found - PROVIDED


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "machine", ["x86-64-v1", "x86-64-v2", "x86-64", "aarch64", "AVX-512 without BF16"]
)
@pytest.mark.parametrize("dtype", dtypes.all, ids=str)
def test_kernels_call_nothing(dtype: DType, machine: str) -> None:
    calls = {name: needed(make(), machine) for name, make in programs(dtype).items()}
    assert not {name: found for name, found in calls.items() if found}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("machine", MACHINES)
def test_hand_built_and_random_kernels_call_nothing(machine: str) -> None:
    target, llvms = MACHINES[machine]
    for name, make in KERNELS.items():
        program = compile_kernel(make(), targets[target])
        code = object_code(program.source.text, program.name, llvms)
        assert undefined_symbols(code) <= PROVIDED, name
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        assert not needed(Tensor.randn(40, dtype=dtype), machine)
    assert not needed(Tensor.randint(40, low=0, high=1 << 40, dtype="int64"), machine)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "target", [t.name for t in targets.values() if t.family in ("nvidia", "amd")]
)
def test_gpu_kernels_call_nothing(target: str) -> None:
    """bfloat16 on GPUs with and without its conversions: PTX has no call, AMD's code no jump to a
    symbol."""
    made = targets[target]
    for name, make in programs(dtypes.bfloat16).items():
        for item in make().schedule():
            if item.ast.op is Ops.SINK:
                program = compile_kernel(item.ast, made)
                text = program.source.text
                if made.family == "amd":
                    text = amd_isa(program.source, program.name, program.uops).text
                assert not re.search(r"swappc|setpc|@rel32|@gotpcrel|\bcall\b", text), name


def test_the_reader_of_object_files_finds_calls() -> None:
    text = """
        declare i32 @absent(i32)
        define void @f(ptr %p) {
          %x = load half, ptr %p
          %y = fpext half %x to float
          %z = fptosi float %y to i32
          %r = call i32 @absent(i32 %z)
          store i32 %r, ptr %p
          ret void
        }"""
    code = object_code(text, "f", named(targets["x86-64-v1"]))
    assert undefined_symbols(code) == {"absent", "__extendhfsf2"}
    assert undefined_symbols(object_code(text, "f", named(targets["x86-64"]))) == {"absent"}


PROGRAM = """
import numpy as np
from core import Tensor, dtypes
from core.toolchain.processor import host_target
rng = np.random.default_rng(5)
special = [0, -0.0, np.inf, -np.inf, np.nan, 6e-8, -3e-8, 2.9e-8, 65519, 65520, 6.1e-5, 1e-40]
values = np.concatenate([special, rng.standard_normal(60) * 10.0 ** rng.integers(-9, 9, 60)])
ties = 1 + 2.0**-11 + np.array([0, 2.0**-40, -(2.0**-40), 2.0**-10, 2.0**-10 + 2.0**-40])
values = np.concatenate([values, ties, -ties])
print(host_target().name)
for dtype in ("float16", "bfloat16", "fp8e4m3", "fp8e5m2"):
    for source in (Tensor(values), Tensor(values.astype(np.float32))):
        x = source.cast(dtype).realize()
        print(x.bitcast("uint8" if dtype[0:2] == "fp" else "uint16").tolist())
        print((x + x.flip(0)).numpy().tolist(), x.pad((3, 40)).cast("float64").tolist())
        print((x < x.flip(0)).where(x, x.roll(7, 0)).cast("int64").tolist()[5:12])
big = Tensor([(1 << 30) + (1 << 22) + 1, (1 << 30) + (1 << 22), 33023, 1 << 24, -1])
print(big.cast("bfloat16").tolist(), big.cast("float16").tolist())
wide = [-2.5, -0.5, -0.0, 0.5, 2.5, 1e9, 2.0**52 + 0.5, 1e300, -np.inf, np.nan, 8388607.5]
for dtype in ("float32", "float64"):
    x = Tensor(np.array(wide, dtype))
    print([getattr(x, f)().tolist() for f in ("trunc", "floor", "ceil", "round")])
    print(np.signbit(x.trunc().numpy()).tolist())
"""


def run_with(cpu: str, program: str = PROGRAM) -> list[str]:
    """What a program prints under CPU=`cpu`."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "CPU": cpu, "VIZ": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def usual() -> list[str]:
    """What the program prints on this processor."""
    return run_with("native")


def settings_here() -> list[str]:
    """Settings of CPU that this processor can follow, each with fewer features."""
    mine = host().target
    names = [t.name for t in targets.values() if t.triple == mine.triple and t.name != mine.name]
    fitting = [n for n in names if targets[n].requires <= _features()]
    off = [f for f in ("avx512f", "avx512bf16", "f16c", "fma", "avx") if f in _features()]
    return [*fitting, *(f"native,-{f}" for f in off), "native," + ",".join(f"-{f}" for f in off)]


def _features() -> set[str]:
    return {f[1:] for f in host().machine.features.split(",") if f.startswith("+")}


@pytest.mark.sampled(4)
@pytest.mark.skipif("CPU" in os.environ, reason="CPU is set from outside")
@pytest.mark.parametrize("setting", settings_here())
def test_lesser_processors_compute_the_same(setting: str, usual: list[str]) -> None:
    lesser = run_with(setting)
    assert lesser[0] == setting if setting in targets else lesser[0] in targets
    assert lesser[1:] == usual[1:]


def test_narrow_floats_are_rounded_once() -> None:
    tie = 1 + 2.0**-11
    x = Tensor([tie, tie + 2.0**-40, tie - 2.0**-40], dtype="float64").cast("float16")
    assert x.tolist() == [1.0, 1 + 2.0**-10, 1.0]
    big = (1 << 30) + (1 << 22)
    assert Tensor([big, big + 1]).cast("bfloat16").tolist() == [1 << 30, (1 << 30) + (1 << 23)]
    values = np.random.default_rng(3).standard_normal(4000) * 100
    np.testing.assert_array_equal(Tensor(values).cast("float16").numpy(), values.astype(np.float16))


V3 = targets["x86-64"].requires


@pytest.mark.parametrize(
    ("setting", "features", "target"),
    [
        ("native", V3, "x86-64"),
        ("native", V3 | {"avx512f"}, "x86-64"),
        ("native", V3 - {"f16c"}, "x86-64-v2"),
        ("native,-fma", V3, "x86-64-v2"),
        ("native,-sse4.1,-fma", V3, "x86-64-v1"),
        ("native", {"sse2"}, "x86-64-v1"),
        ("x86-64-v1", V3, "x86-64-v1"),
    ],
)
def test_the_target_fits_the_features(setting: str, features: set[str], target: str) -> None:
    found = processor(setting, X86, "some", features)
    assert found.target.name == target
    without = setting.partition(",")[2]
    assert found.machine.features.endswith(without)
    assert processor("native", "arm64-apple-darwin", "m1", set()).target.name == "aarch64"


@pytest.mark.parametrize("setting", ["x86-64-v9", "sm_90", "x86-64-v4", "aarch64", "x86-64,-fma"])
def test_settings_that_do_not_run_here(setting: str) -> None:
    with pytest.raises(EnvError, match=r"does not run here(.|\n)*CPU takes native or one of"):
        processor(setting, X86, "some", V3)


def test_settings_and_processors_that_are_unknown() -> None:
    with pytest.raises(EnvError, match="'f16c' is not a feature of this processor"):
        processor("native,f16c", X86, "some", V3)
    with pytest.raises(EnvError, match="'-nosuch' is not a feature"):
        processor("native,-nosuch", X86, "some", V3)
    with pytest.raises(DeviceError, match="no CPU target for a processor of riscv64"):
        processor("native", "riscv64-unknown-linux-gnu", "some", set())
