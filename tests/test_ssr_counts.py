"""Forwards that can be counted by hand: a scripted model, a draft that is right, wrong or half.

The scripted model keeps token and position of every row where a real one keeps keys and
values, and reads its text off the rows that the mask shows it. So it answers as a
model with that text would, and stops the test where a row sees anything but a text: a
position twice, one missing, or a row that was never written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.capacity import Fixed
from engine.events import Draft, Finish, Phase, Step, Verify
from engine.loop import Limit, Written, decode
from engine.phases import REASONING, Markers, Phases
from engine.record import check
from engine.sampling import Sampler
from engine.target import Target
from engine.text import TextPieces
from engine.tree import PREFIX, SUFFIX, TARGET, DraftTree
from ssr import SSR, Schedule
from tests.test_ssr import run_line

CLOSE, EOS = 1, 2
SPELLED = [b"?", b"</think>", b"<eos>", *(f"·{token}".encode() for token in range(3, 400))]
PROMPT = [3, 4, 5, 6, 7]
THINKING = list(range(10, 34))
ANSWER = list(range(100, 140))
OTHER = list(range(200, 240))
"""What a draft has where it differs from the answer: no token of it is in the answer."""
EXTRA = list(range(300, 330))

Script = Callable[[Sequence[int]], int]


class Scripted:
    """A causal language model that says `script(text)` after each text that a row sees."""

    dtype = torch.float64

    def __init__(self, script: Script) -> None:
        self.script = script
        self.config = SimpleNamespace(
            num_attention_heads=1, num_key_value_heads=1, num_hidden_layers=1
        )
        self.config.get_text_config = lambda: self.config
        weight = torch.zeros(1, dtype=torch.float64)
        self.get_input_embeddings = lambda: SimpleNamespace(weight=weight)

    def forward(
        self,
        input_ids: Tensor,
        position_ids: Tensor,
        attention_mask: Tensor | None,
        use_cache: bool,
        logits_to_keep: Any,
        past_key_values: Any,
    ) -> Any:
        new = torch.stack([input_ids[0] + 1, position_ids[0] + 1], dim=1).to(torch.float64)
        kept, _ = past_key_values.layers[0].update(new[None, None], new[None, None])
        rows = (kept[0, 0] - 1).to(torch.int64).tolist()
        n = input_ids.shape[1]
        places = range(n) if isinstance(logits_to_keep, int) else logits_to_keep.tolist()
        logits = torch.zeros(1, len(places), len(SPELLED), dtype=torch.float64)
        for out, place in enumerate(places):
            seen = self._seen(rows, attention_mask, place, n)
            logits[0, out, self.script(seen)] = 5.0
        return SimpleNamespace(logits=logits)

    __call__ = forward

    def _seen(self, rows: list[list[int]], mask: Tensor | None, place: int, n: int) -> list[int]:
        """The text that row `place` of the newest `n` sees, itself last."""
        last = len(rows) - n + place
        shown = (
            range(last + 1) if mask is None else (mask[0, 0, place] == 0).nonzero()[:, 0].tolist()
        )
        assert mask is not None or n == 1
        seen = sorted((rows[row][1], rows[row][0]) for row in shown)
        assert [position for position, _ in seen] == list(range(len(seen))), "not one text"
        assert seen[-1] == (rows[last][1], rows[last][0]), "a row is the end of what it sees"
        return [token for _, token in seen]


@dataclass
class World:
    """What the model thinks and answers, and what it would answer after less thinking."""

    thinking: list[int] = field(default_factory=lambda: list(THINKING))
    answer: list[int] = field(default_factory=lambda: list(ANSWER))
    drafts: dict[int, list[int]] = field(default_factory=dict)
    budget: int | None = None
    asked: list[int] = field(default_factory=list)

    @property
    def thought(self) -> int:
        """Reasoning tokens before the marker."""
        return len(self.thinking) if self.budget is None else self.budget

    def script(self, text: Sequence[int]) -> int:
        """The next token: by place alone, so a wrong token changes nothing behind it."""
        assert list(text[: len(PROMPT)]) == PROMPT
        new = list(text[len(PROMPT) :])
        if CLOSE not in new:
            return self.thinking[len(new)] if len(new) < len(self.thinking) else CLOSE
        cut = new.index(CLOSE)
        assert new[:cut] == self.thinking[:cut]
        source = self.answer if cut == self.thought else self.drafts.get(cut, self.answer)
        place = len(new) - cut - 1
        return source[place] if place < len(source) else EOS

    def plainly(self) -> list[int]:
        """The text by re-reading, as the vanilla lane writes it."""
        text = list(PROMPT)
        while text[-1] != EOS:
            spent = CLOSE not in text and len(text) - len(PROMPT) == self.thought
            text.append(CLOSE if spent else self.script(text))
        return text[len(PROMPT) :]


@dataclass
class Ran:
    """A run's figures, as its events tell them."""

    events: list[Any]
    forwards: int

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def finish(self) -> Finish:
        assert isinstance(self.events[-1], Finish)
        return self.events[-1]

    @property
    def sources(self) -> list[str]:
        return [source for step in self.of(Step) for source in step.sources]

    def texts(self) -> tuple[str, str]:
        """Thinking and answer, cut where the phase event says."""
        pieces = [piece for step in self.of(Step) for piece in step.pieces]
        border = next(event for event in self.of(Phase) if event.phase == "answer")
        at = len("".join(pieces[: border.at])) + border.cut
        whole = "".join(pieces)
        return whole[:at], whole[at:]

    def drafts(self) -> list[tuple[int, list[int], str]]:
        """Each draft: where it was opened, its tokens, why it was closed."""
        found: dict[int, tuple[int, list[int], str]] = {}
        for event in self.of(Draft):
            opened, tokens, _ = found.get(event.id, (event.opened_at, [], ""))
            found[event.id] = (opened, [*tokens, *event.tokens], event.closed)
        return [found[number] for number in sorted(found)]


