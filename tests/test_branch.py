"""A draft branch in the cache: it is scored as its own text alone would be, and leaves nothing."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.cost import SIZES, ForwardCost
from engine.target import Query, Target
from engine.tree import DraftTree
from tests.reference import plain_logits
from tests.test_loop import prompt_of
from tests.test_target import CLOSE, assert_scored_alone, branching, prefilled
from tests.tiny import ARCHITECTURES, VOCABULARY, tiny

PROMPT = prompt_of(11)


@dataclass
class Text:
    """A text as it should be: what is in the cache, and what is written but has no row yet."""

    rows: list[int]
    pending: list[int] = field(default_factory=list)

    def tree(self, dice: random.Random, nodes: int) -> DraftTree:
        return branching(self.pending[-1], nodes, seed=dice.randrange(1 << 30))

    @property
    def lead(self) -> list[int]:
        return self.pending[:-1]

    def keep(self, tree: DraftTree, path: Sequence[int], dice: random.Random, more: int) -> None:
        """Commit `path`, then write `more` tokens that were in no tree."""
        self.rows += [*self.lead, *(tree.tokens[node] for node in path)]
        self.pending = [dice.randrange(VOCABULARY) for _ in range(more)]


def random_path(tree: DraftTree, dice: random.Random) -> list[int]:
    return tree.path_to(dice.randrange(len(tree)))


def assert_leads_scored_alone(model: Any, text: Text, logits: Tensor, first: int) -> None:
    """A token that the budget appended is read as a part of the text, too."""
    for place in range(len(text.lead)):
        alone = torch.from_numpy(plain_logits(model, [*text.rows, *text.lead[: place + 1]]))
        torch.testing.assert_close(logits[first + place], alone, **CLOSE)


def assert_cache_is_that_of(target: Target, architecture: str, text: list[int]) -> None:
    """Keys and values of every layer are those of plainly reading `text`."""
    with torch.inference_mode():
        cache = tiny(architecture, 0, "sdpa")(torch.tensor([text]), use_cache=True).past_key_values
    store = target._store
    assert store.length == target.past == len(text)
    for mine, theirs in zip(store.layers, cache.layers, strict=True):
        assert mine.length == len(text)
        torch.testing.assert_close(mine.keys[:, :, : len(text)], theirs.keys, **CLOSE)
        torch.testing.assert_close(mine.values[:, :, : len(text)], theirs.values, **CLOSE)


def alone_step(target: Target, reference: Any, main: Text, dice: random.Random) -> None:
    """A forward in which only the text goes on."""
    tree = main.tree(dice, dice.randint(1, 6))
    query = target.lay_out(tree, main.lead)
    scores = target.score(query)
    assert_scored_alone(reference, [*main.rows, *main.lead], tree, scores.of(query.main).logits)
    path = random_path(tree, dice)
    target.commit(path)
    main.keep(tree, path, dice, dice.choice([1, 1, 1, 3]))


def joint_step(
    target: Target, reference: Any, main: Text, draft: Text, dice: random.Random
) -> tuple[Query, int]:
    """A forward in which text and draft go on, each held against a forward of its own."""
    tree, beside = main.tree(dice, dice.randint(1, 6)), draft.tree(dice, dice.randint(1, 6))
    query = target.lay_out(tree, main.lead, beside, draft.lead)
    assert query.branch is not None
    scores = target.score(query)
    rows = len(main.lead) + len(tree) + len(draft.lead) + len(beside)
    assert len(query.tokens) >= rows
    for text, which, strand in ((main, tree, query.main), (draft, beside, query.branch)):
        logits = scores.of(strand).logits
        assert len(logits) == len(which)
        assert_scored_alone(reference, [*text.rows, *text.lead], which, logits)
        assert_leads_scored_alone(reference, text, scores.logits, strand.first)
    path, aside = random_path(tree, dice), random_path(beside, dice)
    target.commit(path, aside)
    main.keep(tree, path, dice, dice.choice([1, 1, 1, 4]))
    draft.keep(beside, aside, dice, 1)
    return query, rows


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("pad", [False, True], ids=["exact", "padded"])
@pytest.mark.parametrize("seed", range(2))
def test_a_branch_is_scored_as_its_own_text_and_the_text_as_if_there_were_none(
    architecture: str, pad: bool, seed: int
) -> None:
    """Both go on with trees of their own in one forward, or the text goes on alone."""
    dice = random.Random(seed)
    reference = tiny(architecture, 0, "sdpa")
    cost = ForwardCost([1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 5.0], [0.0] * len(SIZES)) if pad else None
    target = prefilled(Target(tiny(architecture), cost, room=4))
    main, padded = Text(list(PROMPT), [dice.randrange(VOCABULARY)]), 0
    for _ in range(2):
        alone_step(target, reference, main, dice)
    for marker in ([60], [61, 62, 63]):
        draft = Text(list(main.rows), [*main.pending, *marker])
        target.open_branch(64)
        for step in range(4):
            if step == 2:
                alone_step(target, reference, main, dice)
            query, rows = joint_step(target, reference, main, draft, dice)
            padded += len(query.tokens) > rows
        assert draft.rows[: len(PROMPT)] == list(PROMPT)
        target.drop_branch()
        assert_cache_is_that_of(target, architecture, main.rows)
        alone_step(target, reference, main, dice)
    assert_cache_is_that_of(target, architecture, main.rows)
    assert bool(padded) == pad


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("attention", ["slipstream", "sdpa"])
def test_a_branch_with_either_attention(architecture: str, attention: str) -> None:
    dice = random.Random(5)
    reference = tiny(architecture, 5, "sdpa", kv_heads=4)
    target = prefilled(Target(tiny(architecture, 5, attention, kv_heads=4), room=4))
    main = Text(list(PROMPT), [7])
    draft = Text(list(PROMPT), [7, 60])
    target.open_branch(40)
    for _ in range(4):
        joint_step(target, reference, main, draft, dice)


def test_what_each_row_may_see_is_the_rule_and_nothing_else() -> None:
    """Held against the rule written out, in words of rows and whose they are."""
    dice = random.Random(2)
    target = prefilled(Target(tiny("llama"), ForwardCost([9.0] * 5 + [0.1, 9.0], [0.0] * 7)))
    main, draft = Text(list(PROMPT), [3]), Text(list(PROMPT), [3, 60])
    fork, kept, used, after = len(PROMPT), 30, 0, 0
    target.open_branch(kept)
    for _ in range(6):
        tree, beside = main.tree(dice, dice.randint(4, 6)), draft.tree(dice, dice.randint(4, 6))
        query = target.lay_out(tree, main.lead, beside, draft.lead)
        past = fork + kept + after
        rows = len(query.tokens)
        expected = torch.full((rows, past + rows), -math.inf, dtype=torch.float64)
        strands = ((main, tree, 0), (draft, beside, len(main.lead) + len(tree)))
        for text, which, first in strands:
            root = first + len(text.lead)
            for row in range(first, root + len(which)):
                expected[row, :fork] = 0
                own = slice(fork + kept, past) if text is main else slice(fork, fork + used)
                expected[row, own] = 0
                if row < root:
                    seen = list(range(first, row + 1))
                else:
                    path = which.path_to(row - root)
                    seen = [*range(first, root), *(root + node for node in path)]
                expected[row, [past + each for each in seen]] = 0
        scored = len(main.lead) + len(tree) + len(draft.lead) + len(beside)
        assert query.mask is not None
        assert rows == 32  # the machine pads to it
        assert torch.equal(query.mask[0, 0, :scored], expected[:scored])
        assert torch.equal(query.mask[0, 0, rows : rows + scored], expected[:scored])
        # A row of padding is seen by nobody, and sees something: no row of all -inf.
        assert bool((query.mask[0, 0, :scored, past + scored :] == -math.inf).all())
        assert bool((query.mask[0, 0, :rows] == 0).any(dim=1).all())
        places = [fork + after + i for i in range(len(main.lead))]
        places += [fork + after + len(main.lead) + depth for depth in tree.depths]
        places += [fork + used + i for i in range(len(draft.lead))]
        places += [fork + used + len(draft.lead) + depth for depth in beside.depths]
        assert query.positions[:scored] == places
        target.score(query)
        path, aside = random_path(tree, dice), random_path(beside, dice)
        target.commit(path, aside)
        after += len(main.lead) + len(path)
        used += len(draft.lead) + len(aside)
        main.keep(tree, path, dice, dice.choice([1, 2]))
        draft.keep(beside, aside, dice, 1)


@pytest.mark.parametrize("rows", [1, 7, 300])
def test_what_is_kept_for_a_branch_may_hold_anything(rows: int) -> None:
    """Masked rows are multiplied by nothing, and nothing times not-a-number is not nothing."""
    dice = random.Random(3)
    target = prefilled(Target(tiny("qwen2"), room=512))
    with torch.inference_mode():
        for layer in target._store.layers:
            layer.keys[:, :, layer.length :] = math.nan
            layer.values[:, :, layer.length :] = math.inf
    target.open_branch(rows)
    main = Text(list(PROMPT), [7])
    for _ in range(3):
        alone_step(target, tiny("qwen2", 0, "sdpa"), main, dice)
    target.drop_branch()
    assert_cache_is_that_of(target, "qwen2", main.rows)


def test_a_cache_grows_under_an_open_branch() -> None:
    dice = random.Random(4)
    reference = tiny("qwen3", 0, "sdpa")
    target = prefilled(Target(tiny("qwen3"), room=1))
    main, draft = Text(list(PROMPT), [1]), Text(list(PROMPT), [1, 60])
    target.open_branch(50)
    sizes = set()
    for step in range(40):
        if step % 5 == 0:
            joint_step(target, reference, main, draft, dice)
        else:
            alone_step(target, reference, main, dice)
        sizes.add(target._store.layers[0].keys.shape[2])
    assert len(sizes) > 1
    target.drop_branch()
    assert_cache_is_that_of(target, "qwen3", main.rows)


def test_the_cache_does_not_grow_with_the_number_of_past_drafts() -> None:
    """Thirty drafts behind each other: no row of any is left, and no buffer was needed for them."""
    dice = random.Random(6)
    target = prefilled(Target(tiny("llama"), room=16))
    main, most, rooms = Text(list(PROMPT), [1]), 0, []
    for number in range(30):
        target.open_branch(12)
        draft = Text([], [*main.pending, 60])
        for _ in range(2):
            tree, beside = main.tree(dice, 1), draft.tree(dice, 3)
            target.score(target.lay_out(tree, main.lead, beside, draft.lead))
            aside = random_path(beside, dice)
            target.commit([0], aside)
            main.keep(tree, [0], dice, 1)
            draft.keep(beside, aside, dice, 1)
            most = max(most, len(main.rows) + 12 + 6)
        target.drop_branch()
        assert target._store.length == target.past == len(main.rows) == len(PROMPT) + 2 * number + 2
        rooms.append(target._store.layers[0].keys.shape[2])
    assert_cache_is_that_of(target, "llama", main.rows)
    assert rooms[-1] <= 2 * most


class TestOpening:
    def target(self) -> Target:
        return prefilled(Target(tiny("llama")))

    def test_one_branch_at_a_time(self) -> None:
        target = self.target()
        target.open_branch(5)
        with pytest.raises(ValueError, match="one at a time"):
            target.open_branch(5)
        target.drop_branch()
        target.open_branch(5)

    def test_a_branch_forks_from_a_text(self) -> None:
        with pytest.raises(ValueError, match="forks from a text"):
            Target(tiny("llama")).open_branch(5)

    def test_a_branch_that_is_not_open_cannot_be_scored(self) -> None:
        with pytest.raises(ValueError, match="no branch"):
            self.target().lay_out(DraftTree(1), (), DraftTree(2))

    def test_a_branch_cannot_outgrow_its_rows(self) -> None:
        target = self.target()
        target.open_branch(3)
        for more in (2, 1):
            tree = branching(1, more, seed=1)
            path = list(range(more))
            tree = DraftTree(1)
            for node in range(more - 1):
                tree.add(node, 4, "logits")
            target.score(target.lay_out(DraftTree(2), (), tree))
            target.commit([0], path)
        target.score(target.lay_out(DraftTree(2), (), DraftTree(5)))
        with pytest.raises(IndexError):
            target.commit([0], [0])

    def test_dropping_none_is_nothing(self) -> None:
        target = self.target()
        target.drop_branch()
        assert_cache_is_that_of(target, "llama", list(PROMPT))

    def test_an_open_branch_that_was_never_scored_leaves_nothing(self) -> None:
        target = self.target()
        target.open_branch(9)
        target.drop_branch()
        assert_cache_is_that_of(target, "llama", list(PROMPT))


class TestStore:
    """Rows are marked, and found again."""

    def rows(self, *marks: float) -> Tensor:
        return torch.tensor(marks, dtype=torch.float64)[None, None, :, None].expand(1, 2, -1, 3)

    def test_copies_gaps_and_room_against_a_list(self) -> None:
        from engine.kv import KVStore

        dice = random.Random(8)
        for room in (1, 5, 200):
            store, held = KVStore(2, room), [1.0]
            for layer in store.layers:
                layer.update(self.rows(1.0), -self.rows(1.0))
            for step in range(40):
                new = [float(100 * step + n) for n in range(dice.randint(1, 4))]
                for layer in store.layers:
                    layer.update(self.rows(*new), -self.rows(*new))
                start, held = len(held), [*held, *new]
                action = dice.choice(["copy", "reserve", "gap", "none"])
                if action == "copy":
                    kept = [dice.randrange(len(new)) for _ in range(dice.randint(1, len(new)))]
                    to = dice.randrange(len(held) - len(kept) + 1)
                    store.copy(start, kept, to)
                    held[to : to + len(kept)] = [held[start + row] for row in kept]
                elif action == "reserve":
                    more = dice.randint(1, 6)
                    store.reserve(more)
                    held += [0.0] * more
                elif action == "gap":
                    begin = dice.randrange(len(held))
                    end = dice.randint(begin, len(held) - 1)
                    store.close_gap(begin, end)
                    del held[begin:end]
                assert store.length == len(held)
                for layer in store.layers:
                    assert layer.keys[0, 1, : layer.length, 2].tolist() == held
                    assert layer.values[0, 0, : layer.length, 0].tolist() == [
                        -each for each in held
                    ]
