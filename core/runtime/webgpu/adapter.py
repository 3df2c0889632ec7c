"""Adapters: what the package `wgpu` finds on this machine, and a logical device of one.

Imports the package when the first adapter is asked for. Never runs a kernel.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

from core.dtype import IMAGE_SIDE
from core.errors import DeviceError

INSTALL: Final = "pip install 'uopviz[webgpu]'"
NO_ADAPTER: Final = (
    "install a driver of Vulkan (on Debian: libvulkan1 and the GPU's, or mesa-vulkan-drivers for "
    "the CPU), or name one by VK_DRIVER_FILES"
)
TIMESTAMPS: Final = "timestamp-query"
_WANTED: Final = (TIMESTAMPS, "shader-f16", "subgroup")
"""Asked for where the adapter has them: texts that a user has written may use the last two."""
_ORDER: Final = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "CPU")
_LIMITS: Final = {
    "buffers": "max-storage-buffers-per-shader-stage",
    "image_side": "max-texture-dimension-2d",
    "images_read": "max-sampled-textures-per-shader-stage",
    "images_written": "max-storage-textures-per-shader-stage",
}
"""The adapter's limit that each of the fields `OF_A_DEVICE` of a target is."""
_RAISED: Final = (
    "max-buffer-size",
    "max-storage-buffer-binding-size",
    "max-uniform-buffer-binding-size",
    "max-compute-workgroup-storage-size",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroup-size-x",
    "max-compute-workgroup-size-y",
    "max-compute-workgroup-size-z",
    *_LIMITS.values(),
)
"""Limits that are raised to the adapter's, as a page does it (`device/session.ts`)."""
_opening: Final = threading.Lock()


@dataclass(frozen=True)
class Opened:
    """A logical device of an adapter, what it is called, whether it measures times itself, and what
    it has of the fields `OF_A_DEVICE` of a target."""

    device: Any
    title: str
    timestamps: bool
    limits: Mapping[str, int]

    @property
    def image_side(self) -> int:
        """Texels along the longest side of an image."""
        return self.limits["image_side"]


@cache
def package() -> Any:
    """The module `wgpu`. Raises DeviceError where it is missing."""
    try:
        module = import_module("wgpu")
        extras = import_module("wgpu.backends.wgpu_native.extras")
    except ImportError as error:
        raise DeviceError(f"the package wgpu is not installed ({error})", hint=INSTALL) from error
    # OpenGL is left out: what it has of compute shaders is not enough on many machines
    extras.set_instance_extras(backends=["Vulkan", "Metal", "DX12"])
    return module


def adapters() -> Sequence[Any]:
    """The adapters of this machine, the fastest kind first. Raises DeviceError where the package
    is missing."""
    with _opening:
        found = [*package().gpu.enumerate_adapters_sync()]
    return sorted(found, key=_rank)


def _rank(adapter: Any) -> int:
    kind = adapter.info["adapter_type"]
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def title(adapter: Any) -> str:
    """The name of an adapter, and what it is reached by."""
    info = adapter.info
    return f"{info['device']} ({info['backend_type']})"


def on_cpu(adapter: Any) -> bool:
    """Whether an adapter is a driver that computes on the processor."""
    return adapter.info["adapter_type"] == "CPU"


def opened(name: str, number: int) -> Opened:
    """A device of adapter `number`; where there are fewer adapters, another device of the last
    one. Raises DeviceError where there is none, or none can be opened."""
    found = adapters()
    if not found:
        raise DeviceError(f"there is no {name}: wgpu finds no adapter", hint=NO_ADAPTER)
    adapter = found[min(number, len(found) - 1)]
    features = [feature for feature in _WANTED if feature in adapter.features]
    try:
        device = adapter.request_device_sync(
            required_features=features,
            required_limits={limit: adapter.limits[limit] for limit in _RAISED},
        )
    except Exception as error:
        raise DeviceError(f"{name} cannot be opened: {error}", hint=NO_ADAPTER) from error
    limits = {name: int(adapter.limits[limit]) for name, limit in _LIMITS.items()}
    limits["image_side"] = min(limits["image_side"], IMAGE_SIDE)
    return Opened(device, title(adapter), TIMESTAMPS in features, limits)
