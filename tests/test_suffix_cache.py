"""Drafts kept and reused: the index against a search through everything, in counted work."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tree import BOTH, LOGITS, PREFIX, RETRIEVAL, SUFFIX, DraftTree
from racer import Racer
from ssr import SSR, Schedule
from ssr.reuse import Reuse
from ssr.suffix_cache import LONGEST, Match, SuffixCache

LOOKED_AT = 24
TOKEN = st.integers(0, 3)
DRAFTS = st.lists(st.lists(TOKEN, max_size=30), max_size=8)
MANY = settings(derandomize=True, database=None, deadline=None, max_examples=120)


class Everything:
    """Keeps every draft ever added and searches all of what a bounded store still has."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.drafts: list[list[int]] = []

    def add(self, draft: Sequence[int]) -> None:
        if draft:
            self.drafts.append(list(draft))

    @property
    def kept(self) -> int:
        """How many of the newest drafts are kept: at most `size` tokens, but one at least."""
        kept = min(1, len(self.drafts))
        while kept < len(self.drafts) and self.tokens(kept + 1) <= self.size:
            kept += 1
        return kept

    def tokens(self, newest: int) -> int:
        return sum(map(len, self.drafts[len(self.drafts) - newest :]))

    def starts(self) -> list[tuple[int, list[int]]]:
        """The kept drafts and the place of their first token among all ever stored."""
        gone = len(self.drafts) - self.kept
        at, found = 0, []
        for number, draft in enumerate(self.drafts):
            if number >= gone:
                found.append((at, draft))
            at += len(draft) + 1  # the place behind its end is its own
        return found

    def matches(self, text: Sequence[int]) -> list[Match]:
        for width in (2, 1):
            found = [
                (start + cut, _shared(text, draft[:cut]))
                for start, draft in self.starts()
                for cut in range(width, len(draft))
                if len(text) >= width and draft[cut - width : cut] == list(text[-width:])
            ]
            if found:
                newest = sorted(found, reverse=True)[:LOOKED_AT]
                return [
                    Match(length, place)
                    for place, length in sorted(newest, key=lambda each: (-each[1], -each[0]))
                ]
        return []

    def following(self, place: int, most: int) -> list[int]:
        for start, draft in self.starts():
            if start <= place < start + len(draft):
                return draft[place - start :][:most]
        return []


def _shared(text: Sequence[int], before: Sequence[int]) -> int:
    """The longest common end."""
    lengths = range(1, min(len(text), len(before), LONGEST) + 1)
    return max((n for n in lengths if list(text[-n:]) == list(before[-n:])), default=0)


