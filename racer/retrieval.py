"""The retrieval tree: what followed the end of the text the last times it occurred. Ids only."""

from __future__ import annotations

from heapq import heappop, heappush

from engine.tree import RETRIEVAL, DraftTree
from racer.automaton import Automaton, Gram


def retrieve(tree: DraftTree, automaton: Automaton, capacity: int) -> None:
    """Draft the likeliest continuations of every matching suffix of two tokens or more.

    Candidates are taken best first, by how often a continuation followed its n-gram;
    of equals, those after the longer suffix, then the shallower.
    Source: RACER (arXiv 2604.14885), retrieval tree.
    """
    queue: list[tuple[float, int, int, Gram, int, int]] = []
    order = 0

    def offer(gram: Gram, parent: int, weight: float) -> None:
        nonlocal order
        children = sorted(gram.children.values(), key=lambda child: -child.count)
        total = sum(child.count for child in children)
        for rank, child in enumerate(children):
            order += 1
            heappush(queue, (-weight * child.count / total, order, parent, child, rank, 0))

    for gram in automaton.matches():
        offer(gram, 0, 1.0 - 0.5 ** (gram.depth - 1))
    while queue and len(tree) < capacity:
        priority, _, parent, gram, rank, _ = heappop(queue)
        node = tree.add(parent, gram.token, RETRIEVAL, rank=rank, count=gram.count)
        if gram.children:
            offer(gram, node, -priority * 0.9)
