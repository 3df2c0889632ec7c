"""What layers, optimizers and schedules refuse: one error that names the class, the user's line and
what to do."""

import inspect
from typing import Any

import pytest

from core import Tensor, nn
from core.errors import DTypeError
from core.nn import lr_scheduler, optim


def one() -> optim.Optimizer:
    """An optimizer."""
    return optim.SGD([weight()])


def weight() -> Tensor:
    """A parameter."""
    return Tensor([1.0, 2.0], requires_grad=True)


OPTIMIZERS: tuple[Any, ...] = (
    optim.SGD,
    optim.Adam,
    optim.AdamW,
    optim.NAdam,
    optim.RMSprop,
    optim.Adagrad,
    optim.LARS,
    optim.LAMB,
    optim.Muon,
)
SCHEDULES: dict[Any, tuple[Any, ...]] = {
    lr_scheduler.LambdaLR: (float,),
    lr_scheduler.StepLR: (2,),
    lr_scheduler.MultiStepLR: ([2, 3],),
    lr_scheduler.ConstantLR: (),
    lr_scheduler.LinearLR: (),
    lr_scheduler.ExponentialLR: (0.5,),
    lr_scheduler.PolynomialLR: (),
    lr_scheduler.CosineAnnealingLR: (4,),
    lr_scheduler.CosineAnnealingWarmRestarts: (4,),
    lr_scheduler.ReduceLROnPlateau: (),
}


@pytest.mark.parametrize("make", [*OPTIMIZERS, *SCHEDULES])
def test_every_argument_of_optimizers_and_schedules(make: Any) -> None:
    first: Any = [weight()] if make in OPTIMIZERS else one()
    others = SCHEDULES.get(make, ())
    make(first, *others)
    for wrong in (
        make,
        lambda: make(first, *others, betas=(0.9, 0.99)),
        lambda: make(first, *others, *[0.5] * 12),
        lambda: make(5, *others),
        lambda: make([1.0], *others),
        lambda: make(weight(), *others),
    ):
        with pytest.raises(DTypeError, match=f"^{make.__name__}") as caught:
            wrong()
        assert caught.value.hint and "test_arguments.py" in (caught.value.where or "")
    names = list(inspect.signature(make).parameters)
    for name in (n for n in names if n not in ("params", "optimizer", "placing")):
        given = dict(zip(names[1:], others, strict=False))
        with pytest.raises(DTypeError, match=f"{make.__name__}: {name} is .*object"):
            make(first, **given | {name: object()})


def _case(source: str, match: str) -> Any:
    return pytest.param(lambda: eval(source), match, id=source)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        _case("optim.SGD([weight()], lr=-1.0)", "SGD: lr of -1.0"),
        _case("optim.SGD([weight()], lr=float('nan'))", "SGD: lr of nan"),
        _case("optim.SGD([weight()], momentum=-0.1)", "SGD: momentum of -0.1"),
        _case("optim.Adam([weight()], b1=1.0)", "Adam: b1 of 1.0"),
        _case("optim.NAdam([weight()], b2=-0.5)", "NAdam: b2 of -0.5"),
        _case("optim.LAMB([weight()], eps=-1e-8)", "LAMB: eps of -1e-08"),
        _case("optim.RMSprop([weight()], alpha=-1)", "RMSprop: alpha of -1"),
        _case("optim.Adagrad([weight()], lr_decay=-1)", "Adagrad: lr_decay of -1"),
        _case("optim.Muon([weight()], ns_coefficients=(1, 2))", "Muon: 2 ns_coefficients"),
        _case("optim.OptimizerGroup(one(), 3)", "OptimizerGroup of int"),
        _case("optim.OptimizerGroup()", "OptimizerGroup of nothing"),
        _case("lr_scheduler.StepLR(optim.OptimizerGroup(one()), 2)", "StepLR of OptimizerGroup"),
        _case("lr_scheduler.StepLR(one(), 0)", "StepLR: step_size of 0"),
        _case("lr_scheduler.CosineAnnealingWarmRestarts(one(), 2, 0)", "Restarts: T_mult of 0"),
        _case("lr_scheduler.ConstantLR(one(), factor=2.0)", "ConstantLR: factor of 2.0"),
        _case("lr_scheduler.LinearLR(one(), end_factor=-1)", "LinearLR: end_factor of -1"),
        _case(
            "lr_scheduler.ReduceLROnPlateau(one(), patience=-1)",
            "ReduceLROnPlateau: patience of -1",
        ),
        _case(
            "lr_scheduler.LambdaLR(one(), lambda steps: 'a')",
            "LambdaLR: the rate after 0 steps is 'a'",
        ),
        _case(
            "lr_scheduler.ReduceLROnPlateau(one()).step('a')",
            "ReduceLROnPlateau.step: metrics is 'a'",
        ),
        _case("nn.Linear(2)", "Linear without out_features"),
        _case("nn.Linear('a', 2)", "Linear: in_features is 'a'"),
        _case("nn.Conv2d(1, 2, 3, dilate=1)", "Conv2d has no argument called dilate"),
    ],
)
def test_settings_that_mean_nothing(call: Any, match: str) -> None:
    with pytest.raises(DTypeError, match=match) as caught:
        call()
    assert caught.value.hint and caught.value.where
    assert nn


def test_parameters_come_in_anything() -> None:
    w = weight()
    for given in ([w], (w,), (p for p in [w]), {w: 1}.keys()):
        assert [p is w for p in optim.SGD(given).params] == [True]


def test_a_plateau_is_told_by_a_tensor() -> None:
    optimizer = one()
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
    for figure in (1.0, Tensor([1.0])):
        plateau.step(figure)
    assert optimizer.lr.item() == pytest.approx(0.0005)
