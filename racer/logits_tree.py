"""The successor table ("copy-logit") and the tree it spells. Ids only.

Source: RACER (arXiv 2604.14885), logits tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from engine.tree import LOGITS, DraftTree

SUCCESSORS = 8
"""Best successors remembered for each vocabulary id."""

# A successor seen after another text fits this one less often; deep chains of them rarely.
_FADE = 0.8
_DEEPEST = 8
# How much less a hint is worth than a successor.
_HINT = 0.15


Row = tuple[Sequence[int], Sequence[float]]
"""Best successors of a token, best first, and their shares."""

NOTHING: Row = ((), ())


class SuccessorTable:
    """For each token the best successor ids after its most recent scoring, and their shares.

    Bounded by the vocabulary: one row of at most eight ids a token.
    """

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}

    def learn(
        self,
        tokens: Sequence[int],
        successors: Sequence[Sequence[int]],
        shares: Sequence[Sequence[float]],
    ) -> None:
        """Remember the best ids after each of `tokens`; of two rows for one token the later."""
        self._rows.update(zip(tokens, zip(successors, shares, strict=True), strict=True))

    def after(self, token: int) -> Row:
        """Best successors of `token`, best first, and their shares; none if never scored."""
        return self._rows.get(token, NOTHING)

    def __len__(self) -> int:
        return len(self._rows)


def instead_of(token: int, last: Row) -> Row:
    """What else was likely where `token` was chosen: a guess for a token never scored.

    last: best successors where it was chosen, and their shares.
    Source: LogitSpec's observation that the last logits hint at the token after next.
    """
    ids, shares = last
    kept = [place for place, other in enumerate(ids) if other != token]
    return [ids[place] for place in kept], [shares[place] * _HINT for place in kept]


def grow(tree: DraftTree, table: SuccessorTable, capacity: int, breadth: int = SUCCESSORS) -> None:
    """Fill `tree` up to `capacity` nodes, breadth-first through the table.

    A node of breadth b drafts its b best successors; the j-th of them (best first,
    from 0) has breadth max(1, b >> (j + 1)), below the root max(1, b >> j).
    """
    level = [(0, breadth)]
    while level and len(tree) < capacity:
        below = []
        for node, width in level:
            deeper = node != 0
            for j, (token, share) in enumerate(_best(table, tree.tokens[node], width)):
                child = tree.add(node, token, LOGITS, rank=j, share=share)
                below.append((child, max(1, width >> (j + deeper))))
                if len(tree) >= capacity:
                    return
        level = below


def grow_likeliest(
    tree: DraftTree, table: SuccessorTable, capacity: int, last: Row = NOTHING
) -> None:
    """Fill `tree` up to `capacity` nodes, likeliest first by the shares along the path.

    last: what was likely where the root was chosen; looked at where nothing else is known.
    This project's, for every capacity but the paper's preset: where the model was sure the
    tree goes deep, where it was not it stays broad.
    """
    # Successors come best first, so of each node only the next best waits in the queue.
    queue: list[tuple[float, int, int, float]] = []  # -weight, parent, rank, base
    rows: dict[int, Row] = {}

    def offer(node: int, rank: int, base: float) -> None:
        ids, shares = rows[node]
        if rank < len(ids):
            heappush(queue, (-base * shares[rank], node, rank, base))

    rows[0] = table.after(tree.tokens[0])
    base = _FADE
    if not rows[0][0] and len(tree) == 1:
        rows[0], base = instead_of(tree.tokens[0], last), 1.0
    offer(0, 0, base)
    while queue and len(tree) < capacity:
        weight, node, rank, base = heappop(queue)
        ids, shares = rows[node]
        child = tree.add(node, ids[rank], LOGITS, rank=rank, share=shares[rank])
        offer(node, rank + 1, base)
        if tree.depths[child] < _DEEPEST:
            rows[child] = table.after(ids[rank])
            offer(child, 0, -weight * _FADE)


def _best(table: SuccessorTable, token: int, width: int) -> Iterator[tuple[int, float]]:
    ids, shares = table.after(token)
    return zip(ids[:width], shares, strict=False)
