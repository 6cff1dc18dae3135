"""RACER as a drafter: what retrieval proposes, filled up by the logits tree.

Source: RACER (arXiv 2604.14885), union of the two trees.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from engine.tree import DraftTree
from racer.automaton import Automaton, Gram
from racer.logits_tree import NOTHING, SUCCESSORS, Row, SuccessorTable, grow, grow_likeliest
from racer.retrieval import retrieve


class Racer:
    """Drafts from the n-grams of the text and from the logits of earlier positions.

    retrieval, logits: switch one half off for an ablation. likeliest: order the logits
    tree by how sure the model was, not by the paper's breadths, and let both
    halves offer half of the nodes.
    Raises ValueError if both are off: that would be vanilla decoding under another name.
    """

    def __init__(
        self, *, retrieval: bool = True, logits: bool = True, likeliest: bool = False
    ) -> None:
        if not (retrieval or logits):
            raise ValueError("RACER needs at least one of its halves")
        self.successors = SUCCESSORS if logits else 0
        self.automaton = Automaton() if retrieval else None
        self.table = SuccessorTable()
        self._likeliest = likeliest
        self._last: Row = NOTHING  # of this text, where the table may be shared with another

    @property
    def memory(self) -> tuple[int, int, int]:
        """N-grams held, n-grams forgotten, tokens with known successors."""
        grams = self.automaton
        return (
            0 if grams is None else len(grams),
            0 if grams is None else grams.evicted,
            len(self.table),
        )

    def learn(
        self,
        tokens: Sequence[int],
        successors: Sequence[Sequence[int]],
        shares: Sequence[Sequence[float]],
    ) -> None:
        """Remember the best successors of scored positions."""
        if self.successors and tokens:
            self.table.learn(tokens, successors, shares)
            self._last = (successors[-1], shares[-1])

    def observe(self, tokens: Sequence[int]) -> None:
        """Remember the n-grams of committed text."""
        if self.automaton is not None:
            self.automaton.observe(tokens)

    def propose(self, root: int, capacity: int) -> DraftTree:
        """The union of both trees: at most `capacity` nodes, root included."""
        tree = DraftTree(root)
        self.fill(tree, capacity)
        return tree

    def fill(self, tree: DraftTree, capacity: int) -> None:
        """Grow `tree` by the union of both trees up to `capacity` nodes, root included."""
        if self.automaton is not None:
            shared = self._likeliest and self.successors > 0
            room = capacity - len(tree) + 1
            most = len(tree) - 1 + ((room + 1) // 2 if shared else room)
            retrieve(tree, self._matches(self.automaton), most)
        if self.successors and self._likeliest:
            grow_likeliest(tree, self.table, capacity, self._last)
        elif self.successors:
            grow(tree, self.table, capacity)

    def _matches(self, automaton: Automaton) -> list[Gram]:
        return automaton.matches()

    def beside(self) -> Racer:
        """RACER for a text that forks from this one now."""
        return _Beside(self)


class _Beside(Racer):
    """RACER in a draft branch: the other text's table and n-grams, and n-grams of its own."""

    def __init__(self, main: Racer) -> None:
        super().__init__(
            retrieval=main.automaton is not None,
            logits=main.successors > 0,
            likeliest=main._likeliest,
        )
        self.table = main.table
        self._main = main.automaton
        self._tail: deque[int] = deque(maxlen=self._main.depth if self._main is not None else 1)

    def observe(self, tokens: Sequence[int]) -> None:
        """Remember the n-grams of the branch."""
        super().observe(tokens)
        self._tail.extend(tokens)

    def _matches(self, automaton: Automaton) -> list[Gram]:
        """Where the branch stands among its own n-grams, then among the other text's."""
        found = automaton.matches()
        return found + self._main.ending(list(self._tail)) if self._main is not None else found
