"""How many tokens to draft: a fixed number, or as many as pay for themselves. No torch."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

from engine.cost import SIZES, ForwardCost
from engine.tree import BOTH, PREFIX, SUFFIX, DraftTree

PAPER_CAPACITY = 64
"""Nodes a forward, root included, in RACER (arXiv 2604.14885)."""


_WORTH = 0.4
"""What a token of a draft branch is worth against one of the text, before anything is known:
it may not be reused, and if it is, checking it costs something."""

_MOST_WORTH = 0.8
"""The same where later drafts confirm every token of earlier ones."""

_SLOWER = 1.15
"""A branch that checks and extends an earlier draft slows a step by no more than this."""

_PROBE = 12
"""Of the steps in which drafting does not pay, one in this many drafts a little all the same."""


class Capacity(Protocol):
    """Decides the size of each step's tree and learns from what was accepted."""

    def most(self) -> int:
        """Nodes worth proposing at most, root included."""

    def trim(self, tree: DraftTree, past: int) -> DraftTree:
        """The part of `tree` worth scoring after `past` committed positions."""

    def share(self, tree: DraftTree, branch: DraftTree, past: int) -> tuple[DraftTree, DraftTree]:
        """The parts of the text's tree and of a draft branch's worth scoring in one forward."""

    def observe(self, tree: DraftTree, path: Sequence[int]) -> None:
        """What was scored and which nodes of it were accepted (root first)."""

    def observe_branch(self, tree: DraftTree, path: Sequence[int]) -> None:
        """The same of a draft branch."""


class Fixed:
    """Always the same number of nodes, root included. Raises ValueError below 1."""

    def __init__(self, nodes: int) -> None:
        if nodes < 1:
            raise ValueError(f"a tree has at least its root, not {nodes} nodes")
        self.nodes = nodes

    def most(self) -> int:
        """The fixed number."""
        return self.nodes

    def trim(self, tree: DraftTree, past: int) -> DraftTree:
        """The whole tree."""
        return tree

    def share(self, tree: DraftTree, branch: DraftTree, past: int) -> tuple[DraftTree, DraftTree]:
        """Half each, in the order of drafting; what one leaves the other takes. Roots always."""
        half = max(1, self.nodes // 2)
        beside = min(len(branch), max(half, self.nodes - len(tree)))
        own = min(len(tree), max(1, self.nodes - beside))
        return tree.keep(range(own)), branch.keep(range(beside))

    def observe(self, tree: DraftTree, path: Sequence[int]) -> None:
        """Nothing to learn."""

    def observe_branch(self, tree: DraftTree, path: Sequence[int]) -> None:
        """Nothing to learn."""


_Place = tuple[str, int, bool]

_SURE = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.92)
"""Bounds of the classes into which a node's share falls."""


class Acceptance:
    """How often a drafted token is accepted when its parent was, by its place in the tree.

    A place is the token's source, how sure that source was of it, and whether it stands
    right below the root. Counts start from a prior and fade, so that the newest part of
    the text weighs most.
    """

    FADE = 0.98
    WEIGHT = 8.0

    def __init__(self) -> None:
        self._seen: dict[_Place, list[float]] = {}

    @staticmethod
    def _place(tree: DraftTree, node: int) -> _Place:
        return tree.sources[node], bisect(_SURE, tree.shares[node]), tree.parents[node] == 0

    @staticmethod
    def _prior(place: _Place) -> float:
        source, sure, _ = place
        middle = (sure + 0.5) / (len(_SURE) + 1)
        if source in (PREFIX, SUFFIX):
            return middle
        return 0.25 + 0.6 * middle if source == BOTH else 0.7 * middle

    def of(self, tree: DraftTree, node: int) -> float:
        """Probability that `node` is accepted, given that its parent is."""
        place = self._place(tree, node)
        seen = self._seen.get(place)
        return self._prior(place) if seen is None else seen[0] / seen[1]

    def observe(self, tree: DraftTree, path: Sequence[int]) -> None:
        """Count every child of an accepted node: one of them, or none, was right."""
        for place, node in enumerate(path):
            following = path[place + 1] if place + 1 < len(path) else None
            for child in tree.children(node):
                self._count(self._place(tree, child), child == following)

    def _count(self, place: _Place, accepted: bool) -> None:
        seen = self._seen.get(place)
        if seen is None:
            seen = self._seen[place] = [self._prior(place) * self.WEIGHT, self.WEIGHT]
        seen[0] = seen[0] * self.FADE + accepted
        seen[1] = seen[1] * self.FADE + 1


