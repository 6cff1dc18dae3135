"""decode(): no drafter can change the text. The reference uses nothing of the engine."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest

from engine.capacity import Auto, Capacity, Fixed
from engine.cost import SIZES, ForwardCost
from engine.drafter import Drafter, NoDraft
from engine.errors import UserError
from engine.events import Finish, Prefill, Step
from engine.loop import Limit, Written, accept, decode
from engine.phases import ANSWER, BEFORE, ONE_PHASE, REASONING, State
from engine.sampling import Sampler
from engine.target import Target
from engine.text import TextPieces
from engine.tree import LOGITS, RETRIEVAL, TARGET, DraftTree
from engine.writing import Walk, Writing
from racer import Racer
from tests.reference import greedy, sampled, written_plainly
from tests.tiny import ARCHITECTURES, BYTES, VOCABULARY, tiny

Ids = Sequence[Sequence[int]]
Shares = Sequence[Sequence[float]]

TOKENS = 20
CONTEXT = 512

GREEDY = (0.0, 0, 1.0, 0)
SAMPLERS = [
    pytest.param(GREEDY, id="greedy"),
    pytest.param((1.0, 0, 1.0, 7), id="T1"),
    pytest.param((0.3, 0, 1.0, 8), id="cold"),
    pytest.param((2.5, 5, 1.0, 9), id="top-k"),
    pytest.param((1.3, 0, 0.6, 10), id="top-p"),
    pytest.param((1.0, 12, 0.85, (1 << 62) + 11), id="top-k-p"),
]
FLAT = [0.01] * len(SIZES)
DEAR = [0.01 * size for size in SIZES]
RISING = [0.010, 0.011, 0.012, 0.014, 0.018, 0.03, 0.06]
PADDED = [0.05, 0.05, 0.06, 0.02, 0.03, 0.02, 0.04]
"""Costs by size; in the last, forwards of 8 and of 32 cost less than smaller ones."""


def cost(base: list[float]) -> ForwardCost:
    """A made-up machine; told nothing by runs, since its own times mean nothing here."""
    made = ForwardCost(base, [0.0] * len(SIZES))
    made.observe = lambda *seen: None  # type: ignore[method-assign]
    return made


class Babbler:
    """Random trees out of few tokens, so that branches repeat each other's; never learns."""

    def __init__(self, seed: int, successors: int = 0) -> None:
        self.successors = successors
        self._random = random.Random(seed)
        self.trees: list[DraftTree] = []

    def learn(self, tokens: Sequence[int], successors: Ids, shares: Shares) -> None:
        assert len(tokens) == len(successors) == len(shares)

    def observe(self, tokens: Sequence[int]) -> None:
        pass

    def propose(self, root: int, capacity: int) -> DraftTree:
        tree = DraftTree(root)
        few = [self._random.randrange(VOCABULARY) for _ in range(4)]
        for _ in range(3 * capacity):
            if len(tree) == self._random.randint(1, capacity):
                break
            if len(tree) < capacity:
                parent = self._random.randrange(len(tree))
                tree.add(parent, self._random.choice(few), LOGITS)
        self.trees.append(tree)
        return tree


class Oracle:
    """Knows the text: drafts its continuation among wrong siblings, for a while or to the end.

    The right node comes at a random place among its siblings, and wrong ones have the
    right continuation below them too, so that a path is scattered and branches repeat.
    """

    successors = 0

    def __init__(self, text: Sequence[int], seed: int) -> None:
        self._text = list(text)
        self._read = 0
        self._random = random.Random(seed)

    def learn(self, tokens: Sequence[int], successors: Ids, shares: Shares) -> None:
        raise AssertionError("asked for no successors")

    def observe(self, tokens: Sequence[int]) -> None:
        self._read += len(tokens)

    def propose(self, root: int, capacity: int) -> DraftTree:
        tree = DraftTree(root)
        assert self._text[self._read - 1] == root
        ahead = self._text[self._read : self._read + self._random.randint(0, 12)]
        ahead += [self._random.randrange(VOCABULARY) for _ in range(3)]
        right = 0
        for place, token in enumerate(ahead):
            siblings = [
                self._random.randrange(VOCABULARY) for _ in range(self._random.randint(0, 3))
            ]
            siblings.insert(self._random.randint(0, len(siblings)), token)
            for sibling in siblings:
                if len(tree) < capacity:
                    node = tree.add(right, sibling, RETRIEVAL)
                    if place + 1 < len(ahead) and len(tree) < capacity:
                        tree.add(node, ahead[place + 1], LOGITS)
            following = tree.child(right, token)
            if following is None:
                break
            right = following
        return tree


