"""The target: every node of a tree is scored as its own path alone would be."""

from __future__ import annotations

import math
import random
import weakref
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.cost import SIZES, ForwardCost
from engine.drafter import NoDraft
from engine.kv import KVStore
from engine.loop import Limit
from engine.target import Scores, Target
from engine.tree import LOGITS, DraftTree
from racer import Racer
from tests.reference import plain_logits
from tests.test_loop import CONTEXT, prompt_of, run
from tests.tiny import ARCHITECTURES, VOCABULARY, tiny

PROMPT = prompt_of(11)
CLOSE = {"rtol": 0.0, "atol": 1e-10}


def branching(root: int, nodes: int, seed: int) -> DraftTree:
    """A random tree of few tokens: different branches hold the same words."""
    dice = random.Random(seed)
    few = [dice.randrange(VOCABULARY) for _ in range(4)]
    tree = DraftTree(root)
    while len(tree) < nodes:
        tree.add(dice.randrange(len(tree)), dice.choice(few), LOGITS)
    return tree


def deepest_path(tree: DraftTree) -> list[int]:
    """The longest way down, of several the one whose nodes lie furthest apart."""
    last = max(range(len(tree)), key=lambda node: (tree.depths[node], node))
    return tree.path_to(last)


def prefilled(target: Target, prompt: Any = PROMPT) -> Target:
    for _ in target.prefill(prompt):
        pass
    return target


def assert_scored_alone(model: Any, text: list[int], tree: DraftTree, logits: Tensor) -> None:
    """Each node's logits are those of a forward over the text and the node's own path."""
    for node in range(len(tree)):
        path = [tree.tokens[step] for step in tree.path_to(node)]
        alone = torch.from_numpy(plain_logits(model, [*text, *path]))
        torch.testing.assert_close(logits[node], alone, **CLOSE)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("pad", [False, True])
def test_every_node_is_scored_as_its_own_path_before_and_after_commits(
    architecture: str, pad: bool
) -> None:
    cheap_at_32 = ForwardCost([1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 5.0], [0.0] * len(SIZES))
    target = Target(tiny(architecture), cheap_at_32 if pad else None, room=4)
    reference = tiny(architecture, 0, "sdpa")
    prefilled(target)
    text, root = list(PROMPT), 5
    for step, nodes in enumerate((14, 1, 9, 20)):
        tree = branching(root, nodes, seed=step)
        query = target.lay_out(tree)
        assert len(query.tokens) == (32 if pad and nodes > 8 else nodes)
        scores = target.score(query)
        assert scores.logits.shape == (len(query.tokens), VOCABULARY)
        logits = scores.of(query.main).logits
        assert logits.shape == (nodes, VOCABULARY)
        assert_scored_alone(reference, text, tree, logits)
        path = deepest_path(tree)
        target.commit(path)
        text += [tree.tokens[node] for node in path]
        assert target.past == len(text)
        root = (root * 7 + 3) % VOCABULARY
    assert len(text) - len(PROMPT) > 8


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_after_commits_the_cache_holds_what_reading_the_text_would(architecture: str) -> None:
    target = prefilled(Target(tiny(architecture), room=2))
    text = list(PROMPT)
    for step in range(4):
        tree = branching(step + 3, 12, seed=40 + step)
        target.score(target.lay_out(tree))
        path = deepest_path(tree)
        assert path != list(range(len(path)))
        target.commit(path)
        text += [tree.tokens[node] for node in path]
    with torch.inference_mode():
        cache = tiny(architecture, 0, "sdpa")(torch.tensor([text]), use_cache=True).past_key_values
    store = target._store
    assert store.length == target.past == len(text)
    for mine, theirs in zip(store.layers, cache.layers, strict=True):
        torch.testing.assert_close(mine.keys[:, :, : len(text)], theirs.keys, **CLOSE)
        torch.testing.assert_close(mine.values[:, :, : len(text)], theirs.values, **CLOSE)


