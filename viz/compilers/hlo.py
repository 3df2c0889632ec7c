"""The dialect of XLA's HLO: what its opcodes are to the eye; and those of jaxprs and of StableHLO,
which stand before it in one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from viz.compilers.mlir import DIALECT as MLIR
from viz.dialect.dialect import Action, Dialect, Group, Op, TextKind

VERSION: Final = 1
_GROUPS: Final[Mapping[Group, str]] = {
    "const": "constant",
    "range": "iota",
    "memory": "parameter copy copy-start copy-done dynamic-update-slice gather scatter infeed "
    "outfeed bitcast add-dependency",
    "reduce": "dot convolution reduce reduce-window select-and-scatter sort all-reduce "
    "reduce-scatter cholesky triangular-solve fft ragged-dot dot_general "
    "conv_general_dilated reduce_sum reduce_max reduce_min reduce_prod argmax argmin cumsum",
    "movement": "broadcast reshape transpose slice dynamic-slice pad concatenate reverse "
    "broadcast_in_dim squeeze expand_dims dynamic_slice rev",
    "control": "HloModule computation tuple get-tuple-element call while conditional fusion "
    "custom-call map after-all opt-barrier optimization-barrier async-start async-done "
    "async-update rng-bit-generator partition-id replica-id jaxpr output scan cond pjit jit "
    "custom_jvp_call custom_vjp_call",
    "device": "all-gather all-to-all collective-permute send recv send-done recv-done convert "
    "convert_element_type",
    "arithmetic": "add subtract multiply divide remainder power maximum minimum and or xor not "
    "negate abs sign exponential exponential-minus-one log log-plus-one logistic sine cosine tan "
    "tanh sqrt rsqrt cbrt floor ceil round-nearest-afz round-nearest-even compare select clamp "
    "atan2 is-finite popcnt count-leading-zeros shift-left shift-right-logical erf "
    "shift-right-arithmetic real imag complex bitcast-convert sub mul div neg max min exp "
    "reduce-precision integer_pow add_any stop_gradient pow erf_inv rem eq ne lt le gt ge select_n",
}
_COMMUTES: Final = (
    "add",
    "multiply",
    "maximum",
    "minimum",
    "and",
    "or",
    "xor",
    "mul",
    "max",
    "min",
)


def _ops() -> dict[str, Op]:
    made = dict(MLIR.ops)
    for group, names in _GROUPS.items():
        for name in names.split():
            made[name] = Op(
                group=group,
                commutes=name in _COMMUTES,
                named="arg" if name == "constant" else "",
            )
    return made


DIALECT: Final = Dialect(
    name="hlo",
    version=VERSION,
    title="XLA",
    ops=_ops(),
    actions=frozenset((Action.CHECK, Action.BISECT)),
    texts=(
        TextKind(name="llvm", title="LLVM IR", language="llvm", ending=".ll"),
        TextKind(name="llvm_before", title="LLVM IR, not optimised", language="llvm", ending=".ll"),
        TextKind(name="ptx", title="PTX", language="ptx", ending=".ptx"),
    ),
)
"""HLO, with StableHLO and jaxprs."""
