"""race(): fair clocks, and a verdict that cannot be fooled."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest

from engine.capacity import Fixed
from engine.drafter import Drafter, NoDraft
from engine.events import Compare, Draft, Event, Finish, Phase, Prefill, Step, Verify
from engine.loop import Limit, Written, decode
from engine.race import EVERY, Lane, race
from engine.sampling import Sampler
from engine.target import Scores, Target
from engine.text import TextPieces
from engine.tree import DraftTree
from engine.writing import Walk, Writing
from tests.test_loop import CONTEXT, GREEDY, PROMPT, Babbler, Failing, Oracle, plain
from tests.tiny import BYTES, tiny


class Scripted:
    """A lane that writes given blocks of tokens, each in given seconds."""

    def __init__(
        self,
        key: str,
        blocks: Sequence[tuple[float, Sequence[int]]],
        reason: str = "length",
        gap: float = 1.0,
    ) -> None:
        self.closed = False
        written = Written()
        self.lane = Lane(key, self._events(key, blocks, reason, gap, written), written)

    def _events(
        self,
        key: str,
        blocks: Sequence[tuple[float, Sequence[int]]],
        reason: str,
        gap: float,
        written: Written,
    ) -> Iterator[Prefill | Step | Finish]:
        clock = 0.5
        try:
            yield Prefill(key, 3, 3, clock)
            for index, (seconds, tokens) in enumerate(blocks):
                written.tokens += tokens
                written.gaps += [gap] * len(tokens)
                n = len(tokens)
                yield Step(
                    key, index, "answer", clock, seconds, 0.0, seconds, 0.0, tuple(tokens),
                    ("x",) * n, ("target",) * n, n, n - 1,
                )  # fmt: skip
                clock += seconds
            yield Finish(key, reason, {})
        finally:
            self.closed = True


def raced(*scripts: Scripted, tolerance: float = 0.25) -> list[Event]:
    events = list(race([each.lane for each in scripts], TextPieces(BYTES), tolerance))
    for event in events:
        json.dumps(event.as_dict(), allow_nan=False)
    assert all(each.closed for each in scripts)
    return events


def verdicts(events: Sequence[Event], lane: str = "racer") -> list[Compare]:
    return [event for event in events if isinstance(event, Compare) and event.lane == lane]


def lane_of(
    key: str, drafter: Drafter, limit: Limit | None = None, nodes: int = 24
) -> tuple[Lane, Target]:
    """A real lane on the tiny model."""
    target, written = Target(tiny("llama")), Written()
    events = decode(
        key, target, drafter, Sampler(), PROMPT, limit or Limit(20, CONTEXT), Fixed(nodes),
        TextPieces(BYTES), written,
    )  # fmt: skip
    return Lane(key, events, written), target


def blocks(tokens: Sequence[int], size: int, seconds: float) -> list[tuple[float, Sequence[int]]]:
    return [(seconds, tokens[at : at + size]) for at in range(0, len(tokens), size)]


@pytest.mark.parametrize("seed", range(5))
def test_the_lane_furthest_behind_is_always_next(seed: int) -> None:
    dice = random.Random(seed)
    scripts = [
        Scripted(key, [(dice.random(), [1]) for _ in range(dice.randint(3, 30))])
        for key in ("vanilla", "racer", "racer-logits")
    ]
    clocks = dict.fromkeys(("vanilla", "racer", "racer-logits"), 0.0)
    for event in race([each.lane for each in scripts], TextPieces(BYTES), 0.0):
        if isinstance(event, Compare):
            continue
        assert clocks[event.lane] == min(clocks.values())
        if isinstance(event, Prefill):
            clocks[event.lane] = event.seconds
        elif isinstance(event, Step):
            clocks[event.lane] = event.start + event.seconds
        else:
            del clocks[event.lane]
    assert not clocks


def test_a_fast_lane_is_shown_ahead_by_as_much_as_it_is_faster() -> None:
    slow, fast = (
        Scripted("vanilla", blocks([1] * 20, 1, 1.0)),
        Scripted("racer", blocks([1] * 20, 2, 1.0)),
    )
    lengths = {"vanilla": 0, "racer": 0}
    for event in race([slow.lane, fast.lane], TextPieces(BYTES), 0.0):
        if isinstance(event, Step):
            lengths[event.lane] += len(event.tokens)
            if lengths["racer"] < 20:
                assert abs(lengths["racer"] - 2 * lengths["vanilla"]) <= 2


def test_a_lane_that_is_done_holds_no_memory_while_the_others_go_on() -> None:
    made = [lane_of("vanilla", NoDraft()), lane_of("racer", NoDraft(), Limit(5, CONTEXT))]
    targets = {lane.key: target for lane, target in made}
    for event in race([lane for lane, _ in made], TextPieces(BYTES), 0.0):
        if isinstance(event, Finish):
            assert not targets[event.lane]._store.layers


class TestVerdict:
    def test_the_same_text_is_identical_and_said_so_on_the_way(self) -> None:
        text = [n % 60 for n in range(50)]
        events = raced(
            Scripted("vanilla", blocks(text, 1, 1.0)), Scripted("racer", blocks(text, 3, 1.5))
        )
        found = verdicts(events)
        assert all(each.identical and each.first is None for each in found)
        assert [each.complete for each in found] == [False] * (len(found) - 1) + [True]
        assert found[-1].checked == 50
        checked = [0, *(each.checked for each in found[:-1])]
        assert len(found) == 1 + 50 // EVERY
        assert all(b - a >= EVERY for a, b in pairwise(checked))

    @pytest.mark.parametrize("first", [0, 1, 7, 19])
    @pytest.mark.parametrize("faster", [True, False])
    def test_the_first_difference_is_named_with_both_tokens_and_vanillas_gap(
        self, first: int, faster: bool
    ) -> None:
        text = list(range(10, 30))
        other = [*text[:first], 5, *text[first + 1 :]]
        events = raced(
            Scripted("vanilla", blocks(text, 1, 1.0), gap=0.5),
            Scripted("racer", blocks(other, 4, 0.1 if faster else 9.0), gap=0.125),
        )
        found = verdicts(events)
        assert [each.identical for each in found][-2:] == [False, False]
        assert sum(not each.identical for each in found) == 2, (
            "once when it is seen, once at the end"
        )
        for verdict in found[-2:]:
            assert (verdict.first, verdict.checked) == (first, first)
            assert (verdict.token, verdict.vanilla_token) == (5, text[first])
            assert verdict.piece == BYTES[5].decode()
            assert verdict.vanilla_piece == BYTES[text[first]].decode()
            assert (verdict.gap, verdict.tolerance, verdict.tie) == (0.5, 0.25, False)
        assert [each.complete for each in found[-2:]] == [False, True]

    def test_later_differences_do_not_move_the_first(self) -> None:
        events = raced(
            Scripted("vanilla", blocks([1, 2, 3, 4, 5, 6], 1, 1.0)),
            Scripted("racer", blocks([1, 9, 3, 9, 9, 6], 2, 1.0)),
        )
        assert {each.first for each in verdicts(events) if not each.identical} == {1}

    @pytest.mark.parametrize(
        ("gap", "tie"), [(0.0, True), (0.25, True), (0.2500001, False), (3.0, False)]
    )
    def test_only_within_the_measured_rounding_is_a_difference_a_tie(
        self, gap: float, tie: bool
    ) -> None:
        events = raced(
            Scripted("vanilla", blocks([1, 2], 1, 1.0), gap=gap),
            Scripted("racer", blocks([1, 3], 1, 1.0)),
        )
        assert {each.tie for each in verdicts(events) if not each.identical} == {tie}
        assert not verdicts(events)[-1].identical

    def test_a_gap_that_is_not_finite_is_no_gap(self) -> None:
        """One token alone passed the filters; JSON has no infinity."""
        events = raced(
            Scripted("vanilla", blocks([1, 2], 1, 1.0), gap=math.inf),
            Scripted("racer", blocks([1, 3], 1, 1.0)),
        )
        assert (verdicts(events)[-1].gap, verdicts(events)[-1].tie) == (None, False)

    @pytest.mark.parametrize("seconds", [0.1, 5.0])
    def test_a_lane_that_ends_early_differs_there(self, seconds: float) -> None:
        text = list(range(10, 20))
        events = raced(
            Scripted("vanilla", blocks(text, 1, 1.0)),
            Scripted("racer", blocks(text[:6], 2, seconds), reason="eos"),
        )
        last = verdicts(events)[-1]
        assert (last.identical, last.first, last.complete) == (False, 6, True)
        assert (last.token, last.piece, last.vanilla_token) == (None, "", text[6])

    def test_a_lane_that_goes_on_after_vanillas_end_differs_there(self) -> None:
        events = raced(
            Scripted("vanilla", blocks([1, 2, 3], 1, 1.0), reason="eos"),
            Scripted("racer", blocks([1, 2, 3, 4], 2, 1.0)),
        )
        last = verdicts(events)[-1]
        assert (last.first, last.token, last.vanilla_token) == (3, 4, None)
        assert (last.gap, last.vanilla_piece, last.tie) == (None, "", False)

    @pytest.mark.parametrize("reason", ["deadline", "error", "stopped"])
    def test_a_lane_cut_by_a_clock_or_an_error_is_compared_as_far_as_it_came(
        self, reason: str
    ) -> None:
        text = list(range(10, 20))
        events = raced(
            Scripted("vanilla", blocks(text, 1, 1.0)),
            Scripted("racer", blocks(text[:6], 2, 1.0), reason=reason),
        )
        last = verdicts(events)[-1]
        assert (last.identical, last.checked, last.complete) == (True, 6, True)

    def test_without_a_vanilla_lane_there_is_no_verdict(self) -> None:
        events = raced(
            Scripted("racer", blocks([1], 1, 1.0)), Scripted("racer-logits", blocks([2], 1, 1.0))
        )
        assert not any(isinstance(event, Compare) for event in events)

    def test_every_other_lane_gets_a_verdict_of_its_own(self) -> None:
        events = raced(
            Scripted("racer", blocks([1, 2, 3], 1, 1.0)),
            Scripted("vanilla", blocks([1, 2, 3], 1, 1.0)),
            Scripted("racer-logits", blocks([1, 5, 3], 1, 1.0)),
        )
        assert verdicts(events, "racer")[-1].identical
        assert not verdicts(events, "racer-logits")[-1].identical
        assert not verdicts(events, "vanilla")


def test_on_a_real_model_all_lanes_write_vanillas_text() -> None:
    text, _ = plain("llama", GREEDY, PROMPT)
    lanes = [
        lane_of(key, drafter)[0]
        for key, drafter in (
            ("vanilla", NoDraft()),
            ("racer", Oracle([*PROMPT, *text], 3)),
            ("racer-logits", Babbler(5)),
        )
    ]
    events = list(race(lanes, TextPieces(BYTES), 0.0))
    for lane in lanes:
        assert lane.written.tokens == text[:20]
    for key in ("racer", "racer-logits"):
        last = verdicts(events, key)[-1]
        assert (last.identical, last.complete, last.checked) == (True, True, 20)


def test_what_is_told_beside_a_step_moves_no_clock() -> None:
    step = Step("ssr", 0, "reasoning", 0.5, 0.25, 0.0, 0.25, 0.0, (1,), ("x",), ("target",), 0, 0)
    told = [
        Prefill("ssr", 3, 3, 0.5),
        Phase("ssr", "reasoning", 0, "template"),
        step,
        Draft("ssr", 1, 1, 0, 0.5, 0.25, (2,), ("y",), ("target",), 1, 9),
        Verify("ssr", 1, 1, 0, 0.5, 0.0, 2, "y"),
    ]
    lane, clocks = Lane("ssr", (event for event in told), Written()), []
    for _ in told:
        lane.advance()
        clocks.append(lane.clock)
    assert clocks == [0.5, 0.5, 0.75, 0.75, 0.75]


def test_when_verification_is_broken_the_identical_verdict_goes_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gullible(writing: Writing, tree: DraftTree, scores: Scores) -> Walk:
        """Takes the first draft for the model's own choice, once."""
        walk = right(writing, tree, scores)
        wrong = next((n for n in tree.children(0) if n not in walk.path), None)
        if wrong is None:
            return walk
        return Walk([0, wrong], [tree.tokens[wrong], walk.tokens[-1]], [0.0] * 2, [False] * 2)

    right = Writing.walk
    monkeypatch.setattr(Writing, "walk", gullible)
    text, _ = plain("llama", GREEDY, PROMPT)
    lanes = [lane_of("vanilla", NoDraft())[0], lane_of("racer", Babbler(3))[0]]
    last = verdicts(list(race(lanes, TextPieces(BYTES), 1e-3)))[-1]
    assert lanes[0].written.tokens == text[:20]
    assert lanes[1].written.tokens != text[:20]
    assert (last.identical, last.tie, last.complete) == (False, False, True)
    assert last.first is not None
    assert lanes[1].written.tokens[last.first] != text[last.first]


