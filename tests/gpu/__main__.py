"""`python -m tests.gpu [DEVICE ...]`: checks the GPUs of this machine, or the devices named.

Each device gets the tests of this folder, then random Tensor programs, with operands in images too
where it has these, and kernels under random opts. Where there is no GPU, says what was looked for
and why it was not found, and exits with 0: nothing was checked.
"""

from __future__ import annotations

import os
import subprocess
import sys

from core.runtime.discover import Finding, findings

PROGRAMS = "tests/core/tensor/test_random_tensor_programs.py"
KERNELS = "tests/core/passes/test_fuzz_opts.py::test_opts_keep_what_is_computed"

IMAGES = ("OPENCL", "WEBGPU")
"""Kinds of devices that read and write texels."""


def gpus(found: list[Finding]) -> list[str]:
    """The devices that can be opened."""
    return [f.device for f in found if f.looked_for == "GPU" and f.found]


def name_of(device: str, found: list[Finding]) -> str:
    """What the GPU, or the adapter, of a device is called; "" where it is neither."""
    named = (f.found for f in found if f.device == device and f.looked_for in ("GPU", "adapter"))
    return next(named, "")


def missing(found: list[Finding]) -> str:
    """Why there is none."""
    reasons = [f for f in found if f.why and f.looked_for not in ("ptxas", "nvdisasm", "lld")]
    lines = [f"  {f.device}: {f.looked_for}: {f.why}" for f in reasons]
    return "\n".join(["There is no GPU that can be opened here: nothing was checked.", *lines])


def main(chosen: list[str]) -> int:
    """The exit status."""
    found = findings()
    devices = chosen or gpus(found)
    if not devices:
        print(missing(found))
        return 0
    pytest = [sys.executable, "-m", "pytest", "-q"]
    failed: list[str] = []
    for device in devices:
        programs = [*pytest, PROGRAMS, "--fuzz", "250", "-k", "not several"]
        runs: list[tuple[list[str], dict[str, str]]] = [
            ([*pytest, "-rP", "tests/gpu", "--device", device], {}),
            (programs, {}),
            *([(programs, {"IMAGE": "2"})] if device.partition(":")[0] in IMAGES else []),
            ([*pytest, KERNELS, "--fuzz", "250"], {}),
        ]
        print("===", device, name_of(device, found), flush=True)
        for command, variables in runs:
            said = " ".join([*(f"{k}={v}" for k, v in variables.items()), *command[1:]])
            print("===", device, said, flush=True)
            environment = {**os.environ, "DEV": device, **variables}
            if subprocess.run(command, env=environment, check=False).returncode:
                failed.append(f"{device}: {said}")
    print("\n".join(["FAILED:", *failed]) if failed else f"checked: {', '.join(devices)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
