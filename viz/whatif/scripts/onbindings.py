"""Runs one kernel of PTX through the bindings of NVIDIA's driver, and compares what it stores with
what is expected.

Needs Python, NumPy and `cuda.bindings.driver` (pip install cuda-bindings; older releases call it
`cuda.cuda` or `cuda`), and nothing else: scripts that reproduce a kernel hold this text and its
data. What the functions of the driver do: NVIDIA, "CUDA Driver API".
"""

from __future__ import annotations

import base64
import ctypes
import importlib
import sys
import zlib
from typing import Any

import numpy as np

MODULES = ("cuda.bindings.driver", "cuda.cuda", "cuda")


def make_input(seed: int, argument: dict[str, Any]) -> Any:
    """The memory of an argument: "float" is eighths from -4 to 4, whose sums and products are
    mostly exact; else integers from "low" to "high"."""
    random = np.random.default_rng((seed, argument["number"]))
    size, dtype = argument["size"], np.dtype(argument["memory"])
    if argument["kind"] == "float":
        eighths = (random.integers(-32, 33, size) / 8).astype(np.float32)
        if argument["dtype"] == "bfloat16":
            return (eighths.view(np.uint32) >> 16).astype(np.uint16)
        return eighths.astype(dtype)
    return random.integers(argument["low"], argument["high"], size, endpoint=True).astype(dtype)


def values_of(memory: Any, argument: dict[str, Any]) -> Any:
    """Elements in memory as float64."""
    if argument["dtype"] == "bfloat16":
        return (memory.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return memory.astype(np.float64)


def packed(array: Any) -> str:
    """An array as text."""
    return base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()


def wrong_elements(case: dict[str, Any], output: dict[str, Any], memory: Any) -> list[str]:
    """What is wrong with an output: nothing, the number of elements and the first of them."""
    argument = case["arguments"][output["number"]]
    at = np.arange(0, argument["size"], output["step"])
    raw = np.frombuffer(zlib.decompress(base64.b64decode(output["expected"])), argument["memory"])
    wanted, got = values_of(raw, argument), values_of(memory[at], argument)
    with np.errstate(all="ignore"):
        same = (wanted == got) | (np.isnan(wanted) & np.isnan(got))
        bad = np.flatnonzero(~(same | (np.abs(wanted - got) <= output["allowed"])))
    if not len(bad):
        return []
    n, name = bad[0], f"data{argument['number']}"
    said = f"{name}: {len(bad)} of {len(at)} compared elements are wrong; the first is {at[n]}: "
    return [said + f"{got[n]} in place of {wanted[n]}, where {output['allowed']:.3g} is allowed"]


def bindings() -> Any:
    """The driver's bindings."""
    for name in MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if hasattr(module, "cuInit"):
            return module
    sys.exit("the driver's bindings are not installed: pip install cuda-bindings")


def call(driver: Any, name: str, *arguments: Any) -> Any:
    """The result of a function of the driver; exits with its error where it fails."""
    code, *results = getattr(driver, name)(*arguments)
    if int(code) != 0:
        said = driver.cuGetErrorString(code)[1]
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise SystemExit(f"{name} failed: {getattr(code, 'name', code)} ({int(code)}): {text}")
    return results[0] if len(results) == 1 else results


def parameters_of(case: dict[str, Any], addresses: list[int]) -> list[Any]:
    """The kernel's parameters: an address for each argument, then the variables."""
    integers = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64}
    numbers = [integers[v["bytes"]](v["value"]) for v in case["variables"]]
    return [*(ctypes.c_uint64(address) for address in addresses), *numbers]


def main(case: dict[str, Any]) -> int:
    """Runs the kernel; 0 where every output is as expected, else 1."""
    driver = bindings()
    call(driver, "cuInit", 0)
    device = call(driver, "cuDeviceGet", 0)
    context = call(driver, "cuDevicePrimaryCtxRetain", device)
    call(driver, "cuCtxSetCurrent", context)
    hosts = [make_input(case["seed"], argument) for argument in case["arguments"]]
    memory: list[Any] = []
    module = None
    try:
        module = call(driver, "cuModuleLoadData", case["ptx"].encode() + b"\0")
        function = call(driver, "cuModuleGetFunction", module, case["name"].encode())
        for host in hosts:
            memory.append(call(driver, "cuMemAlloc", max(1, host.nbytes)))
            call(driver, "cuMemcpyHtoD", memory[-1], host.ctypes.data, host.nbytes)
        values = parameters_of(case, [int(memory[n]) for n in case["order"]])
        pointers = (ctypes.c_void_p * max(1, len(values)))(*map(ctypes.addressof, values))
        print(f"{case['name']}: grid {case['grid']}, block {case['block']}")
        sizes = (*case["grid"], *case["block"])
        call(driver, "cuLaunchKernel", function, *sizes, 0, 0, ctypes.addressof(pointers), 0)
        call(driver, "cuCtxSynchronize")
        for output in case["outputs"]:
            host, source = hosts[output["number"]], memory[output["number"]]
            call(driver, "cuMemcpyDtoH", host.ctypes.data, source, host.nbytes)
    finally:
        for address in memory:
            driver.cuMemFree(address)
        if module is not None:
            driver.cuModuleUnload(module)
        driver.cuDevicePrimaryCtxRelease(device)
    found = [wrong_elements(case, output, hosts[output["number"]]) for output in case["outputs"]]
    wrong = [line for lines in found for line in lines]
    print("\n".join(wrong) if wrong else "the result is as expected")
    return int(bool(wrong))