def run(world: World, schedule: Schedule, capacity: int, answer: int = 500, **named: bool) -> Ran:
    """SSR without another method: what can be worked out by hand."""
    target = Target(Scripted(world.script), room=8)
    markers = Markers(b"<think>", b"</think>", (CLOSE,), ((CLOSE,),) * len(b"</think>"))
    phases = Phases(SPELLED, markers, REASONING, world.budget)
    written = Written()
    events = list(
        decode(
            "ssr",
            target,
            SSR(schedule, **named),
            Sampler(),
            PROMPT,
            Limit(answer, 4000, frozenset({EOS})),
            Fixed(capacity),
            TextPieces(SPELLED, phases),
            written,
            phases,
        )
    )
    check([run_line("ssr", len(PROMPT)), *events])
    ran = Ran(events, target.forwards)
    plain = world.plainly()
    assert written.tokens == plain[: len(written.tokens)]
    assert ran.finish.totals["forwards"] == target.forwards == len(ran.of(Step))
    if ran.finish.reason == "eos":
        assert written.tokens == plain
        assert ran.texts() == (
            spelled(world.thinking[: world.thought]),
            spelled([*world.answer, EOS]),
        )
    return ran


def spelled(tokens: Sequence[int]) -> str:
    return b"".join(SPELLED[token] for token in tokens).decode()


FIRST = 4
THOUGHT = len(THINKING)
# The prompt's forward gives the first token of the thinking, each further one the next; the
# last of them gives the marker.
THINKING_FORWARDS = THOUGHT + 1
# A draft opened after 4 tokens rides in the forward behind them and in all that follow.
RIDES = THINKING_FORWARDS - FIRST
TOKENS = len(ANSWER) + 1
"""Of the answer, the token that ends it included."""


def differing(every: int) -> list[int]:
    """The answer with each `every`-th token another one."""
    return [OTHER[i] if i % every == every - 1 else token for i, token in enumerate(ANSWER)]


@pytest.mark.parametrize("capacity", [1, 2, 4, 16, 64])
def test_a_draft_that_is_the_answer(capacity: int) -> None:
    """The thinking is long enough for all 21 tokens of it, the answer's end included.

    Each forward of the answer commits as many tokens as it has nodes: the last one
    is the model's own choice behind the drafted ones. Behind the end there is none.
    """
    answer = ANSWER[:20]
    world = World(answer=answer, drafts={FIRST: answer})
    ran = run(world, Schedule(FIRST, 0, 256), capacity)
    assert RIDES == 21
    assert ran.drafts() == [(FIRST, [*answer, EOS], "eos")]
    assert ran.forwards == THINKING_FORWARDS + ceil(21 / capacity)
    assert ran.sources.count(PREFIX) == 21 - 21 // capacity
    assert ran.sources.count(SUFFIX) == 0
    [verdict] = ran.of(Verify)
    assert (verdict.accepted, verdict.length, verdict.token) == (21, 21, None)
    assert capacity == 1 or ran.finish.note == ""


