"""How much is drafted: what pays, never more, always a tree."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.capacity import PAPER_CAPACITY, Auto, Fixed
from engine.cost import SIZES, ForwardCost
from engine.tree import BOTH, LOGITS, PREFIX, RETRIEVAL, DraftTree
from tests.test_cost import COSTS
from tests.test_tree import assert_sound, words

FAST = settings(derandomize=True, database=None, deadline=None, max_examples=60)

FLAT = ForwardCost([0.01] * len(SIZES), [0.0] * len(SIZES))
STEEP = ForwardCost([0.01 * size for size in SIZES], [0.0] * len(SIZES))
RISING = ForwardCost([0.010, 0.012, 0.016, 0.024, 0.04, 0.08, 0.16], [0.0] * len(SIZES))


def random_tree(nodes: int, seed: int) -> DraftTree:
    dice = random.Random(seed)
    tree = DraftTree(0)
    while len(tree) < nodes:
        tree.add(
            dice.randrange(len(tree)), dice.randrange(50), dice.choice([RETRIEVAL, LOGITS, BOTH]),
            rank=dice.randrange(8), count=dice.randrange(4), share=dice.random(),
        )  # fmt: skip
    return tree


def taught(auto: Auto, seed: int) -> Auto:
    """With some luck and some failures behind it."""
    dice = random.Random(seed)
    for step in range(dice.randrange(30)):
        tree = random_tree(dice.randint(1, 20), step)
        auto.observe(tree, tree.path_to(dice.randrange(len(tree))))
    return auto


def chances(auto: Auto, tree: DraftTree) -> list[float]:
    """How likely each node is to be reached, as far as was learned."""
    likely = [1.0] * len(tree)
    for node in range(1, len(tree)):
        likely[node] = likely[tree.parents[node]] * auto.acceptance.of(tree, node)
    return likely


@FAST
@given(COSTS, st.integers(0, 3000), st.integers(1, 60), st.integers(0, 999))
def test_trim_always_returns_a_tree_that_was_proposed(
    cost: ForwardCost, past: int, nodes: int, seed: int
) -> None:
    auto, tree = taught(Auto(cost), seed), random_tree(nodes, seed)
    trimmed = auto.trim(tree, past)
    assert_sound(trimmed)
    assert set(words(trimmed)) <= set(words(tree))
    assert 1 <= auto.most() <= SIZES[-1]
    assert all(0 <= auto.acceptance.of(tree, node) <= 1 for node in range(1, nodes))


@FAST
@given(COSTS, st.integers(0, 3000), st.integers(1, 8), st.integers(0, 999))
def test_no_other_part_of_the_tree_would_give_more_tokens_a_second(
    cost: ForwardCost, past: int, nodes: int, seed: int
) -> None:
    auto, tree = taught(Auto(cost), seed), random_tree(nodes, seed)
    likely = chances(auto, tree)
    costs = cost.curve(nodes, past)
    best = max(
        math.fsum(likely[node] for node in (0, *part)) / costs[len(part)]
        for size in range(nodes)
        for part in combinations(range(1, nodes), size)
        if all(tree.parents[node] in (0, *part) for node in part)
    )
    found = words(tree)
    kept = [found[word] for word in words(auto.trim(tree, past))]
    assert math.fsum(likely[node] for node in kept) / costs[len(kept) - 1] == pytest.approx(best)


def run(auto: Auto, steps: int, accepted: bool) -> list[int]:
    """Sizes scored when of chains of guesses all, or none, is right."""
    sizes = []
    for _ in range(steps):
        tree = DraftTree(0)
        while len(tree) < auto.most():
            tree.add(len(tree) - 1, 1, LOGITS, share=0.5)
        scored = auto.trim(tree, 100)
        sizes.append(len(scored))
        auto.observe(scored, range(len(scored)) if accepted else [0])
    return sizes


def test_where_every_token_costs_as_much_as_a_forward_nothing_is_drafted() -> None:
    assert run(Auto(STEEP), 5, accepted=False)[-1] == 1
    assert run(Auto(STEEP), 40, accepted=False)[1:] == [1] * 39


def test_where_drafts_cost_something_and_are_never_right_drafting_ends() -> None:
    sizes = run(Auto(RISING), 400, accepted=False)
    assert sizes[0] > 1
    settled = sizes[200:]
    assert settled.count(1) >= len(settled) * 11 // 12 - 1
    spent = sum(RISING.seconds(size, 100) for size in settled)
    assert spent <= 1.02 * len(settled) * RISING.seconds(1, 100)


def test_drafting_that_has_ended_is_tried_again_and_can_come_back() -> None:
    auto = Auto(RISING)
    assert run(auto, 200, accepted=False)[-1] == 1
    assert run(auto, 400, accepted=True)[-1] > 4


def test_where_tokens_are_free_and_right_the_tree_grows_to_the_limit() -> None:
    auto = Auto(FLAT)
    sizes = run(auto, 12, accepted=True)
    assert sizes == sorted(sizes)
    assert sizes[-1] == auto.most() == SIZES[-1]
    smaller = Auto(FLAT, most=20)
    assert max(run(smaller, 12, accepted=True)) == 20


def test_what_is_right_more_often_is_drafted_more() -> None:
    right, wrong = Auto(RISING), Auto(RISING)
    assert run(right, 60, accepted=True)[-1] > 4 * run(wrong, 60, accepted=False)[-1]


def test_luck_with_one_source_does_not_speak_for_the_other() -> None:
    auto = Auto(RISING)
    tree = DraftTree(0)
    good, bad = tree.add(0, 1, RETRIEVAL, count=2), tree.add(0, 2, LOGITS)
    before = auto.acceptance.of(tree, good), auto.acceptance.of(tree, bad)
    for _ in range(30):
        auto.observe(tree, [0, good])
    assert auto.acceptance.of(tree, good) > before[0]
    assert auto.acceptance.of(tree, bad) < before[1]


@pytest.mark.parametrize("nodes", [1, 7, PAPER_CAPACITY])
def test_a_fixed_capacity_stays_what_it_is(nodes: int) -> None:
    fixed, tree = Fixed(nodes), random_tree(9, 1)
    fixed.observe(tree, [0])
    assert fixed.most() == nodes
    assert fixed.trim(tree, 10) is tree


@pytest.mark.parametrize("nodes", [0, -3])
def test_a_tree_has_at_least_its_root(nodes: int) -> None:
    with pytest.raises(ValueError, match="at least its root"):
        Fixed(nodes)


class TestShare:
    """One forward for two trees: the text's, and that of a draft of the answer."""

    @FAST
    @given(COSTS, st.integers(0, 3000), st.integers(1, 40), st.integers(1, 40), st.integers(0, 999))
    def test_parts_of_both_are_trees_with_their_roots(
        self, cost: ForwardCost, past: int, own: int, beside: int, seed: int
    ) -> None:
        auto = taught(Auto(cost), seed)
        tree, branch = random_tree(own, seed), random_tree(beside, seed + 1)
        kept = auto.share(tree, branch, past)
        for part, whole in zip(kept, (tree, branch), strict=True):
            assert_sound(part)
            assert set(words(part)) <= set(words(whole))
        assert 1 <= auto.most() <= SIZES[-1]

    @FAST
    @given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(0, 999))
    def test_a_fixed_number_of_nodes_is_used_up_and_not_exceeded(
        self, nodes: int, own: int, beside: int, seed: int
    ) -> None:
        tree, branch = random_tree(own, seed), random_tree(beside, seed + 1)
        kept = Fixed(nodes).share(tree, branch, 10)
        for part, whole in zip(kept, (tree, branch), strict=True):
            assert_sound(part)
            assert words(part).keys() <= words(whole).keys()
        assert sum(map(len, kept)) == max(2, min(nodes, own + beside))
        assert all(
            min(len(each), max(1, nodes // 2)) <= len(part)
            for part, each in zip(kept, (tree, branch), strict=True)
        )

    @FAST
    @given(COSTS, st.integers(0, 3000), st.integers(1, 30), st.integers(2, 30), st.integers(0, 999))
    def test_checking_an_earlier_draft_slows_the_text_by_little(
        self, cost: ForwardCost, past: int, own: int, beside: int, seed: int
    ) -> None:
        """By no more than 15% of a forward with the text's tree and the branch's root."""
        auto = taught(Auto(cost), seed)
        kept, aside = auto.share(random_tree(own, seed), random_tree(beside, seed + 1), past)
        costs = cost.curve(own + beside, past)
        if len(aside) > 1:
            assert costs[len(kept) + len(aside) - 1] <= 1.15 * costs[len(kept)] * (1 + 1e-9)

    def test_where_nodes_are_free_all_of_a_sure_draft_is_checked(self) -> None:
        chain = DraftTree(0)
        for node in range(20):
            chain.add(node, node + 1, PREFIX, share=0.95)
        kept, aside = Auto(FLAT).share(DraftTree(3), chain, 100)
        assert (len(kept), len(aside)) == (1, 21)

    def test_where_every_node_costs_a_forward_the_roots_are_all(self) -> None:
        kept, aside = Auto(STEEP).share(random_tree(9, 1), random_tree(9, 2), 100)
        assert (len(kept), len(aside)) == (1, 1)

    def test_luck_in_the_branch_does_not_speak_for_the_text(self) -> None:
        auto, tree = Auto(RISING), DraftTree(0)
        node = tree.add(0, 1, RETRIEVAL, share=0.5)
        before = auto.acceptance.of(tree, node), auto.branch_acceptance.of(tree, node)
        for _ in range(20):
            auto.observe_branch(tree, [0, node])
        assert auto.acceptance.of(tree, node) == before[0]
        assert auto.branch_acceptance.of(tree, node) > before[1]
