"""The drafter protocol: propose a tree, learn from what was scored and committed. No torch.

A drafter can only make a run faster or slower, never change its text: every token
is one the target itself chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

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


class TreeDrafter(Drafter, Protocol):
    """A drafter whose drafts can be joined with another's, and that can serve a branch."""

    def fill(self, tree: DraftTree, capacity: int) -> None:
        """Grow `tree`, which may have nodes already, up to `capacity` nodes, root included."""

    def beside(self) -> TreeDrafter:
        """A drafter for another text that forks from this one's now: it knows what this knows.

        What is committed to it is not committed here; scored positions teach both.
        """


@runtime_checkable
class Speculator(Drafter, Protocol):
    """A drafter that has the answer drafted while the model still thinks.

    The loop writes the branch beside the thinking, in the same forwards.
    Source: SSR (arXiv 2608.20359).
    """

    def opens(self, thinking: int) -> int:
        """Length in tokens of a draft to open after `thinking` reasoning tokens; 0: none now."""

    def branch(self) -> Drafter:
        """The drafter of a branch that is opened now."""

    def written(self, draft: Sequence[int]) -> bool:
        """Take a draft that gets no longer; whether it is now the one to be proposed.

        A draft that only repeats the beginning of an earlier one is not.
        """

    def answer(self) -> Sequence[int]:
        """Thinking has ended and what is observed from now on is the answer.

        Returns what is proposed as its beginning: the newest draft of use, or nothing.
        """


@runtime_checkable
class Remembering(Protocol):
    """A drafter that keeps a memory of the text, of bounded size."""

    @property
    def memory(self) -> tuple[int, int, int]:
        """N-grams it holds, n-grams it has forgotten, tokens whose successors it knows."""


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
