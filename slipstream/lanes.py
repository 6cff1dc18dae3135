"""The lanes there are: which drafter each runs with. The only place that names them all."""

from __future__ import annotations

from collections.abc import Callable

from engine.capacity import PAPER_CAPACITY, Auto, Capacity, Fixed
from engine.cost import ForwardCost
from engine.drafter import Drafter, NoDraft
from racer import Racer
from ssr import SSR, Schedule

LANES: dict[str, Callable[[bool, Schedule], Drafter]] = {
    "vanilla": lambda paper, schedule: NoDraft(),
    "racer": lambda paper, schedule: Racer(likeliest=not paper),
    "ssr": lambda paper, schedule: SSR(schedule),
    "racer+ssr": lambda paper, schedule: SSR(schedule, Racer(likeliest=not paper)),
    "racer-retrieval": lambda paper, schedule: Racer(logits=False),
    "racer-logits": lambda paper, schedule: Racer(retrieval=False, likeliest=not paper),
    "ssr-prefix": lambda paper, schedule: SSR(schedule, suffix=False),
    "ssr-suffix": lambda paper, schedule: SSR(schedule, prefix=False),
    "ssr-separate": lambda paper, schedule: SSR(schedule, separate=True),
}
"""A fresh drafter of each lane, given whether it is the paper's preset of RACER and when SSR
drafts. No state outlives a run.

RACER's preset has the paper's breadths; otherwise the tree goes deep where the model was
sure. The lanes below `racer+ssr` are halves of a method, for an ablation.
"""

DEFAULT_LANES = ("vanilla", "racer")
THINKING_LANES = (*DEFAULT_LANES, "ssr", "racer+ssr")
"""What the page offers at first: where the model thinks by itself, the lanes that use it."""

SPECULATING = frozenset(lane for lane in LANES if "ssr" in lane)
"""Lanes that draft the answer while the model thinks."""


def drafter_of(lane: str, asked: str, schedule: Schedule) -> Drafter:
    """A fresh drafter of `lane` for the capacity and the draft points asked for."""
    return LANES[lane](asked == str(PAPER_CAPACITY), schedule)


def capacity_of(lane: str, asked: str, cost: ForwardCost) -> Capacity:
    """The draft capacity of `lane`: what was asked for; the vanilla lane drafts nothing.

    Raises ValueError for anything but "auto" or a number of nodes.
    """
    if lane == "vanilla":
        return Fixed(1)
    return Auto(cost) if asked == "auto" else Fixed(int(asked))
