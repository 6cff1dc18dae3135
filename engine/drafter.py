"""The drafter protocol: propose a tree, learn from what was scored and committed. No torch.

A drafter can only make a run faster or slower, never change its text: every token
is one the target itself chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.tree import DraftTree


class Drafter(Protocol):
    """What the loop asks of a drafting method."""

    successors: int
    """How many best successor ids of every scored position this drafter wants (0: none)."""

    def learn(
        self,
        tokens: Sequence[int],
        successors: Sequence[Sequence[int]],
        shares: Sequence[Sequence[float]],
    ) -> None:
        """Scored positions: `successors[i]` are the best ids after `tokens[i]`, best first.

        `shares[i]`: the softmax over those ids alone, how sure the target was of each.
        Called for the prompt, piece by piece, and for the nodes of every scored tree;
        of two entries for one token the later counts.
        """

    def observe(self, tokens: Sequence[int]) -> None:
        """Text that is now committed, in order: the prompt, then every step's tokens."""

    def propose(self, root: int, capacity: int) -> DraftTree:
        """A tree of at most `capacity` nodes (root included) under the token `root`."""


class NoDraft:
    """Drafts nothing: with it the loop is vanilla decoding, one token a forward."""

    successors = 0

    def learn(
        self,
        tokens: Sequence[int],
        successors: Sequence[Sequence[int]],
        shares: Sequence[Sequence[float]],
    ) -> None:
        """Nothing to learn from."""

    def observe(self, tokens: Sequence[int]) -> None:
        """Nothing to remember."""

    def propose(self, root: int, capacity: int) -> DraftTree:
        """The root alone."""
        return DraftTree(root)
