"""RACER: the union of its two trees, from what its table and its store hold."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tree import BOTH, LOGITS, RETRIEVAL, DraftTree
from racer import Racer
from racer.retrieval import retrieve
from tests.test_logits_tree import shares_of
from tests.test_tree import assert_sound, words

FAST = settings(derandomize=True, database=None, deadline=None, max_examples=80)
TEXTS = st.lists(st.integers(0, 9), min_size=1, max_size=60)


def taught(text: list[int], seed: int, **halves: bool) -> Racer:
    """A drafter that read `text` and a made-up row of successors for each of its tokens."""
    racer, dice = Racer(**halves), random.Random(seed)
    rows = [dice.sample(range(12), 8) for _ in text]
    racer.learn(text, rows, [shares_of(row, dice) for row in rows])
    racer.observe(text)
    return racer


@FAST
@given(TEXTS, st.integers(0, 99), st.integers(1, 70), st.booleans())
def test_a_draft_is_both_trees_each_token_with_its_source(
    text: list[int], seed: int, capacity: int, likeliest: bool
) -> None:
    racer = taught(text, seed, likeliest=likeliest)
    tree = racer.propose(text[-1], capacity)
    assert_sound(tree)
    assert len(tree) <= capacity
    assert racer.automaton is not None
    retrieved = DraftTree(text[-1])
    retrieve(retrieved, racer.automaton.matches(), capacity)
    found = words(retrieved)
    for word, node in words(tree).items():
        if not word:
            continue
        row = list(racer.table.after((text[-1], *word)[-2])[0])
        source = tree.sources[node]
        assert source in (RETRIEVAL, LOGITS, BOTH)
        assert (source == LOGITS) == (word not in found)
        if source in (LOGITS, BOTH):
            assert word[-1] in row
        if source == LOGITS:
            assert row[tree.ranks[node]] == word[-1]
            assert tree.counts[node] == 0
        else:
            assert tree.counts[node] > 0
    assert set(found) <= set(words(tree)), "retrieval first, the logits tree fills the rest"


@FAST
@given(TEXTS, st.integers(0, 99), st.integers(1, 70))
def test_each_half_alone_drafts_its_own(text: list[int], seed: int, capacity: int) -> None:
    for half, source in (("retrieval", RETRIEVAL), ("logits", LOGITS)):
        other = "logits" if half == "retrieval" else "retrieval"
        racer = taught(text, seed, **{other: False})
        tree = racer.propose(text[-1], capacity)
        assert_sound(tree)
        assert len(tree) <= capacity
        assert set(tree.sources[1:]) <= {source}


def test_a_half_that_is_off_asks_for_nothing() -> None:
    assert Racer().successors == Racer(retrieval=False).successors == 8
    assert Racer(logits=False).successors == 0
    assert Racer(retrieval=False).automaton is None
    with pytest.raises(ValueError, match="at least one"):
        Racer(retrieval=False, logits=False)


def test_a_cold_drafter_drafts_nothing() -> None:
    assert len(Racer().propose(3, 64)) == 1


def test_a_draft_is_the_same_every_time() -> None:
    trees = [taught([1, 2, 3, 1, 2, 3, 1, 2], 5).propose(2, 30) for _ in range(3)]
    assert len({(tuple(t.tokens), tuple(t.parents), tuple(t.sources)) for t in trees}) == 1


def test_a_token_that_both_halves_draft_is_marked_so() -> None:
    racer = Racer()
    racer.observe([1, 2, 3, 1, 2])
    racer.learn([2], [[3, 9]], [[0.6, 0.4]])
    tree = racer.propose(2, 64)
    node = tree.child(0, 3)
    assert node is not None
    assert tree.sources[node] == BOTH
    other = tree.child(0, 9)
    assert other is not None
    assert tree.sources[other] == LOGITS


def test_its_memory_is_what_its_two_halves_hold() -> None:
    racer = Racer()
    assert racer.memory == (0, 0, 0)
    racer.observe([1, 2, 3, 1, 2])
    racer.learn([1, 2, 1], [[5], [6], [7]], [[1.0], [1.0], [1.0]])
    held, forgotten, known = racer.memory
    assert held == len(racer.automaton or ())
    assert (forgotten, known) == (0, 2)
    assert Racer(retrieval=False).memory == (0, 0, 0)
    assert racer.beside().memory[0] == 0  # the branch's own n-grams; the table is shared


def test_what_was_likely_last_is_each_texts_own() -> None:
    """A branch and the text it forked from share the table, but not where they stand."""
    main = Racer(likeliest=True, retrieval=False)
    main.learn([1], [[5, 6]], [[0.6, 0.4]])
    side = main.beside()
    assert side.propose(9, 8).tokens == [9]  # nothing is known of 9, nor of this text yet
    side.learn([2], [[7, 8]], [[0.6, 0.4]])
    main.learn([3], [[4]], [[1.0]])
    assert set(side.propose(9, 8).tokens) == {9, 7, 8}
    assert set(main.propose(9, 8).tokens) == {9, 4}
    assert set(side.propose(1, 8).tokens) == {1, 5, 6}  # the table is the same