@pytest.mark.parametrize("events_read", [0, 1, 2, 3, 7, 15])
def test_closing_in_the_middle_closes_every_lane_and_frees_its_cache(events_read: int) -> None:
    made = [lane_of("vanilla", NoDraft()), lane_of("racer", Babbler(1)), lane_of("x", Babbler(2))]
    running = race([lane for lane, _ in made], TextPieces(BYTES), 0.0)
    for _ in range(events_read):
        next(running)
    running.close()
    for lane, target in made:
        if events_read:
            assert next(lane.events, None) is None
        rows = [layer.keys.numel() for layer in target._store.layers if layer.is_initialized]
        assert sum(rows) == 0


def test_an_error_in_one_lane_ends_it_alone() -> None:
    text, _ = plain("llama", GREEDY, PROMPT)
    lanes = [
        lane_of("vanilla", NoDraft())[0],
        lane_of("racer", Failing(RuntimeError("out of memory at 0x7f")))[0],
        lane_of("racer-logits", Babbler(2))[0],
    ]
    events = list(race(lanes, TextPieces(BYTES), 0.0))
    finished = {event.lane: event for event in events if isinstance(event, Finish)}
    assert {lane: event.reason for lane, event in finished.items()} == {
        "vanilla": "length",
        "racer": "error",
        "racer-logits": "length",
    }
    message = finished["racer"].message
    assert message.endswith(".")
    assert message.count(".") == 1
    assert "0x7f" not in message
    assert [lane.written.tokens for lane in lanes] == [text[:20], text[:3], text[:20]]
    last = verdicts(events)[-1]
    assert (last.identical, last.checked) == (True, 3)


def test_an_error_in_the_vanilla_lane_leaves_the_others_running() -> None:
    lanes = [
        lane_of("vanilla", Failing(RuntimeError("no")))[0],
        lane_of("racer", Babbler(2))[0],
    ]
    events = list(race(lanes, TextPieces(BYTES), 0.0))
    assert len(lanes[1].written.tokens) == 20
    assert verdicts(events)[-1].complete
