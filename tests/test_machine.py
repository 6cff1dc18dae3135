"""A machine made ready: packed, checked, measured; or refused."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch

from engine import machine
from engine.capacity import Auto, Fixed
from engine.cost import SIZES, measure
from engine.drafter import NoDraft
from engine.errors import ModelError
from engine.machine import ready
from engine.target import Target
from racer import Racer
from tests.reference import greedy, written_plainly
from tests.test_loop import PROMPT, TOKENS, run
from tests.test_packing import operators_run
from tests.tiny import fresh


@pytest.fixture(autouse=True)
def _measured_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "measure", functools.partial(measure, budget=0.0))


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
def test_a_model_made_ready_writes_the_text_it_wrote_before(architecture: str) -> None:
    reference = fresh(architecture, 1, "sdpa", dtype=torch.float32)
    text, _ = written_plainly(reference, greedy, PROMPT, TOKENS)
    model = fresh(architecture, 1, "sdpa", dtype=torch.float32)
    made = ready(model)
    assert (made.packed > 0) == operators_run()
    assert 0 <= made.tolerance < 1e-3
    assert min(made.cost.base) > 0
    assert len(made.cost.base) == len(SIZES)
    made.warm_up()
    for drafter, capacity in ((NoDraft(), Fixed(1)), (Racer(), Auto(made.cost)), (Racer(), None)):
        target = made.target(64)
        assert (target.past, target.forwards) == (0, 0)
        assert run(drafter, target=target, capacity=capacity)[0] == text


def test_packing_can_be_left_out() -> None:
    made = ready(fresh("llama", 1, "sdpa", dtype=torch.float32), packing=False)
    assert made.packed == 0


def test_the_tolerance_is_the_rounding_between_blocks_and_single_tokens() -> None:
    exact = ready(fresh("llama", 1, "sdpa", dtype=torch.float64)).tolerance
    rough = ready(fresh("llama", 1, "sdpa", dtype=torch.bfloat16), packing=False).tolerance
    assert exact < 1e-9
    assert 1e-3 < rough < 4


def by_rows(model: Any) -> Any:
    """Plant: positions counted by rows, so that a second sibling stands one too far."""
    inner = model.model.forward
    model.model.forward = lambda **given: inner(**{**given, "position_ids": None})
    return model


def unmasked(model: Any) -> Any:
    """Plant: the tree's mask is dropped, so that siblings see each other."""
    inner = model.model.forward
    model.model.forward = lambda **given: inner(**{**given, "attention_mask": None})
    return model


def windowed(model: Any) -> Any:
    """Plant: each layer sees the newest eight rows only."""
    for layer in model.model.layers:
        layer.self_attn.sliding_window = 8
    return model


@pytest.mark.parametrize("plant", [by_rows, unmasked])
def test_a_model_whose_trees_score_differently_is_refused(plant: Any) -> None:
    model = plant(fresh("llama", 1, "sdpa", dtype=torch.float32))
    with pytest.raises(ModelError) as raised:
        ready(model)
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)


def test_attention_with_a_window_is_refused() -> None:
    model = windowed(fresh("qwen3", 1, "sdpa", dtype=torch.float32))
    with pytest.raises(ModelError, match="cannot score draft trees"):
        ready(model)


def test_an_error_nobody_foresaw_is_not_called_a_models_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(self: Target, *given: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Target, "score", broken)
    with pytest.raises(ZeroDivisionError):
        ready(fresh("llama", 1, "sdpa", dtype=torch.float32))


def test_timing_a_forward_behind_a_long_past_needs_no_long_text() -> None:
    target = Target(fresh("llama", 1), room=4096)
    assert machine.timed_forward(target, 4, 2048) > 0
    assert target.past == 2048
    assert machine.timed_forward(target, 1, 64) > 0
    assert target.past == 64
