"""The n-grams seen so far and where the current text stands among them. Ids only.

A trie of every n-gram up to `depth` tokens, at most `size` nodes. The text's own
matching suffixes are kept as the list of trie nodes they end in (longest first), which
is what the failure chain of an Aho-Corasick automaton lists; since the text itself
is what is inserted, the next token moves each of them one node down. There are no
failure links that an eviction could leave dangling.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence


class Gram:
    """One n-gram: `count` occurrences, its longer n-grams in `children` by next token."""

    __slots__ = ("alive", "children", "count", "depth", "parent", "token")

    def __init__(self, parent: Gram | None, token: int) -> None:
        self.parent = parent
        self.token = token
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.count = 0
        self.children: dict[int, Gram] = {}
        self.alive = True


class Automaton:
    """A bounded store of n-grams that follows the text as it grows.

    depth: longest n-gram. size: most nodes, the empty n-gram not counted.
    `evicted` counts the n-grams forgotten so far.
    Raises ValueError if either bound is below 1.
    Source: RACER (arXiv 2604.14885), retrieval tree; 10 and 10,000 are the paper's.
    """

    def __init__(self, depth: int = 10, size: int = 10_000) -> None:
        if depth < 1 or size < 1:
            raise ValueError(f"an automaton needs a depth and a size, not {depth} and {size}")
        self.depth = depth
        self.size = size
        self.evicted = 0
        self._root = Gram(None, -1)
        self._nodes = 0
        # Leaves, least recently used first. Inner nodes are not in it: an n-gram is
        # never forgotten before the longer ones that begin with it.
        self._leaves: OrderedDict[Gram, None] = OrderedDict()
        self._matches: list[Gram] = []

    def __len__(self) -> int:
        return self._nodes

    def observe(self, tokens: Iterable[int]) -> None:
        """Read `tokens`: every n-gram that ends in each of them is seen once more."""
        for token in tokens:
            self._read(token)

    def matches(self, shortest: int = 2) -> list[Gram]:
        """The suffixes of the text that are stored, longest first, `shortest` tokens or more."""
        return [gram for gram in self._matches if gram.depth >= shortest and gram.alive]

    def ending(self, tail: Sequence[int], shortest: int = 2) -> list[Gram]:
        """The stored suffixes of `tail`, longest first: `matches` for another text.

        Each is walked from the root: at most `depth` of them, of `depth` tokens.
        """
        lengths = range(min(self.depth, len(tail)), shortest - 1, -1)
        found = (self.find(tail[len(tail) - length :]) for length in lengths)
        return [gram for gram in found if gram is not None]

    def find(self, tokens: Sequence[int]) -> Gram | None:
        """The stored n-gram `tokens`, walked from the root."""
        gram: Gram | None = self._root
        for token in tokens:
            gram = gram.children.get(token) if gram is not None else None
        return gram

    def _read(self, token: int) -> None:
        leaves = self._leaves
        longer = []
        for context in (*self._matches, self._root):
            if context.depth == self.depth or not context.alive:
                continue
            gram = context.children.get(token)
            if gram is None:
                gram = self._grow(context, token)
            elif gram in leaves:
                leaves.move_to_end(gram)
            gram.count += 1
            longer.append(gram)
        self._matches = longer
        while self._nodes > self.size:
            self._forget_oldest()

    def _grow(self, parent: Gram, token: int) -> Gram:
        gram = Gram(parent, token)
        if not parent.children:
            self._leaves.pop(parent, None)
        parent.children[token] = gram
        self._leaves[gram] = None
        self._nodes += 1
        return gram

    def _forget_oldest(self) -> None:
        gram, _ = self._leaves.popitem(last=False)
        gram.alive = False
        parent = gram.parent
        assert parent is not None  # the root is no leaf
        del parent.children[gram.token]
        self._nodes -= 1
        self.evicted += 1
        if not parent.children and parent is not self._root:
            self._leaves[parent] = None
            # Its longer n-grams are read one token after it, and the oldest of all
            # leaves was the last of them, so the parent is now the oldest; unless the
            # text ends with it, and it is as new as can be.
            if parent not in self._matches:
                self._leaves.move_to_end(parent, last=False)
