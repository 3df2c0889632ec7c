"""Losses as layers: each is one method of Tensor, with the arguments that it is made with.

Names, arguments and their defaults are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.nn.layers.method import Loss
from core.tensor import Tensor


@dataclass(eq=False)
class L1Loss(Loss, method="l1_loss"):
    """|x - y|"""

    reduction: str = "mean"


@dataclass(eq=False)
class MSELoss(Loss, method="mse_loss"):
    """(x - y) ** 2"""

    reduction: str = "mean"


@dataclass(eq=False)
class SmoothL1Loss(Loss, method="smooth_l1_loss"):
    """`Tensor.smooth_l1_loss`"""

    reduction: str = "mean"
    beta: float = 1.0


@dataclass(eq=False)
class HuberLoss(Loss, method="huber_loss"):
    """`Tensor.huber_loss`"""

    reduction: str = "mean"
    delta: float = 1.0


@dataclass(eq=False)
class KLDivLoss(Loss, method="kl_div"):
    """`Tensor.kl_div`"""

    reduction: str = "mean"
    log_target: bool = False


@dataclass(eq=False)
class BCELoss(Loss, method="binary_crossentropy"):
    """`Tensor.binary_crossentropy`"""

    weight: Tensor | None = None
    reduction: str = "mean"


@dataclass(eq=False)
class BCEWithLogitsLoss(Loss, method="binary_crossentropy_logits"):
    """`Tensor.binary_crossentropy_logits`"""

    weight: Tensor | None = None
    reduction: str = "mean"
    pos_weight: Tensor | None = None


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
class NLLLoss(Loss, method="nll_loss"):
    """`Tensor.nll_loss`"""

    weight: Tensor | None = None
    ignore_index: int = -100
    reduction: str = "mean"


@dataclass(eq=False)
class PoissonNLLLoss(Loss, method="poisson_nll_loss"):
    """`Tensor.poisson_nll_loss`"""

    log_input: bool = True
    full: bool = False
    eps: float = 1e-8
    reduction: str = "mean"


@dataclass(eq=False)
class GaussianNLLLoss:
    """`Tensor.gaussian_nll_loss`"""

    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"

    def __call__(self, x: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return x.gaussian_nll_loss(target, var, self.full, self.eps, self.reduction)


@dataclass(eq=False)
class HingeEmbeddingLoss(Loss, method="hinge_embedding_loss"):
    """`Tensor.hinge_embedding_loss`"""

    margin: float = 1.0
    reduction: str = "mean"


@dataclass(eq=False)
class SoftMarginLoss(Loss, method="soft_margin_loss"):
    """`Tensor.soft_margin_loss`"""

    reduction: str = "mean"


@dataclass(eq=False)
class MultiLabelSoftMarginLoss(Loss, method="multilabel_soft_margin_loss"):
    """`Tensor.multilabel_soft_margin_loss`"""

    weight: Tensor | None = None
    reduction: str = "mean"


@dataclass(eq=False)
class MultiMarginLoss(Loss, method="multi_margin_loss"):
    """`Tensor.multi_margin_loss`"""

    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None
    reduction: str = "mean"


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