@given(drafts=DRAFTS, text=st.lists(TOKEN, max_size=40), size=st.integers(1, 80))
@MANY
def test_matches_are_all_places_behind_the_end_of_the_text(
    drafts: list[list[int]], text: list[int], size: int
) -> None:
    cache, everything = SuffixCache(size), Everything(size)
    for draft in drafts:
        cache.add(draft)
        everything.add(draft)
        for end in (text, draft, draft[:-1], [*text, *draft[: len(draft) // 2]]):
            assert cache.matches(end) == everything.matches(end)
        stored = everything.starts()
        assert len(cache) == sum(len(each) for _, each in stored)
        newest = stored[-1] if stored else (0, [])
        assert (cache.newest[0], list(cache.newest[1])) == newest


@given(drafts=DRAFTS, size=st.integers(1, 60), most=st.integers(1, 9))
@MANY
def test_what_follows_a_place_is_the_rest_of_its_draft(
    drafts: list[list[int]], size: int, most: int
) -> None:
    cache, everything = SuffixCache(size), Everything(size)
    for draft in drafts:
        cache.add(draft)
        everything.add(draft)
    for place in range(sum(map(len, drafts)) + len(drafts) + 3):
        assert list(cache.following(place, most)) == everything.following(place, most)


def test_a_match_is_counted_up_to_a_bound_and_the_newest_of_equals_comes_first() -> None:
    cache = SuffixCache()
    cache.add([1, *range(10, 60), 2])
    cache.add([3, *range(10, 60), 4])
    found = cache.matches([1, *range(10, 60)])
    assert [match.length for match in found] == [LONGEST, LONGEST]
    assert [list(cache.following(match.place, 1)) for match in found] == [[4], [2]]


def test_a_place_stays_right_when_older_drafts_are_forgotten() -> None:
    cache = SuffixCache(10)
    cache.add([1, 2, 3, 4, 5])
    cache.add([6, 7, 8, 9])
    place = cache.matches([6, 7])[0].place
    cache.add([10, 11, 12, 13])  # the first is forgotten
    assert not cache.matches([1, 2])
    assert list(cache.following(place, 2)) == [8, 9]
    assert cache.matches([6, 7])[0].place == place


def test_the_newest_draft_is_kept_even_if_it_is_too_long() -> None:
    cache = SuffixCache(4)
    cache.add([9, 9])
    cache.add(list(range(20)))
    assert (len(cache), cache.newest[1]) == (20, list(range(20)))
    cache.add([1])
    assert (len(cache), cache.newest[1]) == (1, [1])
    cache.add([])
    assert cache.newest[1] == [1]


def test_a_store_has_room_for_a_token() -> None:
    with pytest.raises(ValueError, match="0 tokens"):
        SuffixCache(0)


@pytest.mark.parametrize("words", [1, 3, 1000])
@pytest.mark.parametrize("length", [1, 7, 100])
def test_memory_is_bounded_by_what_is_kept_not_by_what_was_added(words: int, length: int) -> None:
    dice, cache = random.Random(length), SuffixCache(200)
    for _ in range(600 // length + 20):
        cache.add([dice.randrange(words) for _ in range(length)])
        assert len(cache) <= 200
        assert sum(len(tokens) for _, tokens in cache._drafts) == len(cache)
        assert sum(map(len, cache._behind.values())) <= 2 * len(cache)
        assert all(cache._behind.values())


class Counted(Sequence[int]):
    """A text that counts how often it is looked into."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens, self.reads = list(tokens), 0

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, place: Any) -> Any:
        self.reads += 1 if isinstance(place, int) else len(self.tokens[place])
        return self.tokens[place]


@pytest.mark.parametrize("words", [1, 2, 50, 4000])
def test_a_match_costs_the_same_in_a_long_draft_and_behind_a_long_text(words: int) -> None:
    """Work a step is bounded by how many places are looked at, not by text or draft."""
    dice = random.Random(words)
    draft = [dice.randrange(words) for _ in range(500)]
    cache = SuffixCache()
    for _ in range(8):
        cache.add(draft)
    text = Counted([dice.randrange(words) for _ in range(4000)] + draft[:250])
    cache.matches(text)
    assert 0 < text.reads <= LOOKED_AT * (LONGEST + 1) + 3


class Asked(SuffixCache):
    """Counts the searches and the tokens that were handed out."""

    def __init__(self) -> None:
        super().__init__()
        self.searches = self.handed = self.asked = 0

    def matches(self, text: Sequence[int]) -> list[Match]:
        self.searches += 1
        assert len(text) <= 64
        return super().matches(text)

    def following(self, place: int, most: int) -> Sequence[int]:
        found = super().following(place, most)
        self.asked += 1
        self.handed += len(found)
        return found


@pytest.mark.parametrize("words", [1, 2, 30])
def test_a_draft_costs_one_search_and_a_few_look_ups_whatever_is_stored(words: int) -> None:
    dice, cache = random.Random(words), Asked()
    for _ in range(8):
        cache.add([dice.randrange(words) for _ in range(500)])
    reuse = Reuse(cache)
    for _ in range(40):
        reuse.observe([dice.randrange(words) for _ in range(100)])
        cache.searches = cache.handed = cache.asked = 0
        tree = DraftTree(0)
        reuse.fill(tree, 24)
        assert cache.searches == 1
        assert cache.asked <= LOOKED_AT + 1
        assert cache.handed <= 24 + 4 * LOOKED_AT
        assert len(tree) <= 24


def proposed(reuse: Reuse, capacity: int, root: int = 99) -> DraftTree:
    tree = DraftTree(root)
    reuse.fill(tree, capacity)
    return tree


def chain_of(tree: DraftTree) -> list[int]:
    """The first way down."""
    tokens, node = [], 0
    while children := list(tree.children(node)):
        node = children[0]
        tokens.append(tree.tokens[node])
    return tokens


@given(
    drafts=st.lists(st.lists(TOKEN, min_size=6, max_size=30), max_size=4),
    text=st.lists(TOKEN, min_size=6, max_size=40),
    capacity=st.integers(1, 16),
    taken=st.integers(0, 2),
    blocks=st.integers(1, 7),
)
@MANY
def test_no_more_is_proposed_than_there_is_room_for(
    drafts: list[list[int]], text: list[int], capacity: int, taken: int, blocks: int
) -> None:
    """And all of it stands in a draft, each first token behind the root once."""
    cache = SuffixCache(60)
    for draft in drafts:
        cache.add(draft)
    spans = {tuple(draft[i : i + 41]) for draft in drafts for i in range(len(draft))}
    reuse = Reuse(cache, drafts[-1] if drafts else ())
    for at in range(0, len(text), blocks):
        tree = DraftTree(9)
        for token in range(taken):
            tree.add(0, token, RETRIEVAL)
        before = len(tree)
        reuse.fill(tree, capacity)
        assert len(tree) <= max(before, capacity)
        for node in range(before, len(tree)):
            path = [tree.tokens[step] for step in tree.path_to(node)[1:]]
            assert any(list(span[: len(path)]) == path for span in spans)
            assert tree.sources[node] in (PREFIX, SUFFIX, BOTH)
        reuse.observe(text[at : at + blocks])


@given(
    draft=st.lists(TOKEN, min_size=1, max_size=40),
    cut=st.integers(0, 40),
    capacity=st.integers(1, 50),
    blocks=st.integers(1, 6),
)
@MANY
def test_while_the_text_agrees_the_rest_of_the_draft_is_proposed(
    draft: list[int], cut: int, capacity: int, blocks: int
) -> None:
    cache = SuffixCache()
    cache.add([0, 1, 2, 3, 0, 1])
    cache.add(draft)
    reuse = Reuse(cache, draft)
    for at in range(0, min(cut, len(draft)), blocks):
        reuse.observe(draft[at : min(at + blocks, cut)])
    if cut < len(draft):
        tree = proposed(reuse, capacity)
        assert tree.tokens[1:] == draft[cut : cut + capacity - 1]
        assert set(tree.sources[1:]) <= {PREFIX}
        assert tree.depths == list(range(len(tree)))


@pytest.mark.parametrize("cut", [0, 1, 7, 30])
@pytest.mark.parametrize("capacity", [2, 3, 8, 30])
def test_behind_one_other_token_the_draft_goes_on(cut: int, capacity: int) -> None:
    draft = list(range(100, 140))
    cache = SuffixCache()
    cache.add(draft)
    reuse = Reuse(cache, draft)
    reuse.observe([*draft[:cut], 5])
    tree = proposed(reuse, capacity)
    assert chain_of(tree) == draft[cut + 1 : cut + capacity]
    assert set(tree.sources[1:]) == {SUFFIX}


@pytest.mark.parametrize("cut", [3, 12])
@pytest.mark.parametrize("other", [[], [5], [5, 6, 7], [5, 6, 7, 8, 9, 10, 11]])
@pytest.mark.parametrize("left_out", [0, 1, 6])
def test_two_tokens_of_the_draft_are_enough_to_find_back(
    cut: int, other: list[int], left_out: int
) -> None:
    """Whatever was written instead, and however much of the draft was left out."""
    draft = list(range(100, 140))
    cache = SuffixCache()
    cache.add(list(range(200, 230)))
    cache.add(draft)
    reuse = Reuse(cache, draft)
    again = cut + left_out + 1
    reuse.observe([*draft[:cut], *other, *draft[again : again + 2]])
    assert chain_of(proposed(reuse, 10)) == draft[again + 2 : again + 11]


def test_a_span_of_an_earlier_draft_is_found_too() -> None:
    cache = SuffixCache()
    cache.add([50, 51, 52, 53, 54, 55])
    cache.add([60, 61, 62])
    reuse = Reuse(cache, [60, 61, 62])
    reuse.observe([60, 7, 51, 52])
    assert chain_of(proposed(reuse, 8)) == [53, 54, 55]


def test_of_two_spans_the_surer_is_whole_and_the_other_begun() -> None:
    cache = SuffixCache()
    cache.add([4, 1, 2, 30, 31, 32, 33, 34, 35, 36, 37, 38])
    cache.add([5, 1, 2, 40, 41, 42, 43, 44, 45, 46, 47, 48])
    reuse = Reuse(cache)
    reuse.observe([4, 1, 2])
    tree = proposed(reuse, 16)
    assert chain_of(tree)[:8] == list(range(30, 38))
    assert [tree.tokens[node] for node in tree.children(0)] == [30, 40]
    assert chain_of(proposed(reuse, 5))[:4] == [30, 31, 32, 33]


@pytest.mark.parametrize("half", ["prefix", "suffix"])
def test_either_way_of_reusing_can_be_switched_off(half: str) -> None:
    draft = list(range(100, 120))
    cache = SuffixCache()
    cache.add(draft)
    reuse = Reuse(cache, draft, **{half: False})
    agreeing = proposed(reuse, 9)
    # Without the prefix the text first has to find its place in the draft.
    assert set(agreeing.sources[1:]) == (set() if half == "prefix" else {PREFIX})
    reuse.observe([7, *draft[1:4]])
    assert (proposed(reuse, 9).drafted > 0) == (half == "prefix")


def test_a_draft_that_is_at_its_end_hides_no_other_span() -> None:
    cache = SuffixCache()
    cache.add([1, 2, 3, 4])
    reuse = Reuse(cache, [1, 2, 3, 4])
    reuse.observe([1, 2, 3, 4, 2])
    assert chain_of(proposed(reuse, 9)) == [3, 4]


def test_behind_a_drafts_end_the_next_draft_does_not_begin() -> None:
    cache = SuffixCache()
    cache.add([1, 2, 3])
    end = cache.newest[0] + 3
    cache.add([7, 8, 9])
    assert list(cache.following(end, 2)) == []
    assert list(cache.following(cache.newest[0], 2)) == [7, 8]


def test_a_text_that_left_the_draft_for_good_is_left_alone() -> None:
    cache = SuffixCache()
    cache.add(list(range(100, 140)))
    reuse = Reuse(cache, list(range(100, 140)))
    reuse.observe(list(range(12)))
    assert proposed(reuse, 20).drafted == 0


class TestSchedule:
    @given(
        first=st.integers(1, 40),
        every=st.integers(0, 20),
        stops=st.lists(st.integers(1, 9), max_size=40),
    )
    def test_a_draft_at_each_point_and_of_several_passed_at_once_one(
        self, first: int, every: int, stops: list[int]
    ) -> None:
        points = {first} | {first + every * n for n in range(1, 400) if every}
        drafter, thinking = SSR(Schedule(first, every, 7)), 0
        for more in stops:
            passed = points & set(range(thinking + 1, thinking + more + 1))
            thinking += more
            assert drafter.opens(thinking) == (7 if passed else 0)
            assert drafter.opens(thinking) == 0

    @pytest.mark.parametrize(("first", "every", "length"), [(0, 0, 1), (1, -1, 1), (1, 0, 0)])
    def test_a_draft_has_a_point_and_a_length(self, first: int, every: int, length: int) -> None:
        with pytest.raises(ValueError, match="no draft"):
            Schedule(first, every, length)


class TestSSR:
    def answering(self, *drafts: list[int], beside: Any = None, **named: bool) -> SSR:
        """An SSR whose thinking has ended."""
        drafter = SSR(Schedule(1), beside, **named)
        drafter.observe([1, 2, 3])
        for draft in drafts:
            drafter.written(draft)
        drafter.answer()
        return drafter

    def test_the_thinking_is_written_token_by_token(self) -> None:
        drafter = SSR(Schedule(1))
        drafter.observe([1, 2, 3, 1, 2])
        drafter.written([1, 2, 3])
        assert drafter.propose(2, 20).drafted == 0

    @pytest.mark.parametrize("capacity", [1, 2, 3, 4, 16])
    @pytest.mark.parametrize("beside", [None, Racer], ids=["alone", "racer"])
    def test_no_capacity_is_exceeded(self, capacity: int, beside: Any) -> None:
        other = beside and beside()
        drafter = self.answering([50, 51, 52, 53, 50, 51, 54, 55], beside=other)
        if other:
            drafter.learn([3, 50], [[7, 8], [9, 10]], [[0.6, 0.4], [0.9, 0.1]])
        for token in ([], [50], [51], [60]):
            drafter.observe(token)
            assert len(drafter.propose(3, capacity)) <= capacity
            branch = drafter.branch()
            branch.observe(token)
            assert len(branch.propose(3, capacity)) <= capacity

    def test_a_new_draft_is_proposed_from_its_first_token(self) -> None:
        drafter = self.answering([50, 51, 52], [60, 61, 62])
        assert chain_of(drafter.propose(3, 9)) == [60, 61, 62]

    def test_a_draft_that_only_repeats_the_last_ones_beginning_does_not_replace_it(self) -> None:
        drafter = self.answering([50, 51, 52, 53], [50, 51])
        assert list(drafter.answer()) == [50, 51, 52, 53]
        assert not drafter.written([50, 51, 52])
        assert drafter.written([50, 51, 9])
        assert list(drafter.answer()) == [50, 51, 9]
        drafter = self.answering([50, 51, 52, 53], [50, 51])
        assert chain_of(drafter.propose(3, 9)) == [50, 51, 52, 53]
        assert len(drafter.cache) == 4

    def test_without_a_draft_nothing_is_proposed(self) -> None:
        assert self.answering().propose(3, 9).drafted == 0

    def test_a_branch_checks_the_last_draft_first_and_extends_it(self) -> None:
        drafter = SSR(Schedule(1))
        drafter.written([50, 51, 52])
        branch = drafter.branch()
        assert chain_of(branch.propose(3, 9)) == [50, 51, 52]
        branch.observe([50, 7])
        assert chain_of(branch.propose(7, 9)) == [52]

    def test_separate_drafts_know_nothing_of_each_other(self) -> None:
        drafter = SSR(Schedule(1), separate=True)
        drafter.written([50, 51, 52])
        branch = drafter.branch()
        branch.observe([50, 51])
        assert branch.propose(51, 9).drafted == 0

    def test_what_the_drafts_leave_is_the_other_methods(self) -> None:
        other = Racer()
        drafter = self.answering([50, 51], beside=other)
        drafter.learn([3], [[7, 8]], [[0.6, 0.4]])
        tree = drafter.propose(3, 9)
        assert tree.sources[tree.child(0, 50) or 0] == PREFIX
        assert tree.sources[tree.child(0, 7) or 0] == LOGITS
        assert len(tree) == 5


class TestBeside:
    """RACER in a draft branch."""

    def racer(self) -> Racer:
        racer = Racer()
        racer.observe([1, 2, 3, 4, 5, 6, 1, 2])
        return racer

    def test_what_is_committed_to_it_is_not_committed_to_the_other_text(self) -> None:
        racer, apart = self.racer(), self.racer()
        branch = racer.beside()
        branch.observe([7, 8, 9, 7, 8])
        assert racer.automaton is not None
        assert apart.automaton is not None
        assert len(racer.automaton) == len(apart.automaton)
        assert racer.automaton.find([7]) is None
        before, after = apart.propose(2, 20), racer.propose(2, 20)
        assert (after.tokens, after.parents) == (before.tokens, before.parents)

    def test_scored_positions_teach_both(self) -> None:
        racer = self.racer()
        branch = racer.beside()
        branch.learn([40], [[41, 42]], [[0.7, 0.3]])
        racer.learn([50], [[51, 52]], [[0.7, 0.3]])
        assert racer.table.after(40)[0] == [41, 42]
        assert branch.propose(50, 3).tokens == [50, 51, 52]

    def test_it_retrieves_from_its_own_text_and_from_the_other(self) -> None:
        racer = self.racer()
        branch = racer.beside()
        branch.observe([7, 2, 3])
        assert chain_of(branch.propose(3, 9))[:3] == [4, 5, 6]
        branch.observe([8, 9, 20, 21, 8, 9])
        assert chain_of(branch.propose(9, 9))[:2] == [20, 21]

    def test_of_what_both_texts_have_each_is_offered(self) -> None:
        racer = self.racer()
        branch = racer.beside()
        branch.observe([2, 3, 30, 2, 3])
        assert {4, 30} <= set(branch.propose(3, 12).tokens)

    def test_a_half_that_is_off_stays_off(self) -> None:
        only = Racer(logits=False)
        only.observe([1, 2, 3, 1, 2])
        branch = only.beside()
        branch.learn([5], [[6]], [[1.0]])
        assert branch.successors == 0
        assert branch.propose(5, 9).drafted == 0
        other = Racer(retrieval=False).beside()
        other.observe([1, 2, 3, 1, 2])
        assert other.propose(2, 9).drafted == 0

    @given(
        text=st.lists(TOKEN, max_size=40),
        tail=st.lists(TOKEN, max_size=14),
        shortest=st.integers(1, 3),
    )
    @MANY
    def test_the_ends_of_another_text_are_found_longest_first(
        self, text: list[int], tail: list[int], shortest: int
    ) -> None:
        racer = Racer()
        racer.observe(text)
        assert racer.automaton is not None
        found = racer.automaton.ending(tail, shortest)
        said = [text[i : i + n] for n in range(1, 11) for i in range(len(text) - n + 1)]
        lengths = range(min(10, len(tail)), shortest - 1, -1)
        assert [gram.depth for gram in found] == [n for n in lengths if tail[-n:] in said]
        for gram in found:
            assert gram.count == said.count(tail[-gram.depth :])
