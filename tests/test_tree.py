"""DraftTree: a trie under the root, whatever is added to it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tree import BOTH, LOGITS, RETRIEVAL, SOURCES, TARGET, DraftTree

FAST = settings(derandomize=True, database=None, deadline=None, max_examples=150)

Addition = tuple[int, int, str, int, int, float]
ADDITIONS = st.lists(
    st.tuples(
        st.integers(0, 30), st.integers(0, 4), st.sampled_from([RETRIEVAL, LOGITS]),
        st.integers(0, 7), st.integers(0, 9), st.sampled_from([0.0, 0.2, 0.7, 1.0]),
    ),
    max_size=40,
)  # fmt: skip


def grown(additions: list[Addition]) -> DraftTree:
    """A tree of random additions, each under some node that is there."""
    tree = DraftTree(99)
    for parent, token, source, rank, count, share in additions:
        tree.add(parent % len(tree), token, source, rank, count, share)
    return tree


def words(tree: DraftTree) -> dict[tuple[int, ...], int]:
    """The node that each drafted word ends in, read off tokens and parents alone."""
    found: dict[tuple[int, ...], int] = {(): 0}
    spelled = {0: ()}
    for node in range(1, len(tree)):
        word = (*spelled[tree.parents[node]], tree.tokens[node])
        assert word not in found, "two siblings carry one token"
        found[word] = node
        spelled[node] = word
    return found


def assert_sound(tree: DraftTree) -> None:
    """Parents before children, no twin siblings, depths and lookups that agree with them."""
    assert tree.parents[0] == -1
    assert tree.sources[0] == TARGET
    assert all(0 <= parent < node for node, parent in enumerate(tree.parents) if node)
    lists = (tree.tokens, tree.parents, tree.depths, tree.sources, tree.ranks, tree.counts)
    assert {len(part) for part in (*lists, tree.shares)} == {len(tree)}
    assert all(0 <= share <= 1 for share in tree.shares)
    assert tree.drafted == len(tree) - 1
    for word, node in words(tree).items():
        assert tree.depths[node] == len(word)
        assert [tree.tokens[step] for step in tree.path_to(node)] == [tree.tokens[0], *word]
        if word:
            assert tree.child(tree.parents[node], word[-1]) == node
    for node in range(len(tree)):
        below = [child for child, parent in enumerate(tree.parents) if parent == node]
        assert list(tree.children(node)) == below
    assert set(tree.sources) <= set(SOURCES)


@FAST
@given(ADDITIONS)
def test_a_grown_tree_is_a_trie_of_what_was_added(
    additions: list[Addition],
) -> None:
    tree = DraftTree(99)
    spelled: list[tuple[int, ...]] = [()]
    sources: dict[tuple[int, ...], set[str]] = {}
    counts: dict[tuple[int, ...], int] = {}
    shares: dict[tuple[int, ...], float] = {}
    for parent, token, source, rank, count, share in additions:
        word = (*spelled[parent % len(tree)], token)
        node = tree.add(parent % len(tree), token, source, rank, count, share)
        if node == len(spelled):
            spelled.append(word)
        assert spelled[node] == word
        sources.setdefault(word, set()).add(source)
        counts[word] = max(counts.get(word, 0), count)
        shares[word] = max(shares.get(word, 0.0), share)
    assert_sound(tree)
    for word, node in words(tree).items():
        if word:
            agreed = sources[word]
            assert tree.sources[node] == (BOTH if len(agreed) == 2 else agreed.pop())
            assert (tree.counts[node], tree.shares[node]) == (counts[word], shares[word])


@FAST
@given(ADDITIONS, st.sets(st.integers(0, 40)))
def test_keep_keeps_exactly_the_nodes_named(additions: list[Addition], named: set[int]) -> None:
    tree = grown(additions)
    nodes = sorted(
        {step for node in named if node < len(tree) for step in tree.path_to(node)} | {0}
    )
    kept = tree.keep(nodes)
    assert_sound(kept)
    assert len(kept) == len(nodes)
    was, now = words(tree), words(kept)
    assert set(now) == {word for word, node in was.items() if node in nodes}
    for word, node in now.items():
        old = was[word]
        assert kept.sources[node] == tree.sources[old]
        assert kept.ranks[node] == tree.ranks[old]
        assert kept.counts[node] == tree.counts[old]
        assert kept.shares[node] == tree.shares[old]
    assert len(tree) == len(was), "the tree itself is unchanged"


def test_keep_refuses_a_node_without_its_parent() -> None:
    tree = DraftTree(1)
    child = tree.add(0, 2, LOGITS)
    grandchild = tree.add(child, 3, LOGITS)
    with pytest.raises(ValueError, match="without its parent"):
        tree.keep([0, grandchild])


def test_a_token_both_signals_draft_is_one_node_of_both() -> None:
    tree = DraftTree(1)
    first = tree.add(0, 2, RETRIEVAL, rank=3, count=4)
    assert tree.add(0, 2, LOGITS, rank=0) == first
    assert (tree.sources[first], tree.ranks[first], tree.counts[first]) == (BOTH, 3, 4)
    assert tree.add(0, 2, RETRIEVAL, count=9) == first
    assert (tree.sources[first], tree.counts[first], len(tree)) == (BOTH, 9, 2)


def test_there_is_no_node_without_a_parent() -> None:
    with pytest.raises(IndexError):
        DraftTree(1).add(1, 2, LOGITS)
    assert DraftTree(1).child(0, 1) is None
