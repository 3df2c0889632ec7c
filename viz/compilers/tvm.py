"""The dialect of TVM's modules: what statements of TVMScript are to the eye."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from viz.dialect.dialect import Dialect, Group, Op

VERSION: Final = 1
_GROUPS: Final[Mapping[Group, str]] = {
    "const": "R.const metadata T.float32 T.int32 T.int64",
    "range": "for while argument T.axis.",
    "arithmetic": "R. T. value",
    "memory": "store T.sblock_alloc_buffer T.alloc_buffer T.match_buffer T.Buffer R.memory. "
    "R.builtin.alloc_tensor R.vm.alloc_storage R.vm.alloc_tensor T.reads T.writes T.decl_buffer",
    "reduce": "R.matmul R.sum R.mean R.max R.min R.nn.softmax R.nn.conv2d R.nn.conv1d "
    "R.nn.attention R.nn.layer_norm R.nn.max_pool2d",
    "movement": "R.reshape R.permute_dims R.broadcast_to R.concat R.split R.strided_slice "
    "R.squeeze R.expand_dims R.flatten R.take",
    "control": "module class function return if with R.dataflow R.output T.sblock T.block T.init "
    "T.func_attr R.func_attr R.call_tir R.call_packed I.module_attrs I.module_global_infos",
    "device": "R.astype R.to_vdevice",
}


def _ops() -> dict[str, Op]:
    return {name: Op(group=group) for group, names in _GROUPS.items() for name in names.split()}


DIALECT: Final = Dialect(name="tvm", version=VERSION, title="TVM", ops=_ops())
"""Modules of TVM as TVMScript prints them."""
