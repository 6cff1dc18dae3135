"""What a forward costs on this machine, by the number of tokens scored and the past.

Measured once at load and corrected by every forward of every run; read by whoever
decides how much drafting pays.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

SIZES = (1, 2, 4, 8, 16, 32, 64)
PASTS = (64, 2048)


class ForwardCost:
    """Seconds of a forward, interpolated over sizes and linear in the past.

    base[i]: seconds for SIZES[i] tokens with an empty past; slope[i]: more seconds a
    past token. Raises ValueError if a list does not fit SIZES or a cost is not positive.
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
        costs = self._costs(past)
        if tokens >= SIZES[-1]:
            return costs[-1] * tokens / SIZES[-1]
        for i, size in enumerate(SIZES):
            if tokens <= size:
                break
        if tokens == SIZES[i]:
            return costs[i]
        low, high = SIZES[i - 1], SIZES[i]
        return costs[i - 1] + (costs[i] - costs[i - 1]) * (tokens - low) / (high - low)

    def cheapest_size(self, tokens: int, past: int) -> int:
        """The size, `tokens` or more, whose forward costs least; a clear gain is asked for."""
        best, least = tokens, self.seconds(tokens, past) * 0.97
        for size in SIZES:
            if tokens < size <= 4 * tokens and self._costs(past)[SIZES.index(size)] < least:
                best, least = size, self.seconds(size, past)
        return best

    def curve(self, most: int, past: int) -> list[float]:
        """Seconds of the cheapest forward that scores 1, 2, … `most` tokens."""
        curve = [self.seconds(tokens, past) for tokens in range(1, most + 1)]
        ahead = self.seconds(most, past)
        for size in SIZES:
            if size > most:
                ahead = min(ahead, self.seconds(size, past))
        for i in range(most - 1, -1, -1):
            ahead = curve[i] = min(curve[i], ahead)
        return curve

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


def measure(forward: Callable[[int, int], None], budget: float = 2.5) -> ForwardCost:
    """Time `forward(tokens, past)` over SIZES and PASTS within about `budget` seconds.

    Rounds go over all sizes, so that a slow moment of the machine does not fall on
    one size alone; the median of a size's rounds counts.
    """
    near: dict[int, list[float]] = {size: [] for size in SIZES}
    began = time.perf_counter()
    forward(SIZES[-1], PASTS[0])
    far = {size: _timed(forward, size, PASTS[1]) for size in (1, 16)}
    while not near[SIZES[-1]] or time.perf_counter() - began < budget * 0.85:
        for size in SIZES:
            if near[size] and time.perf_counter() - began > budget:
                break
            near[size].append(_timed(forward, size, PASTS[0]))
    base = [median(near[size]) for size in SIZES]
    distance = PASTS[1] - PASTS[0]
    one, sixteen = (max(0.0, far[s] - base[SIZES.index(s)]) / distance for s in (1, 16))
    a_token = max(0.0, sixteen - one) / 15
    return ForwardCost(base, [one + a_token * (size - 1) for size in SIZES])


def _timed(forward: Callable[[int, int], None], tokens: int, past: int) -> float:
    began = time.perf_counter()
    forward(tokens, past)
    return time.perf_counter() - began
