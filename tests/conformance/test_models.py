"""Whole models against PyTorch: ResNet by its weights; GPT-2 forward, backward and decoding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core import Context, Tensor, nn
from examples import gpt2, resnet, resnet_torch

CONFIG = gpt2.Config(vocabulary=20, context=9, width=8, heads=2, layers=2)
TOKENS = [[1, 7, 3, 19, 0, 2, 2, 5, 11], [4, 4, 4, 0, 1, 9, 8, 7, 18]]


def close(ours: Tensor | None, theirs: torch.Tensor | None, name: str) -> None:
    assert ours is not None, name
    assert theirs is not None, name
    want = theirs.detach().numpy()
    scale = max(float(np.abs(want).max()), 1e-3)
    np.testing.assert_allclose(ours.numpy(), want, rtol=1e-3, atol=2e-4 * scale, err_msg=name)


def gradients(state: dict[str, Tensor]) -> list[Tensor]:
    return [x.grad for x in state.values() if x.grad is not None]


@pytest.mark.parametrize("training", [False, True])
def test_resnet(training: bool, tmp_path: Path) -> None:
    torch.manual_seed(1)
    theirs = resnet_torch.ResNet(classes=5, width=4)
    x, y = torch.randn(3, 3, 40, 40), torch.tensor([4, 0, 2])
    with torch.no_grad():
        theirs(x * 2 + 1)  # which moves the running figures
    torch.save(theirs.state_dict(), tmp_path / "w.pt")
    ours = resnet.ResNet(classes=5, width=4)
    nn.state.load_state_dict(ours, nn.state.torch_load(tmp_path / "w.pt"))
    nn.optim.SGD(nn.state.get_parameters(ours))  # whose parameters get gradients
    theirs.train(training)
    images = x.clone().requires_grad_()
    scores = theirs(images)
    F.cross_entropy(scores, y).backward()
    with Context(TRAINING=int(training)):
        given = Tensor(x.numpy(), requires_grad=True)
        found = ours(given)
        loss = found.sparse_categorical_crossentropy(Tensor(y.numpy()))
        loss.backward()
        close(found, scores, "scores")
        close(given.grad, images.grad, "images")
        state = nn.state.get_state_dict(ours)
        found.realize(*gradients(state), *state.values())
        for name, parameter in theirs.named_parameters():
            close(state[name].grad, parameter.grad, name)
        for name, value in theirs.named_buffers():
            close(state[name], value, name)


def test_what_the_script_writes_is_classified_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights, image = str(tmp_path / "w.safetensors"), str(tmp_path / "i.npy")
    resnet_torch.main([weights, image, "--width", "4", "--size", "40"])
    theirs = capsys.readouterr().out.splitlines()
    resnet.main(["classify", weights, "--image", image])
    ours = capsys.readouterr().out.splitlines()[:-1]
    assert [line.split()[1] for line in ours] == [line.split()[1] for line in theirs]
    values = [[float(line.split()[2]) for line in lines] for lines in (ours, theirs)]
    np.testing.assert_allclose(*values, atol=2e-6)


def gpt2_in_torch(w: dict[str, torch.Tensor], tokens: torch.Tensor) -> torch.Tensor:
    """Scores (batch, tokens, vocabulary), written out from the paper."""
    count, width = tokens.shape[1], CONFIG.width
    x = w["wte.weight"][tokens] + w["wpe.weight"][:count]
    for i in range(CONFIG.layers):
        p = f"h.{i}."
        y = F.layer_norm(x, (width,), w[p + "ln_1.weight"], w[p + "ln_1.bias"])
        qkv = (y @ w[p + "attn.c_attn.weight"] + w[p + "attn.c_attn.bias"]).split(width, -1)
        q, k, v = (z.unflatten(-1, (CONFIG.heads, -1)).transpose(1, 2) for z in qkv)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + y @ w[p + "attn.c_proj.weight"] + w[p + "attn.c_proj.bias"]
        y = F.layer_norm(x, (width,), w[p + "ln_2.weight"], w[p + "ln_2.bias"])
        y = F.gelu(y @ w[p + "mlp.c_fc.weight"] + w[p + "mlp.c_fc.bias"], approximate="tanh")
        x = x + y @ w[p + "mlp.c_proj.weight"] + w[p + "mlp.c_proj.bias"]
    return F.layer_norm(x, (width,), w["ln_f.weight"], w["ln_f.bias"]) @ w["wte.weight"].T


@pytest.fixture
def model() -> gpt2.GPT2:
    Tensor.manual_seed(3)
    found = gpt2.GPT2(CONFIG)
    for parameter in nn.state.get_parameters(found):  # larger than initial ones, and no zeros
        parameter.assign(Tensor.randn(*parameter.shape) * 0.4 + 0.1).realize()
    return found


def weights(model: gpt2.GPT2) -> dict[str, torch.Tensor]:
    state = nn.state.get_state_dict(model)
    return {k: torch.tensor(v.numpy(), requires_grad=True) for k, v in state.items()}


def test_gpt2(model: gpt2.GPT2) -> None:
    theirs, tokens = weights(model), torch.tensor(TOKENS)
    scores = gpt2_in_torch(theirs, tokens[:, :-1])
    F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten()).backward()
    given = Tensor(TOKENS)
    nn.optim.SGD(nn.state.get_parameters(model))  # whose parameters get gradients
    found = model(given[:, :-1])
    found.sparse_categorical_crossentropy(given[:, 1:]).backward()
    state = nn.state.get_state_dict(model)
    found.realize(*gradients(state))
    close(found, scores, "scores")
    for name, parameter in state.items():
        close(parameter.grad, theirs[name].grad, name)


def test_decoding(model: gpt2.GPT2) -> None:
    theirs = weights(model)
    tokens = TOKENS[0][:3]
    found = gpt2.Sampler(model, temperature=0)(tokens, 6)
    for _ in range(6):
        scores = gpt2_in_torch(theirs, torch.tensor([tokens]))[0, -1]
        tokens = [*tokens, int(scores.argmax())]
    assert found == tokens