def test_a_mask_shows_the_text_the_ancestors_and_the_node_itself_whatever_came_before() -> None:
    target = Target(tiny("llama"))
    dice = random.Random(3)
    for step in range(40):
        past = dice.choice([0, 1, 7, 64, 130, 1500, 20])
        target.pretend(past)
        tree = branching(1, dice.randint(2, 70), seed=step)
        mask = target.lay_out(tree).mask
        assert mask is not None
        n = len(tree)
        expected = torch.full((n, past + n), -math.inf, dtype=torch.float64)
        expected[:, :past] = 0
        for node in range(n):
            for seen in tree.path_to(node):
                expected[node, past + seen] = 0
        assert torch.equal(mask, expected.repeat(2, 1)[None, None])  # two heads a group


def test_positions_count_depth_not_rows() -> None:
    target = prefilled(Target(tiny("llama")))
    tree = branching(1, 17, seed=2)
    query = target.lay_out(tree)
    assert query.positions == [len(PROMPT) + len(tree.path_to(node)) - 1 for node in range(17)]
    assert (query.main.lead, query.main.tree, query.branch) == (0, 17, None)


@pytest.mark.parametrize("chunk", [1, 4, 5, 100])
@pytest.mark.parametrize("some", [True, False])
def test_prefill_gives_the_logits_of_each_piece(
    chunk: int, some: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Target, "chunk", chunk)
    target = Target(tiny("qwen3"), room=3)
    read: list[int] = []
    wanted = {2, 3, 7} if some else ()
    for piece, places, scores in target.prefill(PROMPT, wanted):
        assert 0 < len(piece) <= chunk
        for place, logits in zip(places, scores.logits, strict=True):
            ids = [*read, *piece][: len(read) + place + 1]
            alone = torch.from_numpy(plain_logits(tiny("qwen3", 0, "sdpa"), ids))
            torch.testing.assert_close(logits, alone, **CLOSE)
        here = {place - len(read) for place in wanted} & set(range(len(piece)))
        assert places == sorted({*here, len(piece) - 1})
        read += piece
        assert target.past == len(read)
    assert read == list(PROMPT)


