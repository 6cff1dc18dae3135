"""Choices: exact frequencies, noise that depends on its key alone, ties by id."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from engine.loop import accept
from engine.sampling import GREEDY_BELOW, Sampler, gumbel_noise, lowest_best
from engine.tree import LOGITS, DraftTree
from tests.reference import (
    allowed,
    greedy,
    gumbel,
    position_key,
    sampled,
    splitmix,
    token_with_hash,
    unsplitmix,
)

FAST = settings(derandomize=True, database=None, deadline=None, max_examples=120)
TOP = (1 << 64) - 1


class TestNoise:
    def test_it_is_the_noise_of_the_definition(self) -> None:
        tokens = [0, 1, 2, 63, 49_151, 151_935, (1 << 31) - 1]
        for seed, phase, index in product(
            (0, 1, 7, (1 << 63) - 1), ("reasoning", "answer"), (0, 1, 999)
        ):
            noise = gumbel_noise(seed, phase, index, torch.tensor(tokens))
            expected = [gumbel(seed, phase, index, token) for token in tokens]
            assert noise.dtype == torch.float64
            assert noise.tolist() == pytest.approx(expected, rel=1e-13, abs=1e-13)

    def test_the_same_key_gives_the_same_noise_whatever_is_asked_with_it(self) -> None:
        every = gumbel_noise(5, "answer", 17, torch.arange(1000))
        some = torch.tensor([999, 3, 500])
        assert torch.equal(gumbel_noise(5, "answer", 17, some), every[some])
        assert torch.equal(gumbel_noise(5, "answer", 17, torch.arange(1000)), every)

    @pytest.mark.parametrize("other", [(6, "answer", 17), (5, "reasoning", 17), (5, "answer", 18)])
    def test_another_seed_phase_or_position_gives_other_noise(
        self, other: tuple[int, str, int]
    ) -> None:
        tokens = torch.arange(4000)
        a, b = gumbel_noise(5, "answer", 17, tokens), gumbel_noise(*other, tokens)
        assert not torch.isclose(a, b).any()
        assert abs(np.corrcoef(a.numpy(), b.numpy())[0, 1]) < 0.06

    def test_neighbouring_tokens_are_independent(self) -> None:
        noise = gumbel_noise(1, "answer", 0, torch.arange(20_000)).numpy()
        assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.03
        uniform = np.exp(-np.exp(-noise))
        assert chisquare(np.histogram(uniform, bins=50, range=(0, 1))[0]).pvalue > 1e-3

    @pytest.mark.parametrize(
        "hashed", [0, 1, (1 << 12) - 1, 1 << 12, 1 << 63, TOP - (1 << 12), TOP]
    )
    def test_it_is_finite_at_the_ends_of_the_hash(self, hashed: int) -> None:
        token = token_with_hash(3, "answer", 4, hashed)
        noise = float(gumbel_noise(3, "answer", 4, torch.tensor([token])))
        assert math.isfinite(noise)
        assert noise == pytest.approx(gumbel(3, "answer", 4, token), rel=1e-12)
        assert -3.61 < noise < 36.8
        if hashed == TOP:
            assert noise > 36.7
        if hashed == 0:
            assert noise < -3.58

    def test_there_is_no_third_phase(self) -> None:
        with pytest.raises(KeyError):
            gumbel_noise(1, "dreaming", 0, torch.arange(3))

    @given(st.integers(0, TOP))
    @FAST
    def test_the_references_hash_can_be_turned_back(self, value: int) -> None:
        assert splitmix(unsplitmix(value)) == value


DRAWS = 20_000
TABLE = torch.randn(9, 8, generator=torch.Generator().manual_seed(4), dtype=torch.float64) * 1.5
"""Logits of a model of eight tokens, by the token before; 8 is the prompt."""


def noise_of_many_seeds(index: int) -> np.ndarray:
    """(DRAWS, 8): the noise of every seed at one position, in one call.

    A seed enters the hash as a sum, so that token t of another seed has the noise of a
    (strange) token of seed 0.
    """
    back = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    keys = [position_key(seed, "answer", index) for seed in range(DRAWS)]
    moved = np.array([((key - keys[0]) * back) & TOP for key in keys], dtype=np.uint64)
    strange = moved[:, None] + np.arange(8, dtype=np.uint64)
    flat = torch.from_numpy(strange.view(np.int64)).flatten()
    return gumbel_noise(0, "answer", index, flat).view(DRAWS, 8).numpy()


@pytest.fixture(scope="module")
def noise() -> list[np.ndarray]:
    return [noise_of_many_seeds(index) for index in range(4)]


def drafts() -> list[DraftTree]:
    """After each token its two best successors, and the best one of each."""
    best = TABLE.topk(2).indices.tolist()
    trees = []
    for token in range(9):
        tree = DraftTree(token)
        for child in [tree.add(0, successor, LOGITS) for successor in best[token]]:
            tree.add(child, best[tree.tokens[child]][0], LOGITS)
        trees.append(tree)
    return trees


def first_pair(trees: list[DraftTree], choose: Callable[[int, int], int]) -> tuple[int, int]:
    """The first two tokens written with drafts; `choose(before, index)` is the model's choice."""
    new: list[int] = []
    while len(new) < 2:
        tree, written = trees[new[-1] if new else 8], len(new)

        def at(node: int, tree: DraftTree = tree, written: int = written) -> int:
            return choose(tree.tokens[node], written + tree.depths[node])

        path, bonus = accept(tree, at)
        new += [*(tree.tokens[node] for node in path[1:]), bonus]
    return new[0], new[1]