class Auto:
    """Drafts what pays: the tree with the most expected tokens a second on this machine."""

    def __init__(self, cost: ForwardCost, most: int = SIZES[-1]) -> None:
        self._cost = cost
        self._limit = most
        self._last = 16
        self._idle = 0
        self.acceptance = Acceptance()
        self.branch_acceptance = Acceptance()
        self.worth = _WORTH

    def most(self) -> int:
        """Somewhat more than was worth scoring last, so that the tree can grow."""
        return min(self._limit, max(24, 2 * self._last + 8))

    def trim(self, tree: DraftTree, past: int) -> DraftTree:
        """The likeliest nodes, as many as raise expected tokens a second."""
        likely = _reached(tree, self.acceptance)
        # A child is never likelier than its parent and comes after it, so any
        # beginning of this order is a tree.
        order = sorted(range(len(tree)), key=lambda node: (-likely[node], node))
        costs = self._cost.curve(len(tree), past)
        size = self._last = _best_size([likely[node] for node in order], costs)
        if size == 1 and len(tree) > 1:
            self._idle += 1
            if self._idle % _PROBE == 0:
                size = self._probe(len(tree), past)
        return tree if size == len(tree) else tree.keep(sorted(order[:size]))

    def share(self, tree: DraftTree, branch: DraftTree, past: int) -> tuple[DraftTree, DraftTree]:
        """The nodes of both with the most expected worth a second; both roots always.

        Branch nodes beside the root are given up where they slow the step too much.
        """
        worth = [(value, 0, node) for node, value in enumerate(_reached(tree, self.acceptance))]
        worth += [
            (value * self.worth, 1, node)
            for node, value in enumerate(_reached(branch, self.branch_acceptance))
        ]
        ranked = sorted(worth, key=lambda each: (each[2] > 0, -each[0], each[1], each[2]))
        costs = self._cost.curve(len(ranked), past)
        kept = ranked[: _best_size([each[0] for each in ranked], costs, least=2)]
        own = sorted(node for _, which, node in kept if which == 0)
        beside = [node for _, which, node in kept if which == 1]
        allowed = costs[len(own)] * _SLOWER  # the text's own tree and the branch's root
        while len(beside) > 1 and costs[len(own) + len(beside) - 1] > allowed:
            beside.pop()
        self._last = len(own)
        return tree.keep(own), branch.keep(sorted(beside))

    def observe_branch(self, tree: DraftTree, path: Sequence[int]) -> None:
        """Learn which places of a branch's tree are accepted, and what its tokens are worth.

        A draft that a later one confirms will be of use to the answer, too.
        """
        self.branch_acceptance.observe(tree, path)
        if PREFIX in tree.sources or SUFFIX in tree.sources:
            confirmed = sum(tree.sources[node] in (PREFIX, SUFFIX) for node in path[1:])
            self.worth += 0.05 * (_MOST_WORTH * confirmed / len(path) - self.worth)

    def _probe(self, most: int, past: int) -> int:
        """Nodes to look at although they do not pay, for 2% of a lane's time at most.

        What is never drafted is never accepted, and text changes.
        """
        costs = self._cost.curve(min(most, 4), past)
        allowed = costs[0] * (1 + 0.02 * _PROBE)
        return max(size for size, cost in enumerate(costs, start=1) if cost <= allowed)

    def observe(self, tree: DraftTree, path: Sequence[int]) -> None:
        """Learn which places of the tree are accepted."""
        self.acceptance.observe(tree, path)


def _reached(tree: DraftTree, acceptance: Acceptance) -> list[float]:
    """For each node the probability that the walk comes to it."""
    likely = [1.0] * len(tree)
    for node in range(1, len(tree)):
        likely[node] = likely[tree.parents[node]] * acceptance.of(tree, node)
    return likely


def _best_size(worth: Sequence[float], costs: Sequence[float], least: int = 1) -> int:
    """How many of `worth`, from the first on, give the most a second; `least` at least."""
    sums = list(accumulate(worth))
    return max(range(least, len(sums) + 1), key=lambda size: sums[size - 1] / costs[size - 1])