@pytest.mark.parametrize("drafter", [NoDraft(), Racer()], ids=["none", "racer"])
def test_reading_a_prompt_never_holds_logits_of_more_than_one_piece(
    drafter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted whenever the model has just made new ones, the older ones still alive included."""
    monkeypatch.setattr(Target, "chunk", 6)
    made: list[weakref.ref[Tensor]] = []
    most = 0

    class Watched(Target):
        def _forward(self, *args: Any, **kwargs: Any) -> Tensor:
            nonlocal most
            logits = super()._forward(*args, **kwargs)
            held = sum(len(older) for ref in made if (older := ref()) is not None)
            most = max(most, held + len(logits))
            made.append(weakref.ref(logits))
            return logits

    prompt = prompt_of(50)
    run(drafter, prompt=prompt, limit=Limit(1, CONTEXT), target=Watched(tiny("llama")))
    assert len(made) == 9
    assert most <= 6
    assert all(ref() is None for ref in made)


def test_prompt_and_text_up_to_the_last_position_are_read_once() -> None:
    target = prefilled(Target(tiny("llama")))
    assert (target.past, target.forwards) == (len(PROMPT), 1)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("vocabulary", [5, 63, 64, 640, 1000, 4099])
@pytest.mark.parametrize("k", [1, 4, 8])
def test_successors_are_the_best_of_each_row_best_first_with_their_shares(
    vocabulary: int, k: int, dtype: torch.dtype
) -> None:
    made = torch.Generator().manual_seed(vocabulary)
    logits = torch.randn(7, vocabulary, generator=made, dtype=torch.float64).to(dtype)
    logits[3, -1] = 99.0
    logits[4, :3] = 98.0
    found = Scores(logits).successors(k)
    assert len(found.ids) == len(found.shares) == 7
    for row, ids, shares in zip(logits.double(), found.ids, found.shares, strict=True):
        assert len(ids) == len(set(ids)) == min(k, vocabulary)
        assert row[ids].tolist() == sorted(row.tolist(), reverse=True)[:k]
        assert shares == pytest.approx(row[ids].softmax(0).tolist(), abs=1e-5)


class TestStore:
    def rows(self, *marks: float) -> Tensor:
        """(1, 2 heads, rows, 3): each row carries its mark."""
        return torch.tensor(marks, dtype=torch.float64)[None, None, :, None].expand(1, 2, -1, 3)

    def filled(self, store: KVStore, *marks: float) -> None:
        for n, layer in enumerate(store.layers):
            keys, values = layer.update(self.rows(*marks) + 1000 * n, -self.rows(*marks))
            assert keys.shape[2] == values.shape[2] == store.layers[0].length

    def contents(self, store: KVStore) -> list[float]:
        found = []
        for n, layer in enumerate(store.layers):
            keys = layer.keys[:, :, : layer.length] - 1000 * n
            assert torch.equal(keys, -layer.values[:, :, : layer.length])
            assert (keys == keys[:1, :1, :, :1]).all()
            found.append(keys[0, 0, :, 0].tolist())
        assert all(each == found[0] for each in found)
        return list(found[0])

    @pytest.mark.parametrize("room", [1, 3, 100])
    def test_it_keeps_the_rows_named_in_their_order_however_often_it_grows(self, room: int) -> None:
        store, held = KVStore(3, room), []
        dice = random.Random(room)
        for step in range(25):
            new = [float(100 * step + n) for n in range(dice.randint(1, 7))]
            self.filled(store, *new)
            kept = sorted(dice.sample(range(len(new)), dice.randint(1, len(new))))
            store.keep(len(held), kept)
            held += [new[row] for row in kept]
            assert self.contents(store) == held
            assert store.length == len(held)

    def test_it_grows_by_doubling_not_row_by_row(self) -> None:
        store, buffers = KVStore(1, 1), set()
        for row in range(200):
            self.filled(store, float(row))
            store.keep(row, [0])
            buffers.add(store.layers[0].keys.shape[2])
        assert len(buffers) <= 9

    @pytest.mark.parametrize("rows", [[2], [0, 5], [-1]])
    def test_a_row_that_was_not_written_cannot_be_kept(self, rows: list[int]) -> None:
        store = KVStore(1, 8)
        self.filled(store, 1.0, 2.0)
        with pytest.raises(IndexError):
            store.keep(0, rows)

    def test_pretended_rows_are_zero_and_count(self) -> None:
        store = KVStore(2, 16)
        self.filled(store, 1.0, 2.0)
        store.pretend(6)
        assert store.length == 6
        assert store.layers[0].keys[0, 0, :6, 0].tolist() == [1.0, 2.0, 0.0, 0.0, 0.0, 0.0]


def test_attention_that_means_something_else_is_refused() -> None:
    from engine.attention import grouped_attention

    states = torch.zeros(1, 4, 1, 8), torch.zeros(1, 2, 1, 8), torch.zeros(1, 2, 1, 8)
    for name in ("softcap", "s_aux", "position_bias", "sliding_window"):
        with pytest.raises(NotImplementedError, match=name):
            grouped_attention(torch.nn.Identity(), *states, None, **{name: 4})


@pytest.mark.parametrize("past", [0, 1, 6])
@pytest.mark.parametrize("queries", [1, 2, 5])
def test_grouped_attention_is_attention_with_the_heads_of_a_group_repeated(
    past: int, queries: int
) -> None:
    from engine.attention import grouped_attention

    made = torch.Generator().manual_seed(past * 10 + queries)
    query = torch.randn(1, 6, queries, 8, dtype=torch.float64, generator=made)
    key, value = torch.randn(2, 1, 2, past + queries, 8, dtype=torch.float64, generator=made)
    seen = torch.ones(queries, past + queries, dtype=torch.bool).tril(past)
    scores = query @ key.repeat_interleave(3, 1).transpose(2, 3) * 0.3
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    expected = (weights @ value.repeat_interleave(3, 1)).transpose(1, 2)
    additive = torch.zeros(queries, past + queries, dtype=torch.float64)
    additive.masked_fill_(~seen, -math.inf)
    for mask in (None, additive[None, None], additive.repeat(3, 1)[None, None]):
        out, _ = grouped_attention(torch.nn.Identity(), query, key, value, mask, scaling=0.3)
        torch.testing.assert_close(out, expected, **CLOSE)
