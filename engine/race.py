"""race(): several lanes on one device, each on its own clock, always the hindmost next."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from engine.events import REFERENCE, Compare, Event, Finish, LaneEvent, Prefill, Step
from engine.text import TextPieces
from engine.writing import Written

EVERY = 16
"""Tokens between two reports that a lane is still identical."""


@dataclass(slots=True)
class Lane:
    """A lane in a race: its events, what it has written, and its clock in seconds.

    told: tokens that its steps have announced; it may have written more by then.
    """

    key: str
    events: Generator[LaneEvent]
    written: Written
    clock: float = 0.0
    told: int = 0
    finish: Finish | None = None

    def token(self, place: int) -> int | None:
        """The announced token at `place`, None behind the last."""
        return self.written.tokens[place] if place < self.told else None

    def advance(self) -> LaneEvent:
        """The lane's next event."""
        event = next(self.events)
        if isinstance(event, Finish):
            self.finish = event
            self.events.close()  # its cache is free for the lanes that go on
        elif isinstance(event, Prefill):
            self.clock = event.seconds
        elif isinstance(event, Step):
            self.clock = event.start + event.seconds
            self.told += len(event.tokens)
        return event


@dataclass(slots=True)
class Comparison:
    """Holds one lane's ids against the reference lane's, as both grow."""

    lane: Lane
    reference: Lane
    text: TextPieces
    tolerance: float
    checked: int = 0
    first: int | None = None
    reported: int = 0
    closed: bool = False

    def report(self) -> Compare | None:
        """What is new to say, if anything."""
        if self.closed:
            return None
        known = self.first
        self._check()
        complete = self.lane.finish is not None and self.reference.finish is not None
        if not complete and self.first == known and self.checked - self.reported < EVERY:
            return None
        if not complete and known is not None:
            return None
        self.reported = self.checked
        self.closed = complete
        return self._compare(complete)

    def _check(self) -> None:
        mine, theirs = self.lane.written.tokens, self.reference.written.tokens
        both = min(self.lane.told, self.reference.told)
        while self.first is None and self.checked < both:
            if mine[self.checked] != theirs[self.checked]:
                self.first = self.checked
            else:
                self.checked += 1
        if self.first is None and self.lane.told != self.reference.told and self._ended_by_text():
            self.first = both

    def _ended_by_text(self) -> bool:
        """Whether both ended where their text did: a clock or an error cuts anywhere."""
        ends = (self.lane.finish, self.reference.finish)
        return all(end is not None and end.reason in ("eos", "length", "context") for end in ends)

    def _compare(self, complete: bool) -> Compare:
        if self.first is None:
            return Compare(self.lane.key, True, self.checked, complete)
        mine, theirs = self.lane.token(self.first), self.reference.token(self.first)
        gap = None if theirs is None else self.reference.written.gaps[self.first]
        if gap is not None and not math.isfinite(gap):
            gap = None  # one token alone passed the filters
        return Compare(
            self.lane.key,
            False,
            self.checked,
            complete,
            first=self.first,
            token=mine,
            piece="" if mine is None else self.text.label(mine),
            vanilla_token=theirs,
            vanilla_piece="" if theirs is None else self.text.label(theirs),
            gap=gap,
            tolerance=self.tolerance,
            tie=gap is not None and gap <= self.tolerance,
        )


def race(lanes: list[Lane], text: TextPieces, tolerance: float) -> Iterator[Event]:
    """Advance the lane whose clock is furthest behind until all have finished.

    So at any moment each lane shows what its method would have written by that time
    alone on the machine. `tolerance` is the rounding difference measured at load.
    Closing the generator closes every lane.
    """
    reference = next((lane for lane in lanes if lane.key == REFERENCE), None)
    comparisons = [
        Comparison(lane, reference, text, tolerance)
        for lane in lanes
        if reference is not None and lane is not reference
    ]
    try:
        while running := [lane for lane in lanes if lane.finish is None]:
            lane = min(running, key=lambda lane: lane.clock)
            yield lane.advance()
            for comparison in comparisons:
                if lane in (comparison.lane, comparison.reference) and (
                    news := comparison.report()
                ):
                    yield news
    finally:
        for lane in lanes:
            lane.events.close()
