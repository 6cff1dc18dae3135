"""What a forward costs on this machine, by the number of tokens scored and the past.

Measured once at load and corrected by every forward of every run; read by whoever
decides how much drafting pays.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections.abc import Callable

SIZES = (1, 2, 4, 8, 16, 32, 64)
PASTS = (64, 2048)
_FAR_SIZES = (1, 16)
_MOST_ROUNDS = 25
_CLEAR = 0.97  # a larger forward has to cost this much less, or the gain is noise


class ForwardCost:
    """Seconds of a forward, interpolated over sizes and linear in the past.

    base[i]: seconds for SIZES[i] tokens with an empty past (or nearly so); slope[i]: more
    seconds a past token. Raises ValueError if a list does not fit SIZES or a cost is not positive.
    """

    def __init__(self, base: list[float], slope: list[float]) -> None:
        if len(base) != len(SIZES) or len(slope) != len(SIZES):
            raise ValueError(f"a cost needs {len(SIZES)} sizes")
        if min(base) <= 0 or min(slope) < 0:
            raise ValueError("a forward costs time, and no less with a longer past")
        self.base = list(base)
        self.slope = list(slope)

    def seconds(self, tokens: int, past: int) -> float:
        """Expected seconds of a forward of exactly `tokens` tokens."""
        return _between(self._costs(past), tokens)

    def cheapest_size(self, tokens: int, past: int) -> int:
        """The size, `tokens` or more, whose forward costs least; a clear gain is asked for."""
        return _cheapest(self._costs(past), tokens)[0]

    def curve(self, most: int, past: int) -> list[float]:
        """Seconds of the forwards that score 1, 2, … `most` tokens, padded if that is cheaper."""
        costs = self._costs(past)
        return [_cheapest(costs, tokens)[1] for tokens in range(1, most + 1)]

    def observe(self, tokens: int, past: int, seconds: float) -> None:
        """Correct the cost of a measured size by one forward seen in a run."""
        if tokens not in SIZES:
            return
        i = SIZES.index(tokens)
        expected = self.base[i] + self.slope[i] * past
        # A forward that was interrupted says nothing about the next one.
        if 0.3 < seconds / expected < 3:
            self.base[i] *= 1 + 0.05 * (seconds / expected - 1)

    def _costs(self, past: int) -> list[float]:
        return [b + s * past for b, s in zip(self.base, self.slope, strict=True)]


def _between(costs: list[float], tokens: int) -> float:
    """Seconds for `tokens`, on the straight line between the sizes around it."""
    if tokens >= SIZES[-1]:
        return costs[-1] * tokens / SIZES[-1]
    i = bisect_left(SIZES, tokens)
    if tokens == SIZES[i]:
        return costs[i]
    low, high = SIZES[i - 1], SIZES[i]
    return costs[i - 1] + (costs[i] - costs[i - 1]) * (tokens - low) / (high - low)


def _cheapest(costs: list[float], tokens: int) -> tuple[int, float]:
    """The size to run `tokens` at, and its seconds: no more than four times as many."""
    best, least = tokens, _between(costs, tokens)
    for i in range(bisect_left(SIZES, tokens + 1), len(SIZES)):
        if SIZES[i] > 4 * tokens:
            break
        if costs[i] < (_CLEAR * least if best == tokens else least):
            best, least = SIZES[i], costs[i]
    return best, least


def measure(
    seconds: Callable[[int, int], float], budget: float = 2.5, context: int = PASTS[1] + SIZES[-1]
) -> ForwardCost:
    """Ask `seconds(tokens, past)` over SIZES and PASTS within about `budget` seconds.

    context: positions there are; none behind them is asked for, where a model may have none.

    Rounds go over all sizes, so that a slow moment of the machine does not fall on
    one size alone. The best of a size's rounds counts: what disturbs a forward only
    ever makes it slower.
    """
    near: dict[int, float] = {}
    far: dict[int, float] = {}
    near_past, far_past = (min(past, max(0, context - SIZES[-1])) for past in PASTS)
    began = time.perf_counter()
    seconds(SIZES[-1], near_past)
    for round_ in range(_MOST_ROUNDS):
        for size in SIZES:
            if size in near and time.perf_counter() - began > budget:
                break
            near[size] = min(seconds(size, near_past), near.get(size, math.inf))
            if round_ < 2 and size in _FAR_SIZES:
                far[size] = min(seconds(size, far_past), far.get(size, math.inf))
    distance = max(1, far_past - near_past)
    low, high = (max(0.0, far[size] - near[size]) / distance for size in _FAR_SIZES)
    a_token = max(0.0, high - low) / (_FAR_SIZES[1] - _FAR_SIZES[0])
    return ForwardCost(
        [near[size] for size in SIZES], [low + a_token * (size - 1) for size in SIZES]
    )
