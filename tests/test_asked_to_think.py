"""A model that was only asked to think and ends its turn in the middle of it comes to answer."""

from __future__ import annotations

from typing import Any

import pytest

from engine.capacity import Fixed
from engine.drafter import Drafter, NoDraft
from engine.events import Phase
from engine.loop import Limit, Written, decode
from engine.phases import REASONING, Markers, Phases
from engine.sampling import Sampler
from engine.target import Target
from engine.text import TextPieces
from racer import Racer
from ssr import SSR, Schedule
from tests.reference import plain_logits, sampled
from tests.tiny import BYTES, fresh

PROMPT = [3, 4, 8, 1, 9]
MARKER = (5, 9)
EOS = 12
MARKERS = Markers(b"<", BYTES[5] + BYTES[9], MARKER, (MARKER, (9,)))


@pytest.fixture(scope="module")
def hasty() -> Any:
    """A model that is inclined to end its turn soon."""
    model = fresh("llama", seed=3)
    head = model.lm_head.weight
    head[EOS] = head.mean(dim=0) + 0.6 * head[EOS]
    return model


def plainly(model: Any, temperature: float, seed: int, budget: int, answer: int) -> list[int]:
    """The rule spelled out: an end in the thinking becomes the closing marker."""
    choosers = {
        phase: sampled(temperature, seed=seed, phase=phase) for phase in ("reasoning", "answer")
    }
    text: list[int] = []
    spent = 0
    while spent < budget:
        token = choosers["reasoning"](plain_logits(model, [*PROMPT, *text]), spent)
        if token == EOS:
            break
        text.append(token)
        spent += 1
        if tuple(text[-2:]) == MARKER:
            break
    if tuple(text[-2:]) != MARKER:
        text += MARKER[1:] if text and text[-1] == MARKER[0] else MARKER
    for index in range(answer):
        text.append(choosers["answer"](plain_logits(model, [*PROMPT, *text]), index))
        if text[-1] == EOS:
            break
    return text


@pytest.mark.parametrize("seed", range(12))
def test_an_end_in_the_thinking_closes_it_in_every_lane(hasty: Any, seed: int) -> None:
    phases = Phases(list(BYTES), MARKERS, REASONING, 30, frozenset({EOS}))
    expected = plainly(hasty, 1.3, seed, 30, 25)
    drafters: list[Drafter] = [
        NoDraft(), Racer(), SSR(Schedule(2, 3, 9)), SSR(Schedule(4), Racer(likeliest=True)),
    ]  # fmt: skip
    for drafter in drafters:
        written = Written()
        events = list(
            decode(
                "x", Target(hasty), drafter, Sampler(1.3, seed=seed), PROMPT,
                Limit(25, 400, frozenset({EOS})), Fixed(8), TextPieces(list(BYTES), phases),
                written, phases,
            )
        )  # fmt: skip
        assert written.tokens == expected, type(drafter)
        closed = [event for event in events if isinstance(event, Phase)][-1]
        assert closed.phase == "answer"
        thinking = closed.at + 1
        assert closed.by == ("budget" if thinking > 30 else "model")


def test_the_ends_come_in_the_thinking_at_all(hasty: Any) -> None:
    lengths = [len(plainly(hasty, 1.3, seed, 30, 1)) for seed in range(12)]
    assert sum(length < 33 for length in lengths) >= 4
