"""The check of a lane's answer: there for known tasks, true, once, and for whole answers only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from engine.events import Check, Event, Finish, Phase, Step
from slipstream.checked import checked
from training.tasks import FAMILIES, FRESH, Example

EXAMPLES = [FAMILIES[name].make(7, FRESH) for name in FAMILIES]


def lane(key: str, text: str, reason: str = "eos", thinking: str = "") -> Iterator[Event]:
    """A lane that writes thinking, then `text`, a word a token."""
    index = 0
    for phase, words in (("reasoning", thinking), ("answer", text)):
        if thinking:
            yield Phase(key, phase, index, "model")
        for word in words.splitlines(keepends=True):
            yield Step(
                lane=key, index=index, phase=phase, start=float(index), seconds=1.0, draft=0.0,
                forward=1.0, other=0.0, tokens=(1,), pieces=(word,), sources=("target",),
                drafted=0, accepted=0,
            )  # fmt: skip
            index += 1
    yield Finish(key, reason, {})


def checks(events: Iterator[Event], prompt: str) -> list[Check]:
    return [event for event in checked(events, prompt) if isinstance(event, Check)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.family)
def test_a_right_answer_is_right_whatever_was_thought(example: Example) -> None:
    events = lane("a", example.answer, thinking="Some 1 | 2 |\nthoughts\n")
    (check,) = checks(events, example.prompt)
    assert (check.lane, check.task, check.parsed, check.right) == ("a", example.family, True, True)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.family)
def test_the_answer_of_another_prompt_is_wrong_and_the_reason_says_so(example: Example) -> None:
    other = FAMILIES[example.family].make(8, FRESH)
    (check,) = checks(lane("a", other.answer), example.prompt)
    assert not check.right
    assert check.reason.endswith(".")


def test_the_events_themselves_pass_unchanged_and_the_check_follows_the_lanes_end() -> None:
    example = EXAMPLES[0]
    events = [*lane("a", example.answer), *lane("b", "no")]
    seen = list(checked(iter_of(events), example.prompt))
    assert [event for event in seen if not isinstance(event, Check)] == events
    places = [at for at, event in enumerate(seen) if isinstance(event, Check)]
    assert [(seen[at].lane, type(seen[at - 1])) for at in places] == [("a", Finish), ("b", Finish)]  # type: ignore[union-attr]
    assert [seen[at].right for at in places] == [True, False]  # type: ignore[union-attr]


def iter_of(events: Sequence[Event]) -> Iterator[Event]:
    yield from events


def test_lanes_are_told_apart_when_they_take_turns() -> None:
    example = EXAMPLES[0]
    right, wrong = (
        list(lane("a", example.answer)),
        list(lane("b", example.answer.rsplit("\n", 1)[0])),
    )
    mixed: list[Any] = []
    while right or wrong:
        mixed += right[:1] + wrong[:1]
        right, wrong = right[1:], wrong[1:]
    assert {check.lane: check.right for check in checks(iter_of(mixed), example.prompt)} == {
        "a": True,
        "b": False,
    }


@pytest.mark.parametrize("reason", ["stopped", "error", "deadline"])
def test_a_lane_that_was_broken_off_is_not_judged(reason: str) -> None:
    assert not checks(lane("a", EXAMPLES[0].answer, reason), EXAMPLES[0].prompt)


@pytest.mark.parametrize("reason", ["length", "context"])
def test_a_cut_answer_is_said_to_be_cut_unless_it_is_right(reason: str) -> None:
    example = EXAMPLES[0]
    cut = example.answer.rsplit("\n", 1)[0]
    (check,) = checks(lane("a", cut, reason), example.prompt)
    assert not check.right
    assert check.reason == "The answer was cut off at its limit."
    (check,) = checks(lane("a", example.answer, reason), example.prompt)
    assert check.right


def test_a_prompt_of_no_known_task_gets_no_check() -> None:
    events = list(lane("a", "blue"))
    assert list(checked(iter_of(events), "Name a colour.")) == events


@pytest.mark.parametrize("prompt", [EXAMPLES[0].prompt, "Name a colour."])
def test_closing_it_closes_the_race(prompt: str) -> None:
    closed = []

    def race() -> Iterator[Event]:
        try:
            yield from lane("a", "x")
        finally:
            closed.append(True)

    events = checked(race(), prompt)
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert closed == [True]