DRAFTERS: dict[str, Callable[[list[int]], Drafter]] = {
    "none": lambda text: NoDraft(),
    "babbler": lambda text: Babbler(3, successors=4),
    "oracle": lambda text: Oracle(text, 4),
    "racer": lambda text: Racer(),
    "racer-retrieval": lambda text: Racer(logits=False),
    "racer-logits": lambda text: Racer(retrieval=False),
}


def prompt_of(length: int, seed: int = 1) -> tuple[int, ...]:
    """Random ids with some repetition in them."""
    dice = random.Random(seed)
    ids = [dice.randrange(VOCABULARY) for _ in range(length)]
    ids[length // 2 :] = ids[: length - length // 2]
    return tuple(ids)


PROMPT = prompt_of(9)


@cache
def plain(
    architecture: str,
    settings: tuple[float, int, float, int],
    prompt: tuple[int, ...],
    tokens: int = TOKENS,
    context: int = CONTEXT,
    eos: frozenset[int] = frozenset(),
) -> tuple[list[int], str]:
    """The text by the definition alone."""
    choose = greedy if settings[0] < 1e-5 else sampled(*settings)
    return written_plainly(tiny(architecture, 0, "sdpa"), choose, prompt, tokens, context, eos)


def run(
    drafter: Drafter,
    settings: tuple[float, int, float, int] = GREEDY,
    prompt: Sequence[int] = PROMPT,
    limit: Limit | None = None,
    capacity: Capacity | None = None,
    model: Any = None,
    target: Target | None = None,
) -> tuple[list[int], str, list[Prefill | Step | Finish]]:
    """Decode to the end: ids, finish reason, events."""
    written = Written()
    events = list(
        decode(
            "lane",
            target or Target(model or tiny("llama"), room=16),
            drafter,
            Sampler(*settings),
            prompt,
            limit or Limit(TOKENS, CONTEXT),
            capacity or Fixed(16),
            TextPieces(BYTES),
            written,
        )
    )
    finish = events[-1]
    assert isinstance(finish, Finish)
    steps = steps_of(events)
    assert [token for step in steps for token in step.tokens] == written.tokens
    assert len(written.gaps) == len(written.tokens)
    return written.tokens, finish.reason, events


def steps_of(events: Sequence[Any]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("settings", SAMPLERS)
@pytest.mark.parametrize("name", DRAFTERS)
def test_no_drafter_can_change_the_text(
    architecture: str, settings: tuple[float, int, float, int], name: str
) -> None:
    text, _ = plain(architecture, settings, PROMPT)
    drafter = DRAFTERS[name]([*PROMPT, *text])
    assert run(drafter, settings, model=tiny(architecture))[0] == text


@pytest.mark.parametrize("nodes", [1, 2, 3, 6, 17, 64])
@pytest.mark.parametrize("name", ["babbler", "oracle", "racer"])
@pytest.mark.parametrize("settings", [SAMPLERS[0], SAMPLERS[1]])
def test_no_fixed_capacity_can_change_the_text_or_be_exceeded(
    nodes: int, name: str, settings: tuple[float, int, float, int]
) -> None:
    text, _ = plain("llama", settings, PROMPT)
    drafter = DRAFTERS[name]([*PROMPT, *text])
    ids, _, events = run(drafter, settings, capacity=Fixed(nodes))
    assert ids == text
    assert all(step.drafted < nodes for step in steps_of(events))


@pytest.mark.parametrize(
    "base", [FLAT, DEAR, RISING, PADDED], ids=["flat", "dear", "rising", "padded"]
)
@pytest.mark.parametrize("name", ["none", "babbler", "oracle", "racer"])
@pytest.mark.parametrize("architecture", ["llama", "qwen3"])
def test_no_machine_can_change_the_text(base: list[float], name: str, architecture: str) -> None:
    text, _ = plain(architecture, GREEDY, PROMPT)
    made = cost(base)
    target = Target(tiny(architecture), made, room=16)
    drafter = DRAFTERS[name]([*PROMPT, *text])
    assert run(drafter, capacity=Auto(made), target=target)[0] == text


def test_a_forward_is_padded_to_the_size_that_costs_less() -> None:
    made = cost(PADDED)
    sizes = []

    class Watched(Target):
        def score(self, query: Any) -> Any:
            sizes.append((len(query.tokens), query.main.tree))
            return super().score(query)

    text, _ = plain("llama", GREEDY, PROMPT)
    target = Watched(tiny("llama"), made)
    assert run(Oracle([*PROMPT, *text], 1), target=target, capacity=Fixed(5))[0] == text
    assert all(rows == 8 for rows, nodes in sizes if 2 <= nodes <= 8)
    assert any(rows > nodes for rows, nodes in sizes)


@pytest.mark.parametrize("attention", ["slipstream", "sdpa"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_ungrouped_heads_decode_with_either_attention(attention: str, architecture: str) -> None:
    reference = tiny(architecture, 5, "sdpa", kv_heads=4)
    text, _ = written_plainly(reference, greedy, PROMPT, TOKENS)
    model = tiny(architecture, 5, attention, kv_heads=4)
    for drafter in (NoDraft(), Oracle([*PROMPT, *text], 2), Racer()):
        assert run(drafter, model=model)[0] == text


@pytest.mark.parametrize("length", [1, 2, 40])
@pytest.mark.parametrize("chunk", [1, 3, 8])
@pytest.mark.parametrize("name", ["none", "oracle", "racer"])
def test_a_prompt_may_be_read_in_pieces_of_any_size(
    length: int, chunk: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Target, "chunk", chunk)
    prompt = prompt_of(length, seed=length)
    text, _ = plain("qwen2", GREEDY, prompt, 12)
    drafter = DRAFTERS[name]([*prompt, *text])
    ids, _, events = run(drafter, prompt=prompt, limit=Limit(12, CONTEXT), model=tiny("qwen2"))
    assert ids == text
    done = [event.done for event in events if isinstance(event, Prefill)]
    assert done == [*range(chunk, length, chunk), length]


@pytest.mark.parametrize("name", DRAFTERS)
@pytest.mark.parametrize("tokens", [1, 2, 3, 7])
def test_a_limit_of_tokens_is_met_exactly(name: str, tokens: int) -> None:
    text, _ = plain("llama", GREEDY, PROMPT)
    drafter = DRAFTERS[name]([*PROMPT, *text])
    ids, reason, _ = run(drafter, limit=Limit(tokens, CONTEXT))
    assert (ids, reason) == (text[:tokens], "length")


@pytest.mark.parametrize("name", DRAFTERS)
@pytest.mark.parametrize("room", [1, 2, 5, 11])
def test_no_position_outside_the_context_is_ever_used(name: str, room: int) -> None:
    context = len(PROMPT) + room
    seen = []

    class Watched(Target):
        def _forward(self, tokens: Any, positions: Any, *rest: Any, **named: Any) -> Any:
            seen.extend(positions)
            return super()._forward(tokens, positions, *rest, **named)

    text, reason = plain("llama", GREEDY, PROMPT, TOKENS, context)
    drafter = DRAFTERS[name]([*PROMPT, *text, *text])
    target = Watched(tiny("llama"), room=16)
    assert run(drafter, limit=Limit(TOKENS, context), target=target)[:2] == (text, reason)
    assert reason == "context"
    assert max(seen) < context


@pytest.mark.parametrize("name", DRAFTERS)
def test_a_text_ends_at_its_first_end_token_wherever_that_falls_in_a_block(name: str) -> None:
    text, _ = plain("qwen2", GREEDY, PROMPT)
    for last in range(len(text)):
        eos = frozenset({text[last]})
        drafter = DRAFTERS[name]([*PROMPT, *text])
        ids, reason, events = run(
            drafter, limit=Limit(TOKENS, CONTEXT, eos), model=tiny("qwen2"), capacity=Fixed(40)
        )
        assert (ids, reason) == (text[: text.index(text[last]) + 1], "eos")
        assert sum(token in eos for step in steps_of(events) for token in step.tokens) == 1


@pytest.mark.parametrize("name", ["none", "oracle", "racer"])
def test_any_of_several_end_tokens_ends_the_text(name: str) -> None:
    settings = (1.0, 0, 1.0, 7)
    text, _ = plain("llama", settings, PROMPT)
    eos = frozenset({text[9], text[14], VOCABULARY + 5})
    expected = plain("llama", settings, PROMPT, TOKENS, CONTEXT, eos)
    assert len(expected[0]) < len(text)
    drafter = DRAFTERS[name]([*PROMPT, *text])
    assert run(drafter, settings, limit=Limit(TOKENS, CONTEXT, eos))[:2] == expected


def test_an_end_token_at_the_very_limit_is_the_reason() -> None:
    text, _ = plain("llama", GREEDY, PROMPT)
    first = text.index(text[6])
    limit = Limit(first + 1, CONTEXT, frozenset({text[6]}))
    assert run(NoDraft(), limit=limit)[:2] == (text[: first + 1], "eos")


@pytest.mark.parametrize("name", ["none", "oracle", "racer"])
def test_a_deadline_ends_the_text_after_whole_steps(name: str) -> None:
    text, _ = plain("llama", GREEDY, PROMPT)
    drafter = DRAFTERS[name]([*PROMPT, *text])
    ids, reason, events = run(drafter, limit=Limit(TOKENS, CONTEXT, seconds=1e-9))
    assert reason == "deadline"
    assert len(steps_of(events)) == 1
    assert ids == text[:1]
    ids, reason, _ = run(NoDraft(), limit=Limit(4, CONTEXT, seconds=3600.0))
    assert (ids, reason) == (text[:4], "length")


def test_a_deadline_that_passes_while_the_prompt_is_read_ends_the_lane_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Target, "chunk", 4)
    prompt = prompt_of(10)
    ids, reason, events = run(NoDraft(), prompt=prompt, limit=Limit(TOKENS, CONTEXT, seconds=1e-9))
    assert (ids, reason) == ([], "deadline")
    first, finish = events
    assert isinstance(first, Prefill)
    assert first.done == 4
    assert isinstance(finish, Finish)
    assert finish.totals["prefill_seconds"] == finish.totals["seconds"] == first.seconds


def test_the_oracle_is_accepted_and_the_babbler_hardly() -> None:
    """Otherwise the laws above would say little."""
    text, _ = plain("llama", GREEDY, PROMPT)
    accepted = {}
    for name in ("oracle", "babbler", "racer"):
        drafter = DRAFTERS[name]([*PROMPT, *text])
        events = run(drafter, capacity=Fixed(40))[2]
        accepted[name] = sum(step.accepted for step in steps_of(events))
        assert sum(step.drafted for step in steps_of(events)) > 10
    assert accepted["oracle"] > 12
    assert accepted["babbler"] <= 5
    scattered = [
        step.tree.path
        for step in steps_of(run(Oracle([*PROMPT, *text], 4), capacity=Fixed(40))[2])
        if step.tree is not None
    ]
    assert any(path != tuple(range(len(path))) for path in scattered)


def test_a_step_says_what_was_drafted_and_what_of_it_was_kept() -> None:
    text, _ = plain("llama", GREEDY, PROMPT)
    events = run(Oracle([*PROMPT, *text], 4), capacity=Fixed(24))[2]
    before = list(PROMPT)
    for index, step in enumerate(steps_of(events)):
        assert step.index == index
        assert step.sources[-1] == TARGET or step.accepted == len(step.tokens)
        if step.tree is None:
            assert (step.drafted, step.accepted, len(step.tokens)) == (0, 0, 1)
        else:
            assert step.tree.tokens[0] == before[-1]
            assert step.drafted == len(step.tree.tokens) - 1
            kept = [step.tree.tokens[node] for node in step.tree.path[1:]]
            assert kept[: step.accepted] == list(step.tokens[: step.accepted])
        assert "".join(step.pieces) == "".join(BYTES[t].decode() for t in step.tokens)
        before.extend(step.tokens)


def test_the_clock_never_runs_backwards_and_the_totals_are_the_sums() -> None:
    text, _ = plain("llama", GREEDY, PROMPT)
    events = run(Oracle([*PROMPT, *text], 4), capacity=Fixed(24))[2]
    steps, finish = steps_of(events), events[-1]
    assert isinstance(finish, Finish)
    clock = [event.seconds for event in events if isinstance(event, Prefill)][-1]
    for step in steps:
        assert step.start == pytest.approx(clock, abs=1e-12)
        assert step.seconds == pytest.approx(step.draft + step.forward + step.other)
        assert min(step.draft, step.forward, step.other) >= 0
        clock = step.start + step.seconds
    totals = finish.totals
    assert totals["seconds"] == pytest.approx(clock)
    assert totals["tokens"] == sum(len(step.tokens) for step in steps) == TOKENS
    assert totals["forwards"] == totals["steps"] == len(steps)
    assert totals["drafted"] == sum(step.drafted for step in steps)
    assert totals["accepted"] == sum(step.accepted for step in steps)


def test_forwards_counted_are_forwards_made() -> None:
    target = Target(tiny("llama"))
    text, _ = plain("llama", GREEDY, PROMPT)
    events = run(Oracle([*PROMPT, *text], 4), target=target)[2]
    finish = events[-1]
    assert isinstance(finish, Finish)
    assert finish.totals["forwards"] == target.forwards


def test_a_drafter_learns_each_tokens_newest_place_and_observes_every_token_once() -> None:
    learned: list[int] = []
    observed: list[int] = []

    class Listener(Babbler):
        def learn(self, tokens: Sequence[int], successors: Ids, shares: Shares) -> None:
            assert all(len(ids) == 4 for ids in successors)
            learned.extend(tokens)

        def observe(self, tokens: Sequence[int]) -> None:
            observed.extend(tokens)

    drafter = Listener(1, successors=4)
    ids, _, events = run(drafter)
    assert observed == [*PROMPT, *ids]
    steps = steps_of(events)[1:]
    scored = sum(1 + step.drafted for step in steps)
    again = sum(len(step.tree.path) if step.tree else 1 for step in steps)
    newest = [token for i, token in enumerate(PROMPT) if token not in PROMPT[i + 1 :]]
    assert learned[: len(newest)] == newest
    assert len(learned) == len(newest) + scored + again


def test_of_one_token_scored_twice_the_accepted_place_is_what_a_drafter_learns() -> None:
    text, _ = plain("llama", GREEDY, PROMPT)
    table: dict[int, list[int]] = {}

    class Twice:
        """Drafts the right token and, below a wrong one after it, the same token again."""

        successors = 3

        def __init__(self) -> None:
            self.read = 0

        def learn(self, tokens: Sequence[int], successors: Ids, shares: Shares) -> None:
            table.update(zip(tokens, map(list, successors), strict=True))

        def observe(self, tokens: Sequence[int]) -> None:
            self.read += len(tokens)

        def propose(self, root: int, capacity: int) -> DraftTree:
            tree = DraftTree(root)
            place = self.read - len(PROMPT)
            if place < len(text):
                tree.add(0, text[place], LOGITS)
                wrong = tree.add(0, (text[place] + 1) % VOCABULARY, LOGITS)
                tree.add(wrong, text[place], LOGITS)
            return tree

    run(Twice(), limit=Limit(9, CONTEXT))
    # The last token scored on the accepted path: its best successor is the next of the text.
    for place in range(7):
        if text[place] not in text[place + 1 : 8]:
            assert table[text[place]][0] == text[place + 1]


class TestAccept:
    def test_the_walk_follows_the_choices_and_decides_each_node_once(self) -> None:
        tree = DraftTree(0)
        wrong = tree.add(0, 5, LOGITS)
        right = tree.add(0, 6, LOGITS)
        tree.add(wrong, 7, LOGITS)
        deeper = tree.add(right, 7, LOGITS)
        choices = {0: 6, right: 7, deeper: 9}
        asked: list[int] = []

        def choose(node: int) -> int:
            asked.append(node)
            return choices[node]

        assert accept(tree, choose) == ([0, right, deeper], 9)
        assert asked == [0, right, deeper]

    def test_nothing_drafted_gives_the_models_own_choice(self) -> None:
        assert accept(DraftTree(3), lambda node: 11) == ([0], 11)


class TestLimit:
    @pytest.mark.parametrize(("tokens", "context"), [(0, 10), (-1, 10), (5, 1)])
    def test_a_limit_leaves_room_for_a_token(self, tokens: int, context: int) -> None:
        with pytest.raises(ValueError, match="no room"):
            Limit(tokens, context)

    @pytest.mark.parametrize("eos", [frozenset(), frozenset({2}), frozenset({0, 3})])
    def test_what_is_written_ends_where_one_token_at_a_time_would(
        self, eos: frozenset[int]
    ) -> None:
        prompt, new = 3, [5, 1, 2, 3, 0, 4]
        for tokens, context, written in product(range(1, 8), range(4, 12), range(8)):
            if written >= min(tokens, context - prompt):
                continue
            limit = Limit(tokens, context, eos)
            for size in range(1, len(new) + 1):
                expected, reason = [], None
                for token in new[:size]:
                    expected.append(token)
                    total = written + len(expected)
                    if token in eos:
                        reason = "eos"
                    elif total == tokens:
                        reason = "length"
                    elif prompt + total == context:
                        reason = "context"
                    if reason:
                        break
                assert limit.room(prompt + written, State(ANSWER, written)) == min(
                    tokens - written, context - prompt - written
                )
                assert self.trimmed(limit, prompt, written, new[:size]) == (expected, reason)

    def trimmed(
        self, limit: Limit, prompt: int, written: int, new: Sequence[int]
    ) -> tuple[list[int], str | None]:
        """What a text of `written` tokens of answer takes over of a block."""
        writing = Writing(
            NoDraft(), Sampler(), ONE_PHASE, State(ANSWER, written), Written([9] * written, [])
        )
        walk = Walk([0], [*new], [0.0] * len(new), [False] * len(new))
        reason = writing.commit(
            walk,
            lambda state, token: limit.reached(prompt + len(writing.written.tokens), state, token),
        )
        return writing.written.tokens[written:], reason

    @pytest.mark.parametrize("mode", [BEFORE, REASONING])
    def test_thinking_is_bounded_by_the_context_not_by_the_answers_length(self, mode: str) -> None:
        limit = Limit(4, 50, frozenset({7}))
        for written in range(40):
            state = State(mode, written, written)
            assert limit.room(10 + written, state) == 40 - written
            assert limit.reached(10 + written, state, 5) is None
            assert limit.reached(10 + written, state, 7) == "eos"
        assert limit.reached(50, State(mode, 40, 40), 5) == "context"
        # The answer's own length begins with its own first token.
        assert limit.reached(33, State(ANSWER, 3, 20), 5) is None
        assert limit.reached(34, State(ANSWER, 4, 20), 5) == "length"

    def test_a_prompt_that_fills_the_context_is_refused(self) -> None:
        with pytest.raises(ValueError, match="fill a context"):
            run(NoDraft(), limit=Limit(5, len(PROMPT)))

    def test_an_empty_prompt_is_no_prompt(self) -> None:
        target = Target(tiny("llama"))
        with pytest.raises(ValueError, match="at least one token"):
            next(target.prefill([]))
        with pytest.raises(ValueError, match="at least one token"):
            run(NoDraft(), prompt=[])


class Failing(NoDraft):
    """Breaks at its third proposal."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self._asked = 0

    def propose(self, root: int, capacity: int) -> DraftTree:
        self._asked += 1
        if self._asked == 3:
            raise self._error
        return DraftTree(root)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UserError("Choose another model."), "Choose another model."),
        (RuntimeError("CUDA at /secret"), "This lane met an error and stopped where it was."),
    ],
)
def test_an_error_ends_the_lane_with_one_sentence_and_keeps_its_text(
    error: Exception, message: str
) -> None:
    text, _ = plain("llama", GREEDY, PROMPT)
    target = Target(tiny("llama"))
    ids, reason, events = run(Failing(error), target=target)
    assert (ids, reason) == (text[:3], "error")
    finish = events[-1]
    assert isinstance(finish, Finish)
    assert finish.message == message
    assert finish.totals["tokens"] == 3
    assert not target._store.layers


def test_closing_in_the_middle_frees_the_cache() -> None:
    target = Target(tiny("llama"))
    events = decode(
        "lane", target, NoDraft(), Sampler(), PROMPT, Limit(20, CONTEXT), Fixed(1),
        TextPieces(BYTES), Written(),
    )  # fmt: skip
    for _ in range(4):
        next(events)
    assert target._store.layers
    events.close()
    assert not target._store.layers


def test_a_reference_that_is_wrong_would_be_noticed() -> None:
    """The samplers tested write different texts, so that agreeing with them means something."""
    texts = {tuple(plain("llama", each.values[0], PROMPT)[0]) for each in SAMPLERS}
    assert len(texts) == len(SAMPLERS)
