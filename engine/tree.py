"""DraftTree: drafted tokens under the last committed one. Knows ids only; no torch, no text.

Node 0 is the root, the token committed last (its own key/value row is not yet in
the cache). Parents precede their children and no two siblings carry one token, so
a walk down the tree is decided by the target's choices alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# Where a drafted token came from. `both` is a token that two signals agreed on.
RETRIEVAL = "retrieval"
LOGITS = "logits"
BOTH = "both"
# Tokens the model itself chose, drafted by nobody.
TARGET = "target"
# From a draft of the answer written while the model still thought (SSR): its verified
# beginning, and spans of it recovered after the first difference.
PREFIX = "prefix"
SUFFIX = "suffix"

SOURCES = (TARGET, RETRIEVAL, LOGITS, BOTH, PREFIX, SUFFIX)


class DraftTree:
    """A trie of drafted tokens, grown by `add`.

    tokens, parents, depths, sources, ranks, counts: one entry a node, root first.
    `ranks` is the node's place among the guesses its source made at that point
    (0 is the best); `counts` is how often retrieval has seen it there (0: never);
    `shares` is how sure its source is of it, between 0 and 1.
    """

    __slots__ = ("_children", "counts", "depths", "parents", "ranks", "shares", "sources", "tokens")

    def __init__(self, root: int) -> None:
        self.tokens: list[int] = [root]
        self.parents: list[int] = [-1]
        self.depths: list[int] = [0]
        self.sources: list[str] = [TARGET]
        self.ranks: list[int] = [0]
        self.counts: list[int] = [0]
        self.shares: list[float] = [1.0]
        self._children: list[dict[int, int]] = [{}]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def drafted(self) -> int:
        """Number of drafted nodes: the root is not one of them."""
        return len(self.tokens) - 1

    def child(self, node: int, token: int) -> int | None:
        """The child of `node` that carries `token`, if it was drafted."""
        return self._children[node].get(token)

    def children(self, node: int) -> Iterable[int]:
        """Children of `node`, in the order they were added."""
        return self._children[node].values()

    def add(
        self,
        parent: int,
        token: int,
        source: str,
        rank: int = 0,
        count: int = 0,
        share: float = 0.0,
    ) -> int:
        """Draft `token` after `parent` and return its node.

        A token already drafted there is not drafted twice: when RACER's two signals
        differ its source becomes `both`; a token from a draft of the answer stays that.
        Raises IndexError if `parent` is not a node.
        """
        siblings = self._children[parent]
        node = siblings.get(token)
        if node is not None:
            if source != self.sources[node] and self.sources[node] not in (PREFIX, SUFFIX):
                self.sources[node] = BOTH
            self.counts[node] = max(count, self.counts[node])
            self.shares[node] = max(share, self.shares[node])
            return node
        node = len(self.tokens)
        siblings[token] = node
        self.tokens.append(token)
        self.parents.append(parent)
        self.depths.append(self.depths[parent] + 1)
        self.sources.append(source)
        self.ranks.append(rank)
        self.counts.append(count)
        self.shares.append(share)
        self._children.append({})
        return node

    def path_to(self, node: int) -> list[int]:
        """Nodes from the root to `node`, both included."""
        path = []
        while node >= 0:
            path.append(node)
            node = self.parents[node]
        path.reverse()
        return path

    def keep(self, nodes: Sequence[int]) -> DraftTree:
        """A copy with only `nodes` (ascending, root included, closed under parents).

        Raises ValueError if a kept node's parent is missing.
        """
        kept = DraftTree(self.tokens[0])
        place = {0: 0}
        for node in nodes:
            if node == 0:
                continue
            parent = place.get(self.parents[node])
            if parent is None:
                raise ValueError(f"node {node} is kept without its parent")
            place[node] = kept.add(
                parent,
                self.tokens[node],
                self.sources[node],
                self.ranks[node],
                self.counts[node],
                self.shares[node],
            )
        return kept
