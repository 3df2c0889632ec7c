"""The processor that CPU kernels are compiled for: the host's, or a lesser one that `CPU` names.

LLVM reports the features of the host; a target lists those that it requires. Never looks at code.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from llvmlite import binding as llvm

from core.errors import DeviceError
from core.helpers import CPU, wrong_setting
from core.target import Target, targets

NATIVE: Final = "native"
_arch: Final = {"amd64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True)
class Machine:
    """A processor as LLVM knows it."""

    triple: str
    cpu: str
    features: str


@dataclass(frozen=True)
class Processor:
    """A processor as passes see it (`target`) and as LLVM sees it (`machine`)."""

    target: Target
    machine: Machine


def processor(setting: str, triple: str, cpu: str, features: Set[str]) -> Processor:
    """What `setting` means on a processor with `features`: "native" or the name of a CPU target,
    then features to disable, as in "native,-avx512f,-f16c".

    Raises EnvError for a setting that is neither, or more than the processor has; DeviceError for a
    processor that no target fits.
    """
    name, *without = setting.split(",")
    arch = triple.partition("-")[0]
    known = [t for t in targets.values() if t.family == "cpu"]
    here = [t for t in known if t.triple.partition("-")[0] == _arch.get(arch, arch)]
    if not here:
        raise DeviceError(
            f"no CPU target for a processor of {triple}",
            hint="x86-64 and 64-bit ARM are supported; kernels of other targets can "
            "still be made by name",
        )
    if bad := [w for w in without if not (w.startswith("-") and w[1:] in features)]:
        raise wrong_setting(
            f"CPU={setting!r}: {bad[0]!r} is not a feature of this processor to disable",
            "write it as LLVM does, such as -avx512f or -f16c; it has "
            + ", ".join(sorted(features)),
        )
    left = features - {w[1:] for w in without}
    fitting = [t for t in here if t.requires <= left]
    if name != NATIVE:
        if name not in targets or targets[name] not in fitting:
            wanted = targets.get(name)
            lacks = sorted(wanted.requires - left) if wanted in here and wanted else []
            raise wrong_setting(
                f"CPU={setting!r}: code for {name!r} does not run here"
                + (f", without {lacks[0]}" if lacks else ""),
                f"CPU takes {NATIVE} or one of " + ", ".join(t.name for t in fitting),
            )
        return Processor(targets[name], Machine(triple, targets[name].processor, ",".join(without)))
    if not fitting:
        raise DeviceError(
            f"no CPU target for a {cpu} processor", hint="CPU disables too many features"
        )
    listed = ",".join([*(f"+{f}" for f in sorted(features)), *without])
    return Processor(fitting[0], Machine(triple, cpu, listed))


@lru_cache(maxsize=1)
def host() -> Processor:
    """The host's processor, as far as the setting CPU allows. Raises as `processor` does."""
    found: dict[str, bool] = cast("Any", llvm.get_host_cpu_features())
    features = frozenset(name for name, has in found.items() if has)
    return processor(CPU.value, llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


def host_target() -> Target:
    """The target of the CPU device. Raises as `processor` does."""
    return host().target
