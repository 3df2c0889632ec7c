"""The examples with small models: they learn, decode with a cache, load what they save, and keep
nothing of the steps that they have done."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core import Context, Tensor, nn
from core.runtime.allocators import allocated
from core.uop.uop import UOp
from examples import gpt2, resnet

SMALL = gpt2.Config(vocabulary=16, context=9, width=8, heads=2, layers=1)


def small_resnet() -> tuple[resnet.Trainer, list[Tensor]]:
    Tensor.manual_seed(1)
    trainer = resnet.Trainer(resnet.ResNet(10, 4, (0, 1)))
    images, labels = Tensor.randn(4, 3, 8, 8), Tensor([1, 5, 0, 9])
    return trainer, [images.realize(), labels.realize()]


def small_gpt() -> tuple[gpt2.Trainer, list[Tensor]]:
    Tensor.manual_seed(1)
    return gpt2.Trainer(gpt2.GPT2(SMALL)), [Tensor([[1, 2, 3] * 3, [3, 2, 1] * 3]).realize()]


def held() -> tuple[int, int]:
    """Nodes that are alive, and bytes of memory."""
    gc.collect()
    return sum(isinstance(x, UOp) for x in gc.get_objects()), allocated("CPU")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", [small_resnet, small_gpt])
@pytest.mark.parametrize("captured", [True, False])
def test_steps_leave_nothing_behind(
    make: Callable[[], tuple[resnet.Trainer | gpt2.Trainer, list[Tensor]]], captured: bool
) -> None:
    trainer, given = make()
    losses: list[float] = []
    before = (0, 0)
    with Context(TRAINING=1, JIT=int(captured)):
        for i in range(20 if captured else 5):
            losses.append(trainer.step(*given).item())
            if i == 2:
                before = held()
    nodes, memory = held()
    assert nodes <= before[0]  # fewer, where others went meanwhile
    assert memory <= before[1]
    assert losses[-1] < losses[0]


def test_resnet_classifies_by_weights_in_a_file(tmp_path: Path) -> None:
    Tensor.manual_seed(1)
    net = resnet.ResNet(classes=7, width=2)
    shapes = {name: t.shape for name, t in nn.state.get_state_dict(net).items()}
    assert len(shapes) == 122  # as PyTorch's
    assert shapes["layer2.0.downsample.0.weight"] == (4, 2, 1, 1)
    assert shapes["layer4.1.bn2.running_var"] == (16,)
    state = {name: Tensor.zeros(*shape) for name, shape in shapes.items()}
    state["fc.bias"] = Tensor([0.0, 3, 1, 2, 0, 0, 0])
    nn.state.safe_save(state, tmp_path / "w.safetensors")
    found = resnet.classify(str(tmp_path / "w.safetensors"), Tensor.ones(3, 32, 32))
    e = np.exp([0, 3, 1, 2, 0, 0, 0])
    np.testing.assert_allclose(found.numpy(), e / e.sum(), rtol=1e-5)


def test_a_token_is_decoded_as_without_a_cache() -> None:
    Tensor.manual_seed(2)
    model = gpt2.GPT2(SMALL)
    Tensor.realize(*nn.state.get_parameters(model))
    sampler = gpt2.Sampler(model, temperature=0)
    tokens = sampler([3, 1, 4], 6)
    assert len(tokens) == SMALL.context
    whole = model(Tensor([tokens])).numpy()
    assert whole[0, 2:-1].argmax(-1).tolist() == tokens[3:]
    caches = gpt2.Sampler(model).caches
    cuts = [(0, 3), *((i, i + 1) for i in range(3, 9))]  # several at once begin at 0
    parts = [model(Tensor([tokens[a:b]]), caches, a) for a, b in cuts]
    np.testing.assert_allclose(np.concatenate([p.numpy() for p in parts], 1), whole, atol=1e-5)
    with pytest.raises(ValueError, match="3 and 7 tokens, of 9"):
        sampler([3, 1, 4], 7)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> gpt2.Config:
    config = gpt2.Config(256, 64, 4, 1, 1)
    monkeypatch.setitem(gpt2.SIZES, "tiny", config)
    return config


@pytest.mark.usefixtures("tiny")
def test_gpt_is_trained_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sampled: list[gpt2.GPT2] = []
    monkeypatch.setattr(gpt2, "sample", lambda model, *_: sampled.append(model) or b"abc")
    file = tmp_path / "w.safetensors"
    gpt2.main(["train", "--steps", "1", "--batch", "2", "--save", str(file)])
    said = capsys.readouterr().out
    assert "step    1  loss 5." in said
    assert said.endswith("abc\n")
    for name, weight in nn.state.get_state_dict(sampled[0]).items():
        assert nn.state.safe_load(file)[name].tolist() == weight.tolist()


def test_gpt_is_sampled_by_weights_in_a_file(
    tiny: gpt2.Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, file = gpt2.GPT2(tiny), tmp_path / "w.safetensors"
    nn.state.safe_save(nn.state.get_state_dict(model), file)
    options = ["--tokens", "60", "--temperature", "0", "--weights", str(file)]
    gpt2.main(["sample", "--prompt", "ab", *options])
    wanted = bytes(gpt2.Sampler(model, temperature=0)(list(b"ab"), 60))
    assert capsys.readouterr().out.splitlines()[1:] == wanted.decode(errors="replace").splitlines()
