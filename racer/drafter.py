"""RACER as a drafter: what retrieval proposes, filled up by the logits tree.

Source: RACER (arXiv 2604.14885), union of the two trees.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.tree import DraftTree
from racer.automaton import Automaton
from racer.logits_tree import SUCCESSORS, SuccessorTable, grow
from racer.retrieval import retrieve


class Racer:
    """Drafts from the n-grams of the text and from the logits of earlier positions.

    retrieval, logits: switch one half off for an ablation.
    Raises ValueError if both are off: that would be vanilla decoding under another name.
    """

    def __init__(self, *, retrieval: bool = True, logits: bool = True) -> None:
        if not (retrieval or logits):
            raise ValueError("RACER needs at least one of its halves")
        self.successors = SUCCESSORS if logits else 0
        self.automaton = Automaton() if retrieval else None
        self.table = SuccessorTable()

    def learn(self, tokens: Sequence[int], successors: Sequence[Sequence[int]]) -> None:
        """Remember the best successors of scored positions."""
        if self.successors:
            self.table.learn(tokens, successors)

    def observe(self, tokens: Sequence[int]) -> None:
        """Remember the n-grams of committed text."""
        if self.automaton is not None:
            self.automaton.observe(tokens)

    def propose(self, root: int, capacity: int) -> DraftTree:
        """The union of both trees: at most `capacity` nodes, root included."""
        tree = DraftTree(root)
        if self.automaton is not None:
            retrieve(tree, self.automaton, capacity)
        if self.successors:
            grow(tree, self.table, capacity)
        return tree