@pytest.mark.parametrize("capacity", [2, 4, 16])
def test_a_draft_that_is_not_finished_when_the_thinking_ends(capacity: int) -> None:
    """It is stopped where it is: 21 tokens. They and one more come in pieces, the rest singly."""
    world = World(drafts={FIRST: ANSWER})
    ran = run(world, Schedule(FIRST, 0, 256), capacity)
    assert ran.drafts() == [(FIRST, ANSWER[:RIDES], "thinking")]
    checked = ceil((RIDES + 1) / capacity)
    assert ran.forwards == THINKING_FORWARDS + checked + TOKENS - (RIDES + 1)
    [verdict] = ran.of(Verify)
    assert (verdict.accepted, verdict.length) == (RIDES, RIDES)


@pytest.mark.parametrize("capacity", [2, 4, 16])
def test_a_draft_of_as_many_tokens_as_were_asked_for(capacity: int) -> None:
    world = World(drafts={FIRST: ANSWER})
    ran = run(world, Schedule(FIRST, 0, 6), capacity)
    assert ran.drafts() == [(FIRST, ANSWER[:6], "length")]
    assert ran.forwards == THINKING_FORWARDS + ceil(7 / capacity) + TOKENS - 7
    rides = [step.branch for step in ran.of(Step)]
    # The first forward reads the newest token and the marker, the others one token each.
    assert rides == [0] * FIRST + [2] + [1] * 5 + [0] * (len(rides) - FIRST - 6)


@pytest.mark.parametrize("capacity", [2, 4, 16])
def test_a_draft_that_differs_in_the_first_token_only(capacity: int) -> None:
    """One forward finds that out and writes the right token; the rest is recovered whole.

    21 tokens were drafted, the first of them wrong. The 20 right ones and the token behind them
    come `capacity` at a time.
    """
    world = World(drafts={FIRST: [OTHER[0], *ANSWER[1:]]})
    ran = run(world, Schedule(FIRST, 0, 256), capacity)
    recovered = ceil((RIDES - 1 + 1) / capacity)
    assert ran.forwards == THINKING_FORWARDS + 1 + recovered + TOKENS - (RIDES + 1)
    assert ran.sources.count(PREFIX) == 0
    assert ran.sources.count(SUFFIX) == RIDES - recovered
    [verdict] = ran.of(Verify)
    assert (verdict.accepted, verdict.token, verdict.answer_token) == (0, OTHER[0], ANSWER[0])


@pytest.mark.parametrize(
    ("capacity", "forwards_a_span"),
    # Of nine tokens eight are drafted right: with 2 nodes 2+2+2+2+1, with 4 nodes 4+4+1,
    # with 8 nodes 8+1; with 9 or more all nine, the other token being the model's own.
    [(2, 5), (4, 3), (8, 2), (9, 1), (10, 1), (64, 1)],
)
def test_a_draft_that_differs_in_every_ninth_token(capacity: int, forwards_a_span: int) -> None:
    """Two spans of nine tokens, then three drafted ones and the one behind them, then no draft."""
    assert RIDES == 2 * 9 + 3
    world = World(drafts={FIRST: differing(9)})
    ran = run(world, Schedule(FIRST, 0, 256), capacity)
    last = ceil((3 + 1) / capacity)
    assert ran.forwards == THINKING_FORWARDS + 2 * forwards_a_span + last + TOKENS - 22
    [verdict] = ran.of(Verify)
    assert (verdict.accepted, verdict.token, verdict.answer_token) == (8, OTHER[8], ANSWER[8])


@pytest.mark.parametrize("capacity", [1, 4, 16])
def test_a_draft_that_is_empty(capacity: int) -> None:
    """Its first token ends it: one forward tries that, as cheaply as any, and nothing is won."""
    world = World(drafts={FIRST: []})
    ran = run(world, Schedule(FIRST, 0, 256), capacity)
    assert ran.drafts() == [(FIRST, [EOS], "eos")]
    assert ran.forwards == THINKING_FORWARDS + TOKENS
    assert set(ran.sources) == {TARGET}
    [verdict] = ran.of(Verify)
    assert (verdict.accepted, verdict.token, verdict.answer_token) == (0, EOS, ANSWER[0])
    assert ran.finish.note == "early-difference"


