"""The dialect of torch.fx graphs: how the ops of ATen, of `prims` and of Python are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from viz.dialect.argtext import Show
from viz.dialect.dialect import Action, ContextKind, Dialect, Group, Op, TextKind

VERSION: Final = 1
_GROUPS: Final[Mapping[Group, str]] = {
    "const": "full full_like zeros ones zeros_like ones_like scalar_tensor empty new_zeros "
    "new_full get_attr lift_fresh_copy",
    "range": "arange iota",
    "reduce": "mm bmm addmm baddbmm matmul linear convolution conv1d conv2d conv3d sum mean "
    "amax amin max min prod var var_mean any all argmax argmin cumsum logsumexp softmax _softmax "
    "log_softmax _log_softmax layer_norm native_layer_norm batch_norm convolution_backward "
    "scaled_dot_product_attention max_pool2d avg_pool2d dot mv",
    "movement": "view reshape _unsafe_view permute transpose t expand squeeze unsqueeze cat stack "
    "split split_with_sizes chunk slice select flatten repeat flip unfold as_strided contiguous "
    "gather index index_select pad constant_pad_nd alias broadcast_in_dim",
    "memory": "copy copy_ clone index_put index_put_ scatter scatter_add slice_scatter "
    "select_scatter placeholder embedding",
    "device": "device_put to _to_copy convert_element_type",
    "control": "output graph subgraph block module call getattr getitem",
}
_COMMUTES: Final = ("add", "mul", "maximum", "minimum", "eq", "ne")
_AROUND: Final = ("aten", "prims", "torch", "Tensor", "operator", "quantized", "inductor_prims")
"""In front of names of ops."""


def _ops() -> dict[str, Op]:
    made = {f"{around}.": Op(group="arithmetic") for around in _AROUND}
    for group, names in _GROUPS.items():
        for name in names.split():
            made[name] = Op(group=group)
            for around in _AROUND:
                made[f"{around}.{name}"] = made[f"{around}.{name}."] = Op(group=group)
    for name in _COMMUTES:
        for around in _AROUND:
            made[f"{around}.{name}"] = Op(group="arithmetic", commutes=True)
        made[f"aten.{name}.Tensor"] = Op(group="arithmetic", commutes=True)
    return made


def _spell(fields: Mapping[str, Any], show: Show) -> str | None:
    """Keyword arguments as they are written in a call; a slice as in an index."""
    if len(fields) != 1:
        return None
    key, value = next(iter(fields.items()))
    if key == "kw" and isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        return ", ".join(f"{name}={show(one)}" for name, one in named.items())
    if key == "slice" and isinstance(value, list):
        parts = cast("list[Any]", value)
        return ":".join("" if one is None else show(one) for one in parts)
    return f"{key} {show(value)}" if key in ("shape", "stride") else None


DIALECT: Final = Dialect(
    name="torch",
    version=VERSION,
    title="PyTorch",
    ops=_ops(),
    spell=_spell,
    actions=frozenset((Action.CHECK, Action.BISECT)),
    contexts={"kernel": ContextKind("graph", "graphs")},
    texts=(TextKind(name="output_code", title="Output code", language="python", ending=".py"),),
)
"""Graphs of Dynamo, AOTAutograd and Inductor."""