class TestFrequencies:
    def test_the_first_two_tokens_follow_the_softmax_exactly(self, noise: list[np.ndarray]) -> None:
        choices = [
            (TABLE.numpy()[None] + each[:, None, :]).argmax(axis=2).tolist() for each in noise
        ]
        trees = drafts()
        seen = Counter(
            first_pair(trees, lambda before, index: choices[index][seed][before])  # noqa: B023
            for seed in range(DRAWS)
        )
        first = torch.softmax(TABLE, dim=1)
        pairs = list(product(range(8), repeat=2))
        expected = [DRAWS * float(first[8, a] * first[a, b]) for a, b in pairs]
        assert chisquare([seen[pair] for pair in pairs], expected).pvalue > 1e-3

    def test_those_draws_are_the_samplers_own(self, noise: list[np.ndarray]) -> None:
        for seed in range(0, DRAWS, 97):
            for index, before in ((0, 8), (1, seed % 9), (2, seed % 7)):
                chosen = Sampler(1.0, seed=seed).choose(TABLE[before], "answer", index)
                assert chosen.token == (TABLE[before].numpy() + noise[index][seed]).argmax()

    def test_that_test_would_notice_a_favoured_draft(self, noise: list[np.ndarray]) -> None:
        share = torch.softmax(TABLE[8], dim=0)
        favoured = int(share.argmax())
        first, second = ((TABLE[8].numpy() + noise[index]).argmax(axis=1) for index in (0, 1))
        seen = np.bincount(np.where(first == favoured, first, second), minlength=8)
        assert chisquare(seen, DRAWS * share.numpy()).pvalue < 1e-9


SETTINGS = st.tuples(
    st.sampled_from([0.05, 0.7, 1.0, 3.0]),
    st.sampled_from([0, 1, 2, 5, 30, 64, 100]),
    st.sampled_from([0.05, 0.3, 0.61, 0.9, 0.999, 1.0]),
    st.integers(0, (1 << 63) - 1),
)


@FAST
@given(SETTINGS, st.integers(0, 1 << 30), st.integers(0, 1 << 20), st.booleans())
def test_a_choice_is_that_of_the_definition(
    asked: tuple[float, int, float, int], table: int, index: int, coarse: bool
) -> None:
    logits = np.random.default_rng(table).normal(size=64) * 3
    if coarse:  # many equal logits, as bfloat16 has them
        logits = np.round(logits)
    chosen = Sampler(*asked).choose(torch.tensor(logits), "answer", index)
    assert chosen.token == sampled(*asked)(logits, index)


