"""The retrieval tree: what followed the end of the text before, and nothing else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tree import RETRIEVAL, DraftTree
from racer.automaton import Automaton
from racer.retrieval import retrieve
from tests.reference import suffixes_counted
from tests.test_tree import assert_sound, words

FAST = settings(derandomize=True, database=None, deadline=None, max_examples=120)
TEXTS = st.integers(1, 5).flatmap(
    lambda most: st.lists(st.integers(0, most), min_size=1, max_size=50)
)


def drafted(text: list[int], depth: int, capacity: int, size: int = 10_000) -> DraftTree:
    automaton = Automaton(depth, size)
    automaton.observe(text)
    tree = DraftTree(text[-1])
    retrieve(tree, automaton.matches(), capacity)
    return tree


def followed(text: list[int], depth: int) -> dict[tuple[int, ...], list[int]]:
    """Each word seen after a suffix of two tokens or more: its counts, longest suffix first."""
    counts = suffixes_counted(text, depth)
    found: dict[tuple[int, ...], list[int]] = {}
    for length in range(min(depth, len(text)), 1, -1):
        suffix = tuple(text[-length:])
        for gram, count in counts.items():
            if len(gram) > length and gram[:length] == suffix:
                found.setdefault(gram[length:], []).append(count)
    return found


@FAST
@given(TEXTS, st.integers(2, 6))
def test_with_room_for_all_it_drafts_exactly_what_followed(text: list[int], depth: int) -> None:
    tree = drafted(text, depth, 10_000)
    assert_sound(tree)
    expected = followed(text, depth)
    now = words(tree)
    assert set(now) - {()} == set(expected)
    assert all(source == RETRIEVAL for source in tree.sources[1:])
    for word, counts in expected.items():
        assert tree.counts[now[word]] == max(counts)


@FAST
@given(TEXTS, st.integers(2, 6), st.integers(1, 12), st.integers(1, 30))
def test_a_smaller_tree_is_the_beginning_of_a_larger_one(
    text: list[int], depth: int, capacity: int, size: int
) -> None:
    large = drafted(text, depth, 10_000, size)
    small = drafted(text, depth, capacity, size)
    assert_sound(small)
    assert len(small) == min(capacity, len(large))
    assert small.tokens == large.tokens[: len(small)]
    assert small.parents == large.parents[: len(small)]


@FAST
@given(TEXTS, st.integers(2, 6), st.integers(1, 30))
def test_after_evictions_it_drafts_only_what_is_still_stored(
    text: list[int], depth: int, size: int
) -> None:
    automaton = Automaton(depth, size)
    automaton.observe(text)
    tree = drafted(text, depth, 64, size)
    assert_sound(tree)
    assert len(tree) <= min(64, size + 1)
    for word in words(tree):
        if word:
            suffixes = [text[-length:] for length in range(2, min(depth, len(text)) + 1)]
            assert any(automaton.find([*suffix, *word]) is not None for suffix in suffixes)


def test_the_more_frequent_continuation_comes_first() -> None:
    text = [1, 2, 7, 1, 2, 8, 1, 2, 8, 1, 2]
    tree = drafted(text, 3, 4)
    assert tree.tokens == [2, 8, 7]
    assert tree.ranks == [0, 0, 1]
    assert tree.counts == [0, 2, 1]


def test_of_equally_sure_continuations_the_one_after_the_longer_suffix_comes_first() -> None:
    # After (5, 1, 2) came 8 always; after (1, 2) came 7 twice as often as 8.
    text = [1, 2, 7, 4, 1, 2, 7, 4, 5, 1, 2, 8, 4, 5, 1, 2]
    tree = drafted(text, 4, 2)
    assert tree.tokens == [2, 8]


def test_one_token_in_common_is_no_match() -> None:
    assert len(drafted([1, 5, 2, 5], 4, 64)) == 1
    assert len(drafted([1, 5, 9, 1, 5], 4, 64)) > 1


def test_a_span_seen_before_is_drafted_to_the_depth_of_the_store() -> None:
    span = list(range(20, 40))
    tree = drafted([*span, 1, *span[:4]], 10, 64)
    assert [
        tree.tokens[node]
        for node in tree.path_to(max(range(len(tree)), key=tree.depths.__getitem__))
    ] == span[3:12]
