"""What a draft of the answer proposes for the answer itself: its beginning, then its spans.

Source: SSR (arXiv 2608.20359), verification and suffix recovery. The guess that a draft
goes on behind one wrong token, and the second-best span, are this project's.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.tree import PREFIX, SUFFIX, DraftTree
from ssr.suffix_cache import SuffixCache

_PREFIX_SHARE = 0.95
# Misses in a row after which the place in the draft is no longer believed.
_LOST = 3
_KEPT = 64
# Tokens of a second span.
_ASIDE = 4


class Reuse:
    """Follows a text and proposes how the drafts in `cache` would continue it.

    draft: proposed from the text's first token on, for as long as the text agrees.
    prefix, suffix: switch one half off, for an ablation.
    """

    def __init__(
        self,
        cache: SuffixCache,
        draft: Sequence[int] = (),
        *,
        prefix: bool = True,
        suffix: bool = True,
    ) -> None:
        self._cache = cache
        self._draft = list(draft)
        self._prefix = prefix
        self._suffix = suffix
        self._tail: list[int] = []
        self._count = 0
        self._agrees = True
        # Where the newest draft should go on, and how often in a row it did not.
        self._place = cache.newest[0]
        # Where the draft's beginning is not to be proposed, a match has to find a place first.
        self._misses = 0 if prefix else _LOST + 1

    def observe(self, tokens: Sequence[int]) -> None:
        """Text that is now committed."""
        for token in tokens:
            if self._agrees:
                self._agrees = self._count < len(self._draft) and self._draft[self._count] == token
            expected = self._cache.following(self._place, 1)
            self._misses = 0 if expected and expected[0] == token else self._misses + 1
            self._place += 1
            self._count += 1
        self._tail = (self._tail + list(tokens))[-_KEPT:]

    def fill(self, tree: DraftTree, capacity: int) -> None:
        """Grow `tree` by what the drafts say follows, up to `capacity` nodes."""
        room = capacity - len(tree)
        if room < 1:
            return
        if self._prefix and self._agrees and self._count < len(self._draft):
            chain = self._draft[self._count : self._count + room]
            _add(tree, chain, PREFIX, _PREFIX_SHARE, 0)
        elif self._suffix:
            self._recover(tree, room)

    def _recover(self, tree: DraftTree, room: int) -> None:
        """The likeliest continuation; beside it a few tokens of another that differs."""
        spans = self._spans()
        if not spans:
            return
        (place, share), others = spans[0], spans[1:]
        chain = self._cache.following(place, room)
        for other, less in others if room >= 2 * _ASIDE else ():
            beside = self._cache.following(other, _ASIDE)
            if beside and chain and beside[0] != chain[0]:
                _add(tree, chain[: room - _ASIDE], SUFFIX, share, 0)
                _add(tree, beside, SUFFIX, less / 2, 1)
                return
        _add(tree, chain, SUFFIX, share, 0)

    def _spans(self) -> list[tuple[int, float]]:
        """Places from which the drafts may go on, the best first, and how sure each is alone."""
        matches = self._cache.matches(self._tail)
        longest = matches[0].length if matches else 0
        # Of equally long matches the one that keeps the place in the draft comes first.
        matches.sort(key=lambda match: (-match.length, abs(match.place - self._place)))
        spans = [(match.place, _share(match.length)) for match in matches]
        if longest >= 2:
            self._place, self._misses = matches[0].place, 0
        elif self._misses <= _LOST and self._cache.following(self._place, 1):
            # One token was another than drafted: perhaps the draft is right behind it. Surer
            # than it looks: a lone token that occurs in the draft says less than the place.
            spans.insert(0, (self._place, _share(0)))
        return spans


def _share(matched: int) -> float:
    """How sure a continuation is behind `matched` tokens that agree."""
    return 1.0 - 0.65 * 0.6**matched if matched < 8 else 0.99


def _add(tree: DraftTree, chain: Sequence[int], source: str, share: float, rank: int) -> None:
    """Draft a chain below the root."""
    node = 0
    for token in chain:
        node = tree.add(node, token, source, rank=rank, share=share)
