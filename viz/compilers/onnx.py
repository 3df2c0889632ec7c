"""The dialect of ONNX models: what their operators are to the eye."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from viz.dialect.dialect import Dialect, Group, Op

VERSION: Final = 1
_GROUPS: Final[Mapping[Group, str]] = {
    "const": "Constant ConstantOfShape initializer",
    "range": "Range",
    "memory": "input Gather GatherElements GatherND ScatterElements ScatterND",
    "reduce": "MatMul Gemm Conv ConvTranspose ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd "
    "ReduceL2 Softmax LogSoftmax LayerNormalization BatchNormalization MaxPool AveragePool "
    "GlobalAveragePool ArgMax ArgMin CumSum TopK Attention",
    "movement": "Reshape Transpose Concat Slice Split Squeeze Unsqueeze Expand Pad Flatten Tile "
    "Identity Shape",
    "control": "model graph If Loop Scan",
    "device": "Cast CastLike QuantizeLinear DequantizeLinear",
}
_COMMUTES: Final = ("Add", "Mul", "Max", "Min", "And", "Or", "Xor", "Equal")


def _ops() -> dict[str, Op]:
    made = {name: Op(group=group) for group, names in _GROUPS.items() for name in names.split()}
    return made | {name: Op(group="arithmetic", commutes=True) for name in _COMMUTES}


DIALECT: Final = Dialect(name="onnx", version=VERSION, title="ONNX", ops=_ops())
"""ONNX models, as ONNX Script's rewriter has them."""
