"""What was measured, lane by lane."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar


class OfLane(Protocol):
    """Anything that was measured on one lane."""

    lane: str


Measured = TypeVar("Measured", bound=OfLane)


def lanes_of(found: Iterable[OfLane]) -> list[str]:
    """The lanes in `found`, each once, in the order in which they come."""
    return list(dict.fromkeys(each.lane for each in found))


def of_lane(found: Iterable[Measured], lane: str) -> list[Measured]:
    """What was measured on `lane`."""
    return [each for each in found if each.lane == lane]
