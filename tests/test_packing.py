"""Packed weights: the same numbers to rounding, or left alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from engine import packing
from engine.packing import PackedLinear, pack, packing_works
from tests.tiny import fresh


def operators_run() -> bool:
    """Whether this torch has the operators at all; that they multiply right is tested."""
    try:
        weight = torch.ops.mkldnn._reorder_linear_weight(torch.eye(8), None)
        torch.ops.mkldnn._linear_pointwise(torch.eye(8), weight, None, "none", [], "")
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return True


needs_packing = pytest.mark.skipif(not operators_run(), reason="this torch packs no weights here")


@needs_packing
def test_where_the_operators_run_they_are_used() -> None:
    assert packing_works(torch.float32)


def logits(model: Any, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        out = model(torch.tensor([ids]), use_cache=False).logits
    return torch.as_tensor(out)


@needs_packing
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 7, 33])
def test_a_packed_layer_is_the_plain_one_to_rounding(bias: bool, rows: int) -> None:
    made = torch.Generator().manual_seed(rows)
    plain = nn.Linear(48, 80, bias=bias).requires_grad_(False)
    x = torch.randn(1, rows, 48, generator=made)
    packed = PackedLinear(plain)
    assert (packed.in_features, packed.out_features) == (48, 80)
    torch.testing.assert_close(packed(x), plain(x), rtol=1e-5, atol=1e-5)


@needs_packing
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
def test_a_packed_model_writes_the_plain_ones_logits(architecture: str, tied: bool) -> None:
    plain = fresh(architecture, 3, dtype=torch.float32, tied=tied)
    packed = fresh(architecture, 3, dtype=torch.float32, tied=tied)
    layers = sum(type(module) is nn.Linear for module in packed.modules())
    assert pack(packed) == layers > 0
    assert not any(type(module) is nn.Linear for module in packed.modules())
    ids = [3, 9, 4, 1, 3, 9, 60]
    torch.testing.assert_close(logits(packed, ids), logits(plain, ids), rtol=1e-4, atol=1e-4)
    if tied:
        embedding = packed.get_input_embeddings().weight
        assert torch.equal(embedding, plain.get_input_embeddings().weight)


def test_other_dtypes_are_left_alone() -> None:
    model = fresh("llama", dtype=torch.float64)
    assert pack(model) == 0
    assert any(type(module) is nn.Linear for module in model.modules())


@pytest.mark.parametrize("error", [RuntimeError, AttributeError, NotImplementedError])
def test_where_the_operator_fails_the_model_is_left_as_it_was(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: PackedLinear, x: torch.Tensor) -> torch.Tensor:
        raise error("no such operator")

    monkeypatch.setattr(packing.PackedLinear, "forward", broken)
    model = fresh("llama", dtype=torch.float32)
    before = copy.deepcopy(model)
    assert not packing_works(torch.float32)
    assert pack(model) == 0
    assert torch.equal(logits(model, [1, 2]), logits(before, [1, 2]))


def test_an_operator_that_multiplies_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing.PackedLinear, "forward", lambda self, x: x.new_ones(1, 3, 96))
    model = fresh("llama", dtype=torch.float32)
    assert pack(model) == 0


@needs_packing
def test_a_kind_of_layer_that_may_compute_something_else_is_not_packed() -> None:
    class Doubled(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(x)

    model = nn.Sequential(nn.Linear(4, 4), Doubled(4, 4))
    assert pack(model) == 1
    assert type(model[1]) is Doubled
