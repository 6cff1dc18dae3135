"""The lanes there are: which drafter each runs with. The only place that names them all."""

from __future__ import annotations

from collections.abc import Callable

from engine.capacity import Auto, Capacity, Fixed
from engine.cost import ForwardCost
from engine.drafter import Drafter, NoDraft
from racer import Racer

LANES: dict[str, Callable[[bool], Drafter]] = {
    "vanilla": lambda auto: NoDraft(),
    "racer": lambda auto: Racer(likeliest=auto),
    "racer-retrieval": lambda auto: Racer(logits=False),
    "racer-logits": lambda auto: Racer(retrieval=False, likeliest=auto),
}
"""A fresh drafter of each lane, given whether its capacity is chosen by what pays.

A fixed capacity gives the paper's own tree. No state outlives a run.
"""

DEFAULT_LANES = ("vanilla", "racer")


def capacity_of(lane: str, asked: str, cost: ForwardCost) -> Capacity:
    """The draft capacity of `lane`: what was asked for; the vanilla lane drafts nothing.

    Raises ValueError for anything but "auto" or a number of nodes.
    """
    if lane == "vanilla":
        return Fixed(1)
    return Auto(cost) if asked == "auto" else Fixed(int(asked))
