"""A request is checked before anything runs: whatever is wrong is one sentence."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from engine.capacity import Auto, Fixed
from engine.cost import SIZES, ForwardCost
from engine.drafter import NoDraft, Speculator
from engine.errors import UserError
from slipstream.lanes import DEFAULT_LANES, LANES, SPECULATING, capacity_of, drafter_of
from slipstream.request import Bounds, Request
from ssr import Schedule

BAD: list[dict[str, Any]] = [
    {"prompt": ""},
    {"prompt": " \n\t "},
    {"lanes": ()},
    {"lanes": ("vanila",)},
    {"lanes": ("vanilla", "")},
    {"temperature": -0.1},
    {"temperature": 5.1},
    {"temperature": math.nan},
    {"temperature": math.inf},
    {"top_p": 0.0},
    {"top_p": -1.0},
    {"top_p": 1.01},
    {"top_p": math.nan},
    {"top_k": -1},
    {"seed": -1},
    {"seed": 1 << 63},
    {"max_new_tokens": 0},
    {"max_new_tokens": -5},
    {"capacity": ""},
    {"capacity": "many"},
    {"capacity": "0"},
    {"capacity": "-8"},
    {"capacity": "8.5"},
    {"capacity": "257"},
    {"capacity": "²"},
    {"think": "maybe"},
    {"think": ""},
    {"thinking_budget": 0},
    {"draft_at": 0},
    {"draft_length": 0},
    {"draft_every": -1},
]


def request(**values: Any) -> Request:
    return Request(**{"prompt": "Hello", **values})


@pytest.mark.parametrize("values", BAD, ids=str)
def test_what_cannot_be_run_is_refused_in_one_sentence(values: dict[str, Any]) -> None:
    with pytest.raises(UserError) as raised:
        request(**values).checked(Bounds())
    message = str(raised.value)
    assert message.endswith(".")
    assert message[0].isupper()
    assert "\n" not in message
    assert ". " not in message


@pytest.mark.parametrize(
    "values",
    [
        {}, {"temperature": 5.0}, {"top_p": 1e-9}, {"seed": (1 << 63) - 1}, {"top_k": 10**6},
        {"capacity": "1"}, {"capacity": "256"}, {"lanes": tuple(LANES)}, {"prompt": "한"},
        {"think": "on"}, {"think": "off"}, {"draft_every": 0}, {"draft_at": 10**6},
    ],
    ids=str,
)  # fmt: skip
def test_what_can_be_run_stays_as_asked(values: dict[str, Any]) -> None:
    asked = request(**values)
    assert asked.checked(Bounds()) == asked


def test_a_lane_named_twice_runs_once_in_the_order_asked() -> None:
    asked = request(lanes=("racer", "vanilla", "racer"))
    assert asked.checked(Bounds()).lanes == ("racer", "vanilla")


def test_no_more_is_written_than_the_host_allows() -> None:
    assert request(max_new_tokens=10**9).checked(Bounds(new_tokens=77)).max_new_tokens == 77
    assert request(max_new_tokens=5).checked(Bounds(new_tokens=77)).max_new_tokens == 5
    assert request(thinking_budget=10**9).checked(Bounds(thinking=88)).thinking_budget == 88
    assert request(thinking_budget=5).checked(Bounds(thinking=88)).thinking_budget == 5


@pytest.mark.parametrize("lane", LANES)
def test_a_model_thinks_by_itself_or_for_a_lane_that_drafts_meanwhile(lane: str) -> None:
    drafts = isinstance(LANES[lane](True, Schedule(1)), Speculator)
    asked = request(lanes=("vanilla", lane))
    assert asked.thinks(native=True)
    assert asked.thinks(native=False) == drafts == (lane in SPECULATING)
    for native in (True, False):
        assert request(lanes=("ssr",), think="on").thinks(native)
        assert not request(lanes=("ssr",), think="off").thinks(native)


def test_the_draft_points_are_those_asked_for() -> None:
    asked = request(draft_at=7, draft_every=3, draft_length=11)
    assert asked.schedule == Schedule(7, 3, 11)
    assert drafter_of("racer+ssr", "auto", asked.schedule).schedule == asked.schedule  # type: ignore[attr-defined]


def test_bounds_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAX_MAX_NEW_TOKENS", "DEFAULT_MAX_NEW_TOKENS", "MAX_INPUT_TOKEN_LENGTH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("MAX_LANE_SECONDS", raising=False)
    monkeypatch.delenv("MAX_THINKING_TOKENS", raising=False)
    assert Bounds.from_environment() == Bounds()
    monkeypatch.setenv("MAX_MAX_NEW_TOKENS", "100")
    monkeypatch.setenv("MAX_INPUT_TOKEN_LENGTH", "50")
    monkeypatch.setenv("MAX_LANE_SECONDS", "30")
    monkeypatch.setenv("MAX_THINKING_TOKENS", "70")
    assert Bounds.from_environment() == Bounds(100, 100, 50, 70, 30)


@pytest.mark.parametrize("value", ["", "none", "-5", "0", "1.5", " "])
def test_nonsense_in_the_environment_changes_nothing(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "MAX_MAX_NEW_TOKENS", "DEFAULT_MAX_NEW_TOKENS", "MAX_LANE_SECONDS", "MAX_THINKING_TOKENS",
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MAX_INPUT_TOKEN_LENGTH", raising=False)
    assert Bounds.from_environment() == Bounds()


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("auto", [True, False])
def test_each_lane_starts_with_a_drafter_of_its_own(lane: str, auto: bool) -> None:
    schedule = Schedule(64, 64)
    first, second = LANES[lane](auto, schedule), LANES[lane](auto, schedule)
    assert first is not second
    assert len(first.propose(3, 64)) == 1, "cold"


def test_the_vanilla_lane_drafts_nothing_whatever_is_asked() -> None:
    cost = ForwardCost([0.1] * len(SIZES), [0.0] * len(SIZES))
    assert isinstance(LANES["vanilla"](True, Schedule(1)), NoDraft)
    for asked in ("auto", "64"):
        assert capacity_of("vanilla", asked, cost).most() == 1
    assert isinstance(capacity_of("racer", "auto", cost), Auto)
    fixed = capacity_of("racer", "24", cost)
    assert isinstance(fixed, Fixed)
    assert fixed.most() == 24
    assert set(DEFAULT_LANES) <= set(LANES)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"prompt": None}, "prompt"),
        ({"lanes": 3}, "lanes"),
        ({"max_new_tokens": "3"}, "max_new_tokens"),
        ({"max_new_tokens": 2.5}, "max_new_tokens"),
        ({"top_k": 1.5}, "top_k"),
        ({"draft_length": True}, "draft_length"),
        ({"temperature": "hot"}, "temperature"),
    ],
)
def test_what_is_of_another_kind_is_refused_in_a_sentence(
    change: dict[str, Any], word: str
) -> None:
    with pytest.raises(UserError, match=word):
        replace(Request("Hi."), **change).checked(Bounds())


def test_a_single_lane_and_a_number_of_nodes_may_be_given_plainly() -> None:
    request = replace(Request("Hi."), lanes="vanilla", capacity=8).checked(Bounds())  # type: ignore[arg-type]
    assert (request.lanes, request.capacity) == (("vanilla",), "8")