@pytest.mark.parametrize("capacity", [2, 4, 16])
@pytest.mark.parametrize("answer", [0, 1, 7])
def test_a_draft_that_is_longer_than_the_answer(capacity: int, answer: int) -> None:
    """All of the answer is in it; its end is the model's own choice."""
    world = World(answer=ANSWER[:answer], drafts={FIRST: [*ANSWER[:answer], *EXTRA]})
    ran = run(world, Schedule(FIRST, 0, 256), capacity)
    assert ran.forwards == THINKING_FORWARDS + ceil((answer + 1) / capacity)
    assert ran.sources.count(PREFIX) == answer + 1 - ceil((answer + 1) / capacity)
    [verdict] = ran.of(Verify)
    assert (verdict.accepted, verdict.token, verdict.answer_token) == (answer, EXTRA[0], EOS)
    assert ran.drafts()[0][1] == [*ANSWER[:answer], *EXTRA[: RIDES - answer]]
    assert "·3" not in ran.texts()[1]  # nothing of the draft beyond


@pytest.mark.parametrize("capacity", [2, 4, 16])
@pytest.mark.parametrize("early", [1, 5, 8])
def test_a_draft_that_ends_early(capacity: int, early: int) -> None:
    """Its end is held against the answer like any token and is no end of the answer."""
    world = World(drafts={FIRST: ANSWER[:early]})
    ran = run(world, Schedule(FIRST, 0, 256), capacity)
    assert ran.drafts() == [(FIRST, [*ANSWER[:early], EOS], "eos")]
    checked = ceil((early + 1) / capacity)
    assert ran.forwards == THINKING_FORWARDS + checked + TOKENS - (early + 1)
    [verdict] = ran.of(Verify)
    assert (verdict.accepted, verdict.token, verdict.answer_token) == (early, EOS, ANSWER[early])


@pytest.mark.parametrize("budget", [6, 10, 23])
@pytest.mark.parametrize("capacity", [2, 8])
def test_a_budget_saves_the_forward_of_the_marker(budget: int, capacity: int) -> None:
    """The marker is appended in the forward of the last reasoning token: no forward of its own.

    The draft rides in the forwards of the reasoning tokens 5 to `budget`.
    """
    rides = budget - FIRST
    world = World(budget=budget, drafts={FIRST: ANSWER})
    ran = run(world, Schedule(FIRST, 0, 256), capacity)
    assert ran.drafts() == [(FIRST, ANSWER[:rides], "thinking")]
    assert ran.forwards == budget + ceil((rides + 1) / capacity) + TOKENS - (rides + 1)
    border = ran.of(Phase)[-1]
    assert (border.phase, border.by, border.at) == ("answer", "budget", budget)


@pytest.mark.parametrize("budget", [1, FIRST])
def test_thinking_that_ends_before_a_draft_was_opened(budget: int) -> None:
    world = World(budget=budget)
    ran = run(world, Schedule(FIRST, 0, 256), 16)
    assert ran.forwards == budget + TOKENS
    assert not ran.of(Draft)
    assert not ran.of(Verify)
    assert ran.finish.note == "short-thinking"


@pytest.mark.parametrize("limit", [1, 2, 5, 13])
@pytest.mark.parametrize("capacity", [2, 8])
def test_an_answer_cut_by_its_limit(limit: int, capacity: int) -> None:
    world = World(drafts={FIRST: ANSWER})
    ran = run(world, Schedule(FIRST, 0, 256), capacity, answer=limit)
    assert ran.finish.reason == "length"
    assert ran.finish.totals["answer_tokens"] == limit
    assert ran.forwards == THINKING_FORWARDS + ceil(limit / capacity)


def test_a_later_draft_checks_the_last_one_in_pieces_and_goes_on_from_there() -> None:
    """Drafts after 4, 8 and 12 of 12 reasoning tokens; 5 nodes, of which a draft has 4.

    Draft 1 rides in the forwards of the tokens 5 to 8 and writes one token in each: 4. Draft 2
    has them proposed and rides in those of 9 to 12: 4 tokens (3 of draft 1 and the model's
    own choice), then 1, 1, 1: 7. Draft 3 rides in that of the marker: 4 tokens, the beginning
    of draft 2, which is what is checked then: 7 tokens and one more in pieces of 5.
    """
    ran = run(World(thinking=THINKING[:12]), Schedule(4, 4, 256), 5)
    assert ran.drafts() == [
        (4, ANSWER[:4], "superseded"),
        (8, ANSWER[:7], "superseded"),
        (12, ANSWER[:4], "thinking"),
    ]
    assert ran.forwards == 13 + ceil(8 / 5) + TOKENS - 8
    assert ran.finish.totals["drafts"] == 3
    assert ran.finish.totals["draft_tokens"] == 4 + 7 + 4
    assert ran.finish.totals["prefix_tokens"] == 8 - 2


