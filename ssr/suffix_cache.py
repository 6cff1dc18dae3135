"""Drafts of the answer, searchable by what a text ends with. Ids only; bounded.

Source: SSR (arXiv 2608.20359), suffix recovery; the index is this project's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST = 32
"""Tokens of a match that are counted; more would not make it surer."""

_LOOKED_AT = 24


@dataclass(frozen=True, slots=True)
class Match:
    """The text ends with `length` tokens of a draft; `place` is where that draft goes on."""

    length: int
    place: int


class SuffixCache:
    """The newest drafts, at most `size` tokens of them together, the oldest forgotten first.

    A place is counted from the first token ever stored, with one more behind each draft, so
    it stays right when older drafts are forgotten. The newest draft is kept even if it is
    longer than `size`.
    Raises ValueError for a size below 1.
    """

    def __init__(self, size: int = 4096) -> None:
        if size < 1:
            raise ValueError(f"a suffix cache of {size} tokens")
        self._size = size
        self._drafts: deque[tuple[int, list[int]]] = deque()
        self._tokens = 0
        self._stored = 0
        # For two tokens in a row, and for one, the places behind them, in rising order.
        self._behind: dict[tuple[int, ...], deque[int]] = {}

    def __len__(self) -> int:
        return self._stored

    @property
    def newest(self) -> tuple[int, Sequence[int]]:
        """Place of the first token of the newest draft, and that draft; empty if none."""
        return self._drafts[-1] if self._drafts else (0, [])

    def add(self, draft: Sequence[int]) -> None:
        """Store a draft as the newest."""
        if not draft:
            return
        start, tokens = self._tokens, list(draft)
        self._drafts.append((start, tokens))
        self._tokens += len(tokens) + 1  # the place behind the last one is nobody else's
        self._stored += len(tokens)
        for key, place in _keys(start, tokens):
            self._behind.setdefault(key, deque()).append(place)
        while self._stored > self._size and len(self._drafts) > 1:
            self._forget()

    def _forget(self) -> None:
        start, tokens = self._drafts.popleft()
        self._stored -= len(tokens)
        for key, _ in _keys(start, tokens):
            places = self._behind[key]
            places.popleft()  # the oldest draft has the lowest places of every key
            if not places:
                del self._behind[key]

    def matches(self, text: Sequence[int]) -> list[Match]:
        """Where the drafts go on behind the end of `text`, the longest match first.

        Of equally long ones the newest first. One token alone is a match, too, where there
        is no longer one. At most a few are looked at, the newest.
        """
        for width in (2, 1):
            if len(text) < width:
                continue
            places = self._behind.get(tuple(text[-width:]))
            if places:
                newest = [places[-1 - i] for i in range(min(_LOOKED_AT, len(places)))]
                found = [Match(self._length(text, place), place) for place in newest]
                return sorted(found, key=lambda match: (-match.length, -match.place))
        return []

    def following(self, place: int, most: int) -> Sequence[int]:
        """At most `most` tokens of the draft that `place` lies in, from there on."""
        start, tokens = self._around(place)
        return tokens[place - start : place - start + most]

    def _length(self, text: Sequence[int], place: int) -> int:
        """Tokens before `place` that are the end of `text`, LONGEST at most."""
        start, tokens = self._around(place)
        at, length = place - start, 0
        most = min(at, len(text), LONGEST)
        while length < most and text[-1 - length] == tokens[at - 1 - length]:
            length += 1
        return length

    def _around(self, place: int) -> tuple[int, list[int]]:
        """The draft that `place` lies in, or right behind: its first place, its tokens."""
        for start, tokens in reversed(self._drafts):
            if place >= start:
                return start, tokens
        return place, []


def _keys(start: int, tokens: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """The index entries of a draft: what stands before a place, and the place."""
    for i in range(1, len(tokens)):
        yield (tokens[i - 1],), start + i
        if i > 1:
            yield (tokens[i - 2], tokens[i - 1]), start + i
