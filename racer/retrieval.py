"""The retrieval tree: what followed the end of the text the last times it occurred. Ids only."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from engine.tree import RETRIEVAL, DraftTree
from racer.automaton import Gram


def retrieve(tree: DraftTree, matches: Iterable[Gram], capacity: int) -> None:
    """Draft the likeliest continuations of `matches`, the suffixes of the text that are stored.

    Candidates are taken best first: by how often a continuation followed its n-gram,
    weighed by how long the n-gram is, multiplied along the path.
    Source: RACER (arXiv 2604.14885), retrieval tree; the weighing is this project's.
    """
    queue: list[tuple[float, int, int, Gram, int, float]] = []
    order = 0  # of equals the earlier offered: after the longer suffix, then the shallower

    def offer(gram: Gram, parent: int, weight: float) -> None:
        nonlocal order
        children: Iterable[Gram] = gram.children.values()
        if len(gram.children) > 1:
            children = sorted(children, key=_by_count)
        total = sum(map(_count, children))
        sure = 1.0 - 0.5 ** (gram.depth - 1)
        for rank, child in enumerate(children):
            order += 1
            share = sure * child.count / total
            heappush(queue, (-weight * share, order, parent, child, rank, share))

    for gram in matches:
        offer(gram, 0, 1.0)
    while queue and len(tree) < capacity:
        weight, _, parent, gram, rank, share = heappop(queue)
        node = tree.add(parent, gram.token, RETRIEVAL, rank, gram.count, share)
        if gram.children:
            offer(gram, node, -weight)


def _count(gram: Gram) -> int:
    return gram.count


def _by_count(gram: Gram) -> int:
    return -gram.count
