"""Whether a text has fallen into a loop: there any lookup wins, so it is counted apart."""

from __future__ import annotations

from collections.abc import Sequence

WINDOW = 60
PERIOD = 40


def repeats(tokens: Sequence[int], window: int = WINDOW, period: int = PERIOD) -> bool:
    """Whether the last `window` tokens repeat with a period of at most `period`."""
    tail = list(tokens[-window:])
    if len(tail) < window:
        return False
    return any(
        all(tail[i] == tail[i + shift] for i in range(window - shift))
        for shift in range(1, period + 1)
    )
