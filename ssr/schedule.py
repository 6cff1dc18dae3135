"""When a draft of the answer is opened, and how long it may get."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """Draft points, in reasoning tokens.

    first: tokens of thinking before the first draft. every: a further draft after each so
    many more (iterative drafting); 0: only one. length: tokens of a draft at most.
    Raises ValueError for a draft without a point or a length.
    Source: SSR (arXiv 2608.20359); (500, once, 500), (750, 750, 500) and (500, 500, 250) are
    the paper's.
    """

    first: int
    every: int = 0
    length: int = 256

    def __post_init__(self) -> None:
        if self.first < 1 or self.every < 0 or self.length < 1:
            raise ValueError(
                f"no draft of {self.length} tokens after {self.first}, again every {self.every}"
            )

    def due(self, thinking: int) -> int:
        """How many draft points have been passed after `thinking` reasoning tokens."""
        if thinking < self.first:
            return 0
        return 1 + ((thinking - self.first) // self.every if self.every else 0)
