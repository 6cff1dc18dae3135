"""What trials say of a lane beside another one: time saved, tokens reused.

Time is compared on identical runs alone: another text is another piece of work.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean

from benchmarks.lanes import of_lane
from benchmarks.trial import Trial


def saved(found: Sequence[Trial], lane: str, over: str = "vanilla") -> float | None:
    """Share of the seconds of `over` that `lane` saves, all identical runs together."""
    pairs = _pairs(found, lane, over)
    theirs = sum(before for before, _ in pairs)
    return 1 - sum(after for _, after in pairs) / theirs if theirs else None


def speed_up(found: Sequence[Trial], lane: str, over: str = "vanilla") -> float | None:
    """Geometric mean over the identical runs of how much sooner `lane` is done."""
    pairs = _pairs(found, lane, over)
    return geometric_mean(before / after for before, after in pairs) if pairs else None


def reused(own: Sequence[Trial]) -> tuple[float, float]:
    """Shares of the answers' tokens that were a draft's beginning, and recovered from one."""
    tokens = max(1, sum(trial.answer for trial in own))
    return sum(trial.prefix for trial in own) / tokens, sum(trial.suffix for trial in own) / tokens


def covered(own: Sequence[Trial]) -> float:
    """Share of the answers' tokens that came out of a draft, either way."""
    return sum(reused(own))


def _pairs(found: Sequence[Trial], lane: str, over: str) -> list[tuple[float, float]]:
    """Seconds of `over` and of `lane` on each question on which `lane` wrote the same text."""
    theirs = {trial.question: trial.seconds for trial in of_lane(found, over)}
    return [
        (theirs[trial.question], trial.seconds)
        for trial in of_lane(found, lane)
        if trial.identical and trial.question in theirs
    ]
