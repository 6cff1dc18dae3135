"""The cost of a forward: what was measured, what lies between, what is worth padding."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cost import PASTS, SIZES, ForwardCost, measure

FAST = settings(derandomize=True, database=None, deadline=None, max_examples=80)
COSTS = st.builds(
    ForwardCost,
    st.lists(st.floats(1e-3, 1.0), min_size=len(SIZES), max_size=len(SIZES)),
    st.lists(st.floats(0, 1e-4), min_size=len(SIZES), max_size=len(SIZES)),
)
PAST = st.integers(0, 5000)


@FAST
@given(COSTS, PAST)
def test_a_measured_size_costs_what_was_measured_and_more_with_a_past(
    cost: ForwardCost, past: int
) -> None:
    for size, base, slope in zip(SIZES, cost.base, cost.slope, strict=True):
        assert cost.seconds(size, past) == pytest.approx(base + slope * past)


@FAST
@given(COSTS, PAST)
def test_between_two_sizes_the_cost_goes_straight_from_one_to_the_other(
    cost: ForwardCost, past: int
) -> None:
    for low, high in itertools.pairwise(SIZES):
        ends = cost.seconds(low, past), cost.seconds(high, past)
        for tokens in range(low, high + 1):
            way = (tokens - low) / (high - low)
            assert cost.seconds(tokens, past) == pytest.approx(ends[0] * (1 - way) + ends[1] * way)
    assert cost.seconds(128, past) == pytest.approx(2 * cost.seconds(64, past))


@FAST
@given(COSTS, PAST, st.integers(1, 80))
def test_padding_is_to_a_measured_size_that_costs_clearly_less(
    cost: ForwardCost, past: int, tokens: int
) -> None:
    size = cost.cheapest_size(tokens, past)
    plain = cost.seconds(tokens, past)
    offered = [
        s for s in SIZES if tokens < s <= 4 * tokens and cost.seconds(s, past) < 0.97 * plain
    ]
    if size == tokens:
        assert not offered
    else:
        assert size in offered
        assert cost.seconds(size, past) <= min(cost.seconds(s, past) for s in offered)


@FAST
@given(COSTS, PAST, st.integers(1, 70))
def test_the_curve_is_what_the_forwards_that_will_be_run_cost(
    cost: ForwardCost, past: int, most: int
) -> None:
    expected = [
        cost.seconds(cost.cheapest_size(tokens, past), past) for tokens in range(1, most + 1)
    ]
    assert cost.curve(most, past) == pytest.approx(expected)


def flat() -> ForwardCost:
    return ForwardCost([0.01] * len(SIZES), [1e-6] * len(SIZES))


def test_a_run_corrects_the_cost_towards_what_it_sees() -> None:
    cost = flat()
    for _ in range(200):
        cost.observe(8, 1000, 0.02)
    assert cost.seconds(8, 1000) == pytest.approx(0.02, rel=0.02)
    assert cost.seconds(4, 1000) == cost.seconds(16, 1000) == pytest.approx(0.011)


@pytest.mark.parametrize("seconds", [0.0, 0.003, 0.04, 5.0])
def test_a_forward_far_from_all_others_changes_nothing(seconds: float) -> None:
    cost = flat()
    for size in SIZES:
        cost.observe(size, 0, seconds)
    assert cost.base == [0.01] * len(SIZES)


def test_one_forward_moves_the_cost_only_a_little_and_only_at_its_size() -> None:
    cost = flat()
    cost.observe(16, 0, 0.025)
    cost.observe(17, 0, 0.025)
    moved = [abs(base - 0.01) for base in cost.base]
    assert 0 < moved[SIZES.index(16)] < 0.001
    assert sum(moved) == moved[SIZES.index(16)]


@pytest.mark.parametrize(
    ("base", "slope"),
    [([1.0], [0.0]), ([1.0] * 7, [0.0] * 6), ([0.0] * 7, [0.0] * 7), ([1.0] * 7, [-1.0] * 7)],
)
def test_a_cost_that_cannot_be_is_refused(base: list[float], slope: list[float]) -> None:
    with pytest.raises(ValueError, match=r"sizes|costs time"):
        ForwardCost(base, slope)


def test_measuring_finds_the_machines_cost_whatever_disturbs_it() -> None:
    """A made-up machine, now and then disturbed; its first forward takes long."""
    asked = itertools.count()

    def seconds(tokens: int, past: int) -> float:
        disturbed = 5.0 if next(asked) % 7 == 0 else 1.0
        return (0.01 + 0.002 * tokens + 1e-6 * past * (1 + (tokens - 1) / 15)) * disturbed

    cost = measure(seconds, budget=5.0)
    for size in SIZES:
        near = 0.01 + 0.002 * size + 1e-6 * PASTS[0] * (1 + (size - 1) / 15)
        assert cost.base[SIZES.index(size)] == pytest.approx(near)
    assert cost.slope[SIZES.index(1)] == pytest.approx(1e-6)
    assert cost.slope[SIZES.index(16)] == pytest.approx(2e-6)
    assert cost.slope == sorted(cost.slope)


@pytest.mark.parametrize("context", [1, 64, 100, 1000, 4096])
def test_no_forward_is_measured_behind_more_than_the_context_holds(context: int) -> None:
    asked = []
    cost = measure(lambda *size: asked.append(size) or 0.5, budget=0.0, context=context)
    assert {tokens for tokens, _ in asked} == set(SIZES)
    assert all(past == 0 or past + SIZES[-1] <= context for _, past in asked)
    assert cost.slope == [0.0] * len(SIZES)


def test_measuring_asks_for_every_size_however_slow_the_machine_is() -> None:
    asked = []
    measure(lambda tokens, past: asked.append((tokens, past)) or 0.5, budget=0.0)
    assert {tokens for tokens, _ in asked} == set(SIZES)
    assert {past for _, past in asked} == set(PASTS)
    assert len(asked) <= len(SIZES) + 5
