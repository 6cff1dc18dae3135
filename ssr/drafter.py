"""SSR as a drafter, alone or with another method beside it in both texts.

Source: SSR (arXiv 2608.20359). RACER + SSR, one drafter of both, is this project's.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.drafter import Remembering, TreeDrafter
from engine.tree import DraftTree
from ssr.reuse import Reuse
from ssr.schedule import Schedule
from ssr.suffix_cache import SuffixCache

# Of a tree that two methods share, so much is left to the drafts of the answer.
_REUSED = 0.75


class _Joined:
    """Reused drafts first, then another method if there is one beside."""

    def __init__(self, reuse: Reuse | None, beside: TreeDrafter | None) -> None:
        self.successors = 0 if beside is None else beside.successors
        self._reuse = reuse
        self._beside = beside

    @property
    def memory(self) -> tuple[int, int, int]:
        """What the other method remembers, if it does."""
        return self._beside.memory if isinstance(self._beside, Remembering) else (0, 0, 0)

    def learn(
        self,
        tokens: Sequence[int],
        successors: Sequence[Sequence[int]],
        shares: Sequence[Sequence[float]],
    ) -> None:
        """Scored positions teach the other method."""
        if self._beside is not None:
            self._beside.learn(tokens, successors, shares)

    def observe(self, tokens: Sequence[int]) -> None:
        """Committed text: what is reused follows it from the answer's first token on."""
        if self._beside is not None:
            self._beside.observe(tokens)
        if self._reuse is not None:
            self._reuse.observe(tokens)

    def propose(self, root: int, capacity: int) -> DraftTree:
        """What the drafts say; what room is left is the other method's."""
        tree = DraftTree(root)
        if self._reuse is not None:
            share = 1.0 if self._beside is None else _REUSED
            self._reuse.fill(tree, min(capacity, max(2, int(capacity * share))))
        if self._beside is not None:
            self._beside.fill(tree, capacity)
        return tree


class SSR(_Joined):
    """Has the answer drafted while the model thinks, and reuses the draft when it answers.

    beside: another method (RACER) that drafts in the thinking, in the branch and in the
    answer; None: the thinking is written token by token. prefix, suffix: switch one way of
    reusing drafts off, for an ablation. separate: each draft starts anew instead of
    checking and extending the last one.
    """

    def __init__(
        self,
        schedule: Schedule,
        beside: TreeDrafter | None = None,
        *,
        prefix: bool = True,
        suffix: bool = True,
        separate: bool = False,
    ) -> None:
        super().__init__(None, beside)
        self.schedule = schedule
        self.cache = SuffixCache()
        self._halves = {"prefix": prefix, "suffix": suffix}
        self._separate = separate
        self._opened = 0
        self._last: list[int] = []

    def opens(self, thinking: int) -> int:
        """A draft at each draft point; of several passed in one step the last."""
        due = self.schedule.due(thinking)
        if due <= self._opened:
            return 0
        self._opened = due
        return self.schedule.length

    def branch(self) -> _Joined:
        """A drafter that has the last draft checked and extended, and its spans recovered."""
        cache = SuffixCache() if self._separate else self.cache
        reuse = Reuse(cache, () if self._separate else self._last)
        return _Joined(reuse, None if self._beside is None else self._beside.beside())

    def written(self, draft: Sequence[int]) -> bool:
        """Keep a draft; one that only repeats the beginning of the last adds nothing."""
        if list(draft) == self._last[: len(draft)]:
            return False
        self.cache.add(draft)
        self._last = list(draft)
        return True

    def answer(self) -> Sequence[int]:
        """Thinking has ended: propose the last draft that was kept."""
        self._reuse = Reuse(self.cache, self._last, **self._halves)
        return self._last if self._halves["prefix"] else ()