@pytest.mark.parametrize("separate", [False, True])
def test_two_drafts_and_what_the_second_had_from_the_first(separate: bool) -> None:
    """Schedule (4, 6) and 12 reasoning tokens: drafts after 4 and after 10.

    Draft 1 rides in the forwards of the tokens 5 to 10: 6 tokens. Draft 2 rides in those of 11
    and 12 and of the marker. With 5 nodes it has 4: 4 tokens (3 of draft 1 and the model's
    own), then 2 of draft 1 and the model's own, 3 tokens, then one: 8. Begun anew it has 3. It is
    the answer's beginning, so with n tokens ceil((n + 1) / 5) forwards check it.
    """
    world = World(thinking=THINKING[:12], drafts={4: ANSWER, 10: ANSWER})
    ran = run(world, Schedule(4, 6, 256), 5, separate=separate)
    second = 3 if separate else 4 + 3 + 1
    assert ran.drafts() == [
        (4, ANSWER[:6], "superseded"),
        (10, ANSWER[:second], "thinking"),
    ]
    # Begun anew, the second only repeats the first one's beginning: that one is longer.
    checked = 6 if separate else second
    assert ran.forwards == 13 + ceil((checked + 1) / 5) + TOKENS - (checked + 1)


def test_a_later_draft_takes_up_where_the_last_one_differs() -> None:
    """Draft 1 is wrong in its third token; draft 2 checks, corrects and recovers the rest.

    12 reasoning tokens, drafts after 4 and after 10, 9 nodes of which draft 2 has 8: its first
    forward writes 2 tokens and the right third one; the second has the remaining 3 of
    draft 1 and one more; the third one more: 3 + 4 + 1 = 8.
    """
    wrong = [*ANSWER[:2], OTHER[2], *ANSWER[3:]]
    world = World(thinking=THINKING[:12], drafts={4: wrong, 10: ANSWER})
    ran = run(world, Schedule(4, 6, 256), 9)
    assert ran.drafts() == [(4, wrong[:6], "superseded"), (10, ANSWER[:8], "thinking")]
    assert ran.forwards == 13 + ceil(9 / 9) + TOKENS - 9
    sources = [source for event in ran.of(Draft) if event.id == 2 for source in event.sources]
    assert sources == [PREFIX, PREFIX, TARGET, SUFFIX, SUFFIX, SUFFIX, TARGET, TARGET]


@pytest.mark.parametrize("half", ["prefix", "suffix"])
def test_each_half_alone(half: str) -> None:
    """Without the prefix the draft is recovered once a first token, written singly, has found
    its place; without the suffix everything behind the first difference comes singly.
    """
    world = World(drafts={FIRST: differing(9)})
    ran = run(world, Schedule(FIRST, 0, 256), 16, **{half: False})
    if half == "suffix":
        assert ran.forwards == THINKING_FORWARDS + 1 + TOKENS - 9
        assert ran.sources.count(PREFIX) == 8
        assert SUFFIX not in ran.sources
    else:
        assert ran.forwards == THINKING_FORWARDS + 1 + 2 + 1 + TOKENS - 22
        assert ran.sources.count(SUFFIX) == 7 + 8 + 3
        assert PREFIX not in ran.sources


def test_a_scripted_model_notices_a_row_that_sees_no_text() -> None:
    """Otherwise it would be no judge: a mask that shows a branch the thinking behind its fork."""
    world = World(drafts={FIRST: ANSWER})

    class Leaking(Target):
        def _mask(self, parents: list[int], beside: Any) -> Tensor | None:
            mask = super()._mask(parents, beside)
            return mask if mask is None else torch.zeros_like(mask)

    target = Leaking(Scripted(world.script), room=8)
    for _ in target.prefill(PROMPT):
        pass
    target.open_branch(8)
    with pytest.raises(AssertionError):
        target.score(target.lay_out(DraftTree(10), (), DraftTree(CLOSE), [10]))
