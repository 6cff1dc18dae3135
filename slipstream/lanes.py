"""The lanes there are: which drafter each runs with. The only place that names them all."""

from __future__ import annotations

from collections.abc import Callable

from engine.capacity import PAPER_CAPACITY, Auto, Capacity, Fixed
from engine.cost import ForwardCost
from engine.drafter import Drafter, NoDraft
from racer import Racer

LANES: dict[str, Callable[[bool], Drafter]] = {
    "vanilla": lambda paper: NoDraft(),
    "racer": lambda paper: Racer(likeliest=not paper),
    "racer-retrieval": lambda paper: Racer(logits=False),
    "racer-logits": lambda paper: Racer(retrieval=False, likeliest=not paper),
}
"""A fresh drafter of each lane, given whether it is the paper's preset. No state outlives a run.

The paper's preset has the paper's breadths; otherwise the tree goes deep where the
model was sure.
"""

DEFAULT_LANES = ("vanilla", "racer")


def drafter_of(lane: str, asked: str) -> Drafter:
    """A fresh drafter of `lane` for the capacity asked for."""
    return LANES[lane](asked == str(PAPER_CAPACITY))


def capacity_of(lane: str, asked: str, cost: ForwardCost) -> Capacity:
    """The draft capacity of `lane`: what was asked for; the vanilla lane drafts nothing.

    Raises ValueError for anything but "auto" or a number of nodes.
    """
    if lane == "vanilla":
        return Fixed(1)
    return Auto(cost) if asked == "auto" else Fixed(int(asked))
