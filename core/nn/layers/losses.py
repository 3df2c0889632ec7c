"""Losses as layers: each is one method of Tensor, with the arguments that it is made with.

Names, arguments and their defaults are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.tensor import Tensor


@dataclass(eq=False)
class L1Loss:
    """|x - y|"""

    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.l1_loss(target, self.reduction)


@dataclass(eq=False)
class MSELoss:
    """(x - y) ** 2"""

    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.mse_loss(target, self.reduction)


@dataclass(eq=False)
class SmoothL1Loss:
    """`Tensor.smooth_l1_loss`"""

    reduction: str = "mean"
    beta: float = 1.0

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.smooth_l1_loss(target, self.reduction, self.beta)


@dataclass(eq=False)
class HuberLoss:
    """`Tensor.huber_loss`"""

    reduction: str = "mean"
    delta: float = 1.0

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.huber_loss(target, self.reduction, self.delta)


@dataclass(eq=False)
class KLDivLoss:
    """`Tensor.kl_div`"""

    reduction: str = "mean"
    log_target: bool = False

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.kl_div(target, self.reduction, self.log_target)


@dataclass(eq=False)
class BCELoss:
    """`Tensor.binary_crossentropy`"""

    weight: Tensor | None = None
    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.binary_crossentropy(target, self.reduction, self.weight)


@dataclass(eq=False)
class BCEWithLogitsLoss:
    """`Tensor.binary_crossentropy_logits`"""

    weight: Tensor | None = None
    reduction: str = "mean"
    pos_weight: Tensor | None = None

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.binary_crossentropy_logits(target, self.reduction, self.pos_weight, self.weight)


@dataclass(eq=False)
class CrossEntropyLoss:
    """`Tensor.cross_entropy`; of probabilities, nothing is ignored"""

    weight: Tensor | None = None
    ignore_index: int = -100
    reduction: str = "mean"
    label_smoothing: float = 0.0

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        ignored = None if target.is_floating_point() else self.ignore_index
        return x.cross_entropy(target, self.reduction, self.label_smoothing, self.weight, ignored)


@dataclass(eq=False)
class NLLLoss:
    """`Tensor.nll_loss`"""

    weight: Tensor | None = None
    ignore_index: int = -100
    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.nll_loss(target, self.weight, self.ignore_index, self.reduction)


@dataclass(eq=False)
class PoissonNLLLoss:
    """`Tensor.poisson_nll_loss`"""

    log_input: bool = True
    full: bool = False
    eps: float = 1e-8
    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.poisson_nll_loss(target, self.log_input, self.full, self.eps, self.reduction)


@dataclass(eq=False)
class GaussianNLLLoss:
    """`Tensor.gaussian_nll_loss`"""

    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return x.gaussian_nll_loss(target, var, self.full, self.eps, self.reduction)


@dataclass(eq=False)
class HingeEmbeddingLoss:
    """`Tensor.hinge_embedding_loss`"""

    margin: float = 1.0
    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.hinge_embedding_loss(target, self.margin, self.reduction)


@dataclass(eq=False)
class SoftMarginLoss:
    """`Tensor.soft_margin_loss`"""

    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.soft_margin_loss(target, self.reduction)


@dataclass(eq=False)
class MultiLabelSoftMarginLoss:
    """`Tensor.multilabel_soft_margin_loss`"""

    weight: Tensor | None = None
    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.multilabel_soft_margin_loss(target, self.weight, self.reduction)


@dataclass(eq=False)
class MultiMarginLoss:
    """`Tensor.multi_margin_loss`"""

    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None
    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor) -> Tensor:
        return x.multi_margin_loss(target, self.p, self.margin, self.weight, self.reduction)


@dataclass(eq=False)
class CosineEmbeddingLoss:
    """`Tensor.cosine_embedding_loss`"""

    margin: float = 0.0
    reduction: str = "mean"

    def __call__(self, x: Tensor, other: Tensor, target: Tensor) -> Tensor:
        return x.cosine_embedding_loss(other, target, self.margin, self.reduction)


@dataclass(eq=False)
class MarginRankingLoss:
    """`Tensor.margin_ranking_loss`"""

    margin: float = 0.0
    reduction: str = "mean"

    def __call__(self, x: Tensor, other: Tensor, target: Tensor) -> Tensor:
        return x.margin_ranking_loss(other, target, self.margin, self.reduction)


@dataclass(eq=False)
class TripletMarginLoss:
    """`Tensor.triplet_margin_loss`"""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    reduction: str = "mean"

    def __call__(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return anchor.triplet_margin_loss(
            positive, negative, self.margin, self.p, self.eps, self.swap, self.reduction
        )


@dataclass(eq=False)
class CTCLoss:
    """`Tensor.ctc_loss`"""

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False

    def __call__(
        self,
        x: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        return x.ctc_loss(
            targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
