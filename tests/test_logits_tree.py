"""The logits tree: the breadth rule, written again and held against the tree that grows."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.tree import BOTH, LOGITS, RETRIEVAL, DraftTree
from racer.logits_tree import _FADE as FADE
from racer.logits_tree import SUCCESSORS, SuccessorTable, grow, grow_likeliest
from tests.test_tree import assert_sound, words

FAST = settings(derandomize=True, database=None, deadline=None, max_examples=120)

Word = tuple[int, ...]

ROWS = st.dictionaries(
    st.integers(0, 6), st.lists(st.integers(0, 6), unique=True, max_size=7), max_size=7
)


def spelled(
    rows: Mapping[int, Sequence[int]], root: int, before: set[Word], capacity: int
) -> set[Word]:
    """All words of the finished tree: those drafted before, then the rule breadth-first."""
    drafted = {(), *before}
    waiting: deque[tuple[Word, int]] = deque([((), 8)])
    while waiting:
        word, breadth = waiting.popleft()
        for j, token in enumerate(list(rows.get(word[-1] if word else root, ()))[:breadth]):
            if len(drafted) >= capacity:
                return drafted
            child = (*word, token)
            drafted.add(child)
            parent_is_root = word == ()
            waiting.append((child, max(1, breadth >> (j if parent_is_root else j + 1))))
    return drafted


def shares_of(row: Sequence[int], dice: random.Random) -> list[float]:
    """Made-up shares of a row: falling, one in all."""
    weights = sorted((dice.random() ** 3 for _ in row), reverse=True)
    return [weight / sum(weights) for weight in weights]


def table_of(rows: Mapping[int, Sequence[int]], seed: int = 0) -> SuccessorTable:
    table, dice = SuccessorTable(), random.Random(seed)
    table.learn(list(rows), list(rows.values()), [shares_of(row, dice) for row in rows.values()])
    return table


@FAST
@given(ROWS, st.integers(0, 6), st.integers(1, 80))
def test_the_tree_is_what_the_breadth_rule_spells(
    rows: dict[int, list[int]], root: int, capacity: int
) -> None:
    tree = DraftTree(root)
    grow(tree, table_of(rows), capacity)
    assert_sound(tree)
    assert len(tree) <= capacity
    assert set(words(tree)) == spelled(rows, root, set(), capacity)
    assert tree.depths == sorted(tree.depths), "breadth first"
    assert set(tree.sources[1:]) <= {LOGITS}
    for node in range(1, len(tree)):
        row = rows[tree.tokens[tree.parents[node]]]
        assert row[tree.ranks[node]] == tree.tokens[node]


@FAST
@given(
    ROWS,
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), max_size=12),
    st.integers(1, 40),
)
def test_what_retrieval_drafted_is_filled_up(
    rows: dict[int, list[int]], drafted: list[tuple[int, int]], capacity: int
) -> None:
    tree = DraftTree(0)
    for parent, token in drafted:
        if len(tree) < capacity:
            tree.add(parent % len(tree), token, RETRIEVAL, count=1)
    before = set(words(tree)) - {()}
    grow(tree, table_of(rows), capacity)
    assert_sound(tree)
    assert len(tree) <= capacity
    now = words(tree)
    assert set(now) == spelled(rows, 0, before, capacity)
    for word, node in now.items():
        if word and word not in before:
            assert tree.sources[node] == LOGITS
        elif word:
            assert tree.sources[node] in (RETRIEVAL, BOTH)
            if tree.sources[node] == BOTH:
                assert word[-1] in rows[(0, *word)[-2]]


def test_the_widest_tree_has_the_papers_shape() -> None:
    """Every token with eight successors, all different: breadths 8, 4, 2, 1, 1, … at depth one."""
    tree = DraftTree(0)
    grow(tree, table_of({t: [8 * t + j + 1 for j in range(8)] for t in range(1 << 10)}), 64)
    below = [len(list(tree.children(node))) for node in tree.children(0)]
    assert below == [8, 4, 2, 1, 1, 1, 1, 1]
    first = next(iter(tree.children(0)))
    assert [len(list(tree.children(node))) for node in tree.children(first)][:5] == [4, 2, 1, 1, 1]


@FAST
@given(ROWS, st.integers(0, 6), st.integers(1, 60), st.integers(0, 99))
def test_likeliest_first_leaves_out_nothing_likelier_than_what_it_drafts(
    rows: dict[int, list[int]], root: int, capacity: int, seed: int
) -> None:
    assume(rows.get(root))
    tree, table = DraftTree(root), table_of(rows, seed)
    grow_likeliest(tree, table, capacity)
    assert_sound(tree)
    assert len(tree) <= capacity
    likely = [1.0]
    for node in range(1, len(tree)):
        ids, shares = table.after(tree.tokens[tree.parents[node]])
        assert ids[tree.ranks[node]] == tree.tokens[node]
        assert tree.shares[node] == shares[tree.ranks[node]]
        likely.append(likely[tree.parents[node]] * shares[tree.ranks[node]] * FADE)
    assert all(a >= b - 1e-12 for a, b in pairwise(likely)), "best first"
    for node in range(len(tree)):
        ids, shares = table.after(tree.tokens[node])
        for token, share in zip(ids, shares, strict=True):
            if tree.child(node, token) is None and tree.depths[node] < 8:
                assert len(tree) == capacity
                assert likely[node] * share * FADE <= min(likely) + 1e-12


def test_of_two_rows_for_one_token_the_later_counts() -> None:
    table = SuccessorTable()
    table.learn([1, 2, 1], [[5], [6], [7, 8]], [[1.0], [1.0], [0.7, 0.3]])
    assert [list(part) for part in table.after(1)] == [[7, 8], [0.7, 0.3]]
    assert [list(part) for part in table.after(3)] == [[], []]
    table.learn([2], [[9]], [[1.0]])
    assert list(table.after(2)[0]) == [9]
    assert len(table) == 2
    assert SUCCESSORS == 8


@pytest.mark.parametrize(("ids", "shares"), [([[3]], [[1.0], [1.0]]), ([[3], [4]], [[1.0]])])
def test_there_is_a_row_for_each_token(ids: list[list[int]], shares: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"is (longer|shorter) than"):
        SuccessorTable().learn([1, 2], ids, shares)


def test_a_token_never_scored_drafts_nothing() -> None:
    tree = DraftTree(5)
    grow(tree, SuccessorTable(), 64)
    assert len(tree) == 1


def test_likeliest_first_a_token_never_scored_is_followed_by_nothing_but_the_last_scores() -> None:
    table = SuccessorTable()
    last = ([5, 9, 6], [0.5, 0.3, 0.2])
    table.learn([1, 2], [[3, 4], last[0]], [[0.6, 0.4], last[1]])
    for capacity in (1, 2, 64):
        tree = DraftTree(9)
        grow_likeliest(tree, table, capacity, last)
        assert_sound(tree)
        assert len(tree) <= capacity
        assert set(tree.tokens[1:]) <= {5, 6}


def test_a_token_that_follows_itself_fills_the_tree_and_no_more() -> None:
    tree = DraftTree(1)
    grow(tree, table_of({1: [1]}), 20)
    assert tree.depths == list(range(20))