@FAST
@given(
    st.lists(st.integers(-3, 3), min_size=2, max_size=12),
    st.integers(1, 12),
    st.sampled_from([0.11, 0.37, 0.7, 0.93, 1.0]),
)
def test_ties_at_the_edge_of_a_filter_go_to_the_lowest_ids(
    scores: list[int], top_k: int, top_p: float
) -> None:
    logits = np.array(scores, dtype=np.float64)
    left = Sampler(1.0, top_k, top_p)._candidates(torch.tensor(logits)).tolist()
    assert left == allowed(logits, 1.0, top_k, top_p)


def test_temperature_comes_before_top_p_and_top_k_before_top_p() -> None:
    logits = torch.log(torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64))
    assert Sampler(1.0, 0, 0.6)._candidates(logits).tolist() == [0, 1]
    # Sharpened first, the best token alone has more than .5 of the whole.
    assert Sampler(0.5, 0, 0.5)._candidates(logits / 0.5).tolist() == [0]
    # Of the two best alone, the first has 4/7, which is more than .55; of all it has .4.
    assert Sampler(1.0, 2, 0.55)._candidates(logits).tolist() == [0]
    assert Sampler(1.0, 0, 0.55)._candidates(logits).tolist() == [0, 1]


class TestGreedy:
    @pytest.mark.parametrize("temperature", [0.0, 1e-9, GREEDY_BELOW * 0.999])
    def test_below_the_threshold_the_seed_does_not_matter(self, temperature: float) -> None:
        logits = torch.tensor([1.0, 3.0, 2.9999999, 3.0], dtype=torch.float64)
        for seed in range(20):
            assert Sampler(temperature, 0, 1.0, seed).choose(logits, "answer", seed).token == 1

    def test_from_the_threshold_on_noise_is_added(self) -> None:
        assert not Sampler(GREEDY_BELOW).greedy
        flat = torch.zeros(8, dtype=torch.float64)
        chosen = {Sampler(GREEDY_BELOW, seed=s).choose(flat, "answer", 0).token for s in range(40)}
        assert len(chosen) > 4

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
    def test_the_lowest_of_equals_is_chosen_in_every_dtype(self, dtype: torch.dtype) -> None:
        scores = torch.tensor([1.0, 250.0, 250.3, 249.0, 250.4, 250.0], dtype=dtype)
        chosen = lowest_best(scores)
        assert chosen.token == greedy(scores.double().numpy(), 0)
        ordered = sorted(scores.double().tolist())
        assert chosen.gap == pytest.approx(ordered[-1] - ordered[-2])

    def test_bfloat16_ties_are_ties(self) -> None:
        scores = torch.tensor([0.0, 250.0, 250.3, 250.2], dtype=torch.bfloat16)
        assert scores[1] == scores[2]
        assert (lowest_best(scores).token, lowest_best(scores).gap) == (1, 0.0)

    @FAST
    @given(st.lists(st.integers(-2, 2), min_size=1, max_size=9))
    def test_the_gap_is_the_distance_to_the_second_best(self, values: list[int]) -> None:
        chosen = lowest_best(torch.tensor(values, dtype=torch.float64))
        assert chosen.token == values.index(max(values))
        rest = values[: chosen.token] + values[chosen.token + 1 :]
        assert chosen.gap == (max(values) - max(rest) if rest else math.inf)


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(-0.1, 0, 1.0), (math.nan, 0, 1.0), (math.inf, 0, 1.0), (1.0, -1, 1.0), (1.0, 0, 0.0),
     (1.0, 0, 1.1), (1.0, 0, math.nan)],
)  # fmt: skip
def test_settings_outside_their_range_are_refused(
    temperature: float, top_k: int, top_p: float
) -> None:
    with pytest.raises(ValueError, match=r"is not|is negative"):
        Sampler(temperature, top_k, top_p)
