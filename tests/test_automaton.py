"""The n-gram store: right after any mix of insertions and evictions."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer.automaton import Automaton, Gram
from tests.reference import NaiveGrams, suffixes_counted

FAST = settings(derandomize=True, database=None, deadline=None, max_examples=120)
TEXTS = st.integers(1, 9).flatmap(lambda most: st.lists(st.integers(0, most), max_size=70))


def stored(automaton: Automaton) -> dict[tuple[int, ...], Gram]:
    """Every n-gram reachable from the root."""
    found: dict[tuple[int, ...], Gram] = {}
    open_: list[tuple[tuple[int, ...], Gram]] = [((), automaton._root)]
    while open_:
        word, gram = open_.pop()
        for token, child in gram.children.items():
            found[*word, token] = child
            open_.append(((*word, token), child))
    return found


def word_of(gram: Gram) -> tuple[int, ...]:
    """The n-gram, read upwards."""
    word: list[int] = []
    node: Gram | None = gram
    while node is not None and node.parent is not None:
        word.append(node.token)
        node = node.parent
    return tuple(reversed(word))


def naive_matches(automaton: Automaton, text: list[int], shortest: int) -> list[tuple[int, ...]]:
    """The text's suffixes that the store holds, longest first, each walked from the root."""
    suffixes = [tuple(text[-length:]) for length in range(len(text), 0, -1)]
    return [
        suffix
        for suffix in suffixes
        if shortest <= len(suffix) <= automaton.depth and automaton.find(suffix) is not None
    ]


@FAST
@given(TEXTS, st.integers(1, 6), st.integers(1, 40))
def test_everything_holds_after_every_token(text: list[int], depth: int, size: int) -> None:
    automaton = Automaton(depth, size)
    naive = NaiveGrams(depth, size)
    for place, token in enumerate(text, start=1):
        automaton.observe([token])
        now = stored(automaton)
        # Never more than its size; every n-gram reachable is counted, and alive.
        assert len(automaton) == len(now) <= size
        assert all(gram.alive and gram.count > 0 for gram in now.values())
        assert all(word_of(gram) == word for word, gram in now.items())
        assert all(gram.depth == len(word) <= depth for word, gram in now.items())
        # What was forgotten were the leaves read longest ago, and nothing else.
        naive.read(token)
        naive.forget(set(now))
        assert {word: gram.count for word, gram in now.items()} == naive.counts
        # What matches is what a walk from the root finds.
        for shortest in (1, 2, 3):
            matches = automaton.matches(shortest)
            assert [word_of(gram) for gram in matches] == naive_matches(
                automaton, text[:place], shortest
            )
            assert all(now[word_of(gram)] is gram for gram in matches)


@FAST
@given(TEXTS, st.integers(1, 5), st.integers(1, 60))
def test_an_ngram_no_part_of_which_was_forgotten_is_counted_exactly(
    text: list[int], depth: int, size: int
) -> None:
    automaton, naive = Automaton(depth, size), NaiveGrams(depth, size)
    for token in text:
        automaton.observe([token])
        naive.read(token)
        naive.forget(set(stored(automaton)))
    for word, count in suffixes_counted(text, depth).items():
        if not any(word[:length] in naive.gone for length in range(1, len(word) + 1)):
            gram = automaton.find(word)
            assert gram is not None
            assert gram.count == count


@FAST
@given(TEXTS, st.integers(1, 6))
def test_with_room_for_all_the_counts_are_those_of_the_text(text: list[int], depth: int) -> None:
    automaton = Automaton(depth, 10_000)
    automaton.observe(text)
    counts = {word: gram.count for word, gram in stored(automaton).items()}
    assert counts == suffixes_counted(text, depth)
    assert automaton.evicted == 0


@FAST
@given(TEXTS, st.integers(1, 5), st.integers(1, 20))
def test_reading_in_pieces_is_reading(text: list[int], depth: int, size: int) -> None:
    whole, pieces = Automaton(depth, size), Automaton(depth, size)
    whole.observe(text)
    dice = random.Random(len(text))
    at = 0
    while at < len(text):
        step = dice.randint(1, 5)
        pieces.observe(text[at : at + step])
        at += step
    assert {w: g.count for w, g in stored(whole).items()} == {
        w: g.count for w, g in stored(pieces).items()
    }
    assert [word_of(g) for g in whole.matches()] == [word_of(g) for g in pieces.matches()]
    assert whole.evicted == pieces.evicted


@pytest.mark.parametrize("seed", range(60))
def test_what_the_text_ends_with_is_not_forgotten_before_older_leaves(seed: int) -> None:
    """The end of the text may lose its last continuation in the reading that uses it."""
    dice = random.Random(seed)
    depth, size, most = dice.randint(2, 6), dice.randint(1, 40), dice.randint(2, 12)
    automaton, naive = Automaton(depth, size), NaiveGrams(depth, size)
    for _ in range(70):
        token = dice.randrange(most)
        automaton.observe([token])
        naive.read(token)
        naive.forget(set(stored(automaton)))


def test_a_long_text_stays_within_the_papers_bounds() -> None:
    automaton = Automaton()
    dice = random.Random(1)
    text = [dice.randrange(300) for _ in range(2500)]
    automaton.observe(text)
    assert (automaton.depth, automaton.size) == (10, 10_000)
    assert len(automaton) == len(stored(automaton)) == 10_000
    assert automaton.evicted > 10_000
    assert automaton.find(text[-10:]) is not None
    assert automaton.find(text[:10]) is None


def test_what_was_forgotten_can_be_learned_again() -> None:
    automaton = Automaton(depth=3, size=6)
    for _ in range(5):
        automaton.observe([1, 2, 3, 4, 5, 6])
    assert automaton.evicted > 0
    assert [word_of(gram) for gram in automaton.matches(1)] == [(4, 5, 6), (5, 6), (6,)]


@pytest.mark.parametrize(("depth", "size"), [(0, 5), (5, 0), (-1, 5)])
def test_a_store_has_a_depth_and_a_size(depth: int, size: int) -> None:
    with pytest.raises(ValueError, match="needs a depth and a size"):
        Automaton(depth, size)


def test_nothing_matches_before_anything_was_read() -> None:
    automaton = Automaton()
    assert automaton.matches() == []
    assert automaton.find([1]) is None
    assert automaton.find([]) is automaton._root
