"""The successor table ("copy-logit") and the tree it spells. Ids only.

Source: RACER (arXiv 2604.14885), logits tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.tree import LOGITS, DraftTree

SUCCESSORS = 8
"""Best successors remembered for each vocabulary id."""


class SuccessorTable:
    """For each token the best successor ids after its most recent scoring.

    Bounded by the vocabulary: one row of at most eight ids a token.
    """

    def __init__(self) -> None:
        self._rows: dict[int, Sequence[int]] = {}

    def learn(self, tokens: Sequence[int], successors: Sequence[Sequence[int]]) -> None:
        """Remember the best ids after each of `tokens`; of two rows for one token the later."""
        self._rows.update(zip(tokens, successors, strict=True))

    def after(self, token: int) -> Sequence[int]:
        """Best successors of `token`, best first; empty if it was never scored."""
        return self._rows.get(token, ())

    def __len__(self) -> int:
        return len(self._rows)


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
            for j, token in enumerate(table.after(tree.tokens[node])[:width]):
                child = tree.add(node, token, LOGITS, rank=j)
                below.append((child, max(1, width >> (j + deeper))))
                if len(tree) >= capacity:
                    return
        level = below
