"""A race of lanes that think, as it is recorded: what it says of itself is true at every line."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.capacity import Fixed
from engine.drafter import Drafter, NoDraft
from engine.events import Compare, Draft, Run, Step, Verify
from engine.loop import Limit, Written, decode
from engine.phases import REASONING, Markers, Phases
from engine.race import Lane, race
from engine.record import load, save
from engine.sampling import Sampler
from engine.target import Target
from engine.text import TextPieces
from racer import Racer
from ssr import SSR, Schedule
from tests.tiny import BYTES, tiny

PROMPT = [3, 4, 8, 1, 9, 22, 7]
MARKERS = Markers(b"<", BYTES[5] + BYTES[9], (5, 9), ((5, 9), (9,)))


def lanes(budget: int, schedule: Schedule) -> list[Lane]:
    """Four lanes on one tiny model, closed by the budget."""
    phases = Phases(list(BYTES), MARKERS, REASONING, budget)
    drafters: dict[str, Drafter] = {
        "vanilla": NoDraft(),
        "racer": Racer(likeliest=True),
        "ssr": SSR(schedule),
        "racer+ssr": SSR(schedule, Racer(likeliest=True)),
    }
    made = []
    for key, drafter in drafters.items():
        written = Written()
        events = decode(
            key, Target(tiny("llama")), drafter, Sampler(0.7, seed=budget), PROMPT,
            Limit(30, 400), Fixed(8), TextPieces(list(BYTES), phases), written, phases,
        )  # fmt: skip
        made.append(Lane(key, events, written))
    return made


@pytest.mark.parametrize("budget", range(10, 50, 3))
def test_a_recorded_race_can_be_loaded_and_no_comparison_runs_ahead_of_the_steps(
    budget: int, tmp_path: Path
) -> None:
    made = lanes(budget, Schedule(4, 5, 12))
    run = Run(
        "i", "d", "p", len(PROMPT), 0, tuple({"key": lane.key, "capacity": "8"} for lane in made),
        {}, {}, {},
    )  # fmt: skip
    events = [run, *race(made, TextPieces(list(BYTES)), 0.0)]
    told = dict.fromkeys((lane.key for lane in made), 0)
    for event in events:
        if isinstance(event, Step):
            told[event.lane] += len(event.tokens)
        elif isinstance(event, Compare):
            assert event.identical
            assert event.checked <= min(told[event.lane], told["vanilla"])
    save(tmp_path / "run.jsonl", events)
    assert load(tmp_path / "run.jsonl") == events


@pytest.mark.parametrize("budget", range(10, 50, 5))
def test_a_verdict_is_about_the_draft_that_it_names(budget: int) -> None:
    """Also where the newest draft had only repeated the beginning of the one before it."""
    drafts: dict[tuple[str, int], list[int]] = {}
    said = 0
    for event in race(lanes(budget, Schedule(3, 4, 9)), TextPieces(list(BYTES)), 0.0):
        if isinstance(event, Draft):
            drafts.setdefault((event.lane, event.id), []).extend(event.tokens)
        elif isinstance(event, Verify):
            said += 1
            assert len(drafts[event.lane, event.draft]) == event.length
    assert said == 2
