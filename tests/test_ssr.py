"""SSR and RACER + SSR write what plain decoding writes, thinking included, and draft no lie.

The reference re-reads everything at every token. A random model rarely writes a marker,
so the marker is made of what it writes: two tokens of its own thinking are spelled as
the two halves of one, and some others as parts that look like the beginning of it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from engine.branch import Speculation
from engine.capacity import Auto, Capacity, Fixed
from engine.drafter import Drafter, NoDraft
from engine.events import Draft, Finish, Phase, Run, Step, Verify
from engine.loop import Limit, Written, decode
from engine.phases import Markers, Phases
from engine.record import check, fold
from engine.sampling import Sampler
from engine.target import Target
from engine.text import TextPieces
from racer import Racer
from ssr import SSR, Schedule
from tests.reference_phases import Marks, drafted, read, shown, spell_out, written_in_phases
from tests.test_loop import DEAR, FLAT, PADDED, RISING, Babbler, Oracle, cost, prompt_of
from tests.tiny import ARCHITECTURES, VOCABULARY, tiny

Settings = tuple[float, int, float, int]

OPEN, CLOSE = b"<t>", b"</t>"
CONTEXT = 512
TEMPERATURES: list[Settings] = [(0.0, 0, 1.0, 0), (0.7, 0, 0.95, 5), (1.3, 0, 1.0, 6)]
CAPACITIES: dict[str, Callable[[], Capacity]] = {
    "1": lambda: Fixed(1),
    "2": lambda: Fixed(2),
    "4": lambda: Fixed(4),
    "16": lambda: Fixed(16),
    "flat": lambda: Auto(cost(FLAT)),
    "dear": lambda: Auto(cost(DEAR)),
    "rising": lambda: Auto(cost(RISING)),
    "padded": lambda: Auto(cost(PADDED)),
}
MACHINES = {"flat": FLAT, "dear": DEAR, "rising": RISING, "padded": PADDED}


def run_line(lane: str, prompt_tokens: int) -> Run:
    """The first line of a recording of one lane."""
    return Run("r", "d", "p", prompt_tokens, 0, ({"key": lane, "capacity": "auto"},), {}, {}, {})


@dataclass(frozen=True)
class Case:
    """One way a model may think and answer. thought: tokens of thinking before the marker."""

    architecture: str
    settings: Settings
    prompt: tuple[int, ...]
    thought: int | None
    start: str
    budget: int | None
    tokens: int
    context: int
    eos: frozenset[int] = frozenset()
    torn: bool = False
    asked: bool = False

    @property
    def ends(self) -> frozenset[int]:
        """Ids that close the thinking of a model that was only asked to think."""
        return self.eos if self.asked else frozenset()

    @property
    def reference(self) -> Any:
        return tiny(self.architecture, 0, "sdpa")


@cache
def free_text(architecture: str, settings: Settings, prompt: tuple[int, ...]) -> tuple[int, ...]:
    """Forty tokens of thinking that nothing ends."""
    spelled = [b"." for _ in range(VOCABULARY)]
    marks = Marks(OPEN, CLOSE, ((0,),) * 4)
    ids, _ = written_in_phases(
        tiny(architecture, 0, "sdpa"), settings, prompt, spelled, marks, "reasoning", None, 1,
        len(prompt) + 40,
    )  # fmt: skip
    return tuple(ids)


@cache
def spelling(case: Case) -> tuple[tuple[bytes, ...], Marks]:
    """Bytes of every id such that this model's thinking ends where the case says.

    At `thought` the two tokens that it writes there are the two halves of the marker; a
    token that occurs before stands for something that only looks like a part of it.
    """
    text = free_text(case.architecture, case.settings, case.prompt)
    spelled = [chr(0x3B1 + token).encode() for token in range(VOCABULARY)]
    # Ids for the marker's bytes one by one, with which a budget completes it.
    unused = [token for token in range(VOCABULARY) if token not in text]
    single = dict(zip(sorted(set(CLOSE)), unused, strict=False))
    for byte, token in single.items():
        spelled[token] = bytes([byte])
    taken: set[int] = set(single.values())
    first = 0
    if case.start == "before":
        spelled[text[0]] = OPEN
        taken.add(text[0])
        first = 1
    singly = tuple(single[byte] for byte in CLOSE)
    closing: tuple[int, ...] = singly
    if case.thought is not None:
        halves = text[first + case.thought : first + case.thought + 2]
        if len(set(halves)) == 2 and not taken & set(halves):
            spelled[halves[0]], spelled[halves[1]] = CLOSE[:2], CLOSE[2:]
            closing = tuple(halves)
            taken |= set(halves)
    dice = random.Random(repr(replace(case, eos=frozenset())))
    for fake in (b"<", b"a<", b"</t", b"t", b"/t<", b"x<</"):
        token = dice.choice(text)
        if token not in taken:
            spelled[token] = fake
            taken.add(token)
    rests = tuple(_rest(closing, singly, written, case.torn) for written in range(4))
    return tuple(spelled), Marks(OPEN, CLOSE, rests)


def _rest(
    closing: tuple[int, ...], singly: tuple[int, ...], written: int, torn: bool
) -> tuple[int, ...]:
    """Ids for the marker behind its first bytes: the model's own, else byte by byte.

    torn: byte by byte whenever some of it is written, so that what is appended in the
    middle of it is spelled otherwise than from its beginning.
    """
    if len(closing) == 2 and written in (0, 2) and not (torn and written):
        return closing[written // 2 :]
    own = closing[1:] if len(closing) == 2 and written == 1 and not torn else ()
    last = 2 if own else 4
    return (*singly[written:last], *own)


@cache
def plain(case: Case) -> tuple[list[int], str]:
    """The text by the definition alone."""
    spelled, marks = spelling(case)
    return written_in_phases(
        case.reference, case.settings, case.prompt, spelled, marks, case.start, case.budget,
        case.tokens, case.context, case.eos, case.ends,
    )  # fmt: skip


_DRAFTS: dict[tuple[Case, tuple[int, ...]], list[int]] = {}


def plain_draft(case: Case, context: tuple[int, ...], length: int) -> list[int]:
    """The first tokens of a draft by the definition alone; what is known is not written again."""
    known = _DRAFTS.setdefault((case, context), [])
    if len(known) < length:
        known[:] = drafted(case.reference, case.settings, context, length, case.eos)
    return known[:length]


@cache
def random_case(seed: int) -> Case:
    """A case with an end of text somewhere: in the thinking, the draft, the answer, or nowhere."""
    dice = random.Random(seed)
    ending = ("length", "answer", "draft", "context", "thinking")[seed % 5]
    start = dice.choice(["reasoning", "reasoning", "before"])
    case = Case(
        architecture=ARCHITECTURES[seed % 3],
        settings=TEMPERATURES[seed // 3 % 3],
        prompt=prompt_of(9, seed=1 + seed % 2),
        thought=dice.choice([None, dice.randint(0, 8), dice.randint(6, 26)]),
        start=start,
        budget=dice.choice([None, dice.randint(1, 12), dice.randint(8, 24), 20]),
        tokens=dice.choice([1, 3, 12, 18]),
        context=9 + (dice.choice([12, 20, 30]) if ending == "context" else 60),
        torn=dice.random() < 0.3,
        asked=dice.random() < 0.4,
    )
    if ending not in ("length", "context"):
        text, _ = plain(case)
        if ending == "answer":
            text = text[-4:]
        elif ending == "thinking":
            text = text[:8]
        elif ending == "draft":
            marks = spelling(case)[1]
            context = (*case.prompt, *text[: random_schedule(seed).first], *marks.rests[0])
            text = plain_draft(case, context, 4)
        case = replace(case, eos=frozenset({dice.choice(text), VOCABULARY + 1}))
    return case


def random_schedule(seed: int) -> Schedule:
    dice = random.Random(1000 + seed)
    return Schedule(
        dice.choice([1, 2, 3, 5, 9]), dice.choice([0, 0, 1, 2, 3, 5]), dice.choice([1, 2, 5, 30])
    )


Lane = Callable[[Case, Schedule], Drafter]

LANES: dict[str, Lane] = {
    "none": lambda case, schedule: NoDraft(),
    "oracle": lambda case, schedule: Oracle([*case.prompt, *plain(case)[0]], 4),
    "racer": lambda case, schedule: Racer(),
    "ssr": lambda case, schedule: SSR(schedule),
    "racer+ssr": lambda case, schedule: SSR(schedule, Racer()),
    "likeliest+ssr": lambda case, schedule: SSR(schedule, Racer(likeliest=True)),
    "ssr-prefix": lambda case, schedule: SSR(schedule, Racer(), suffix=False),
    "ssr-suffix": lambda case, schedule: SSR(schedule, prefix=False),
    "ssr-separate": lambda case, schedule: SSR(schedule, Racer(), separate=True),
    "babbler+ssr": lambda case, schedule: Babbling(schedule, 7),
}


class Babbling(SSR):
    """SSR whose drafts are drafted with random trees, in the text and in the branch."""

    def __init__(self, schedule: Schedule, seed: int) -> None:
        super().__init__(schedule)
        self._babbler = Babbler(seed)

    def propose(self, root: int, capacity: int) -> Any:
        return self._babbler.propose(root, capacity)

    def branch(self) -> Any:
        return Babbler(11)


def run(
    case: Case, name: str, schedule: Schedule, capacity: str = "16", drafter: Any = None
) -> tuple[list[int], list[Any]]:
    """Decode to the end: ids and events, which agree with each other."""
    spelled, marks = spelling(case)
    markers = Markers(marks.open, marks.close, marks.rests[0], marks.rests)
    phases = Phases(spelled, markers, case.start, case.budget, case.ends)
    written = Written()
    machine = MACHINES.get(capacity)
    events = list(
        decode(
            name,
            Target(tiny(case.architecture), cost(machine) if machine else None, room=8),
            drafter or LANES[name](case, schedule),
            Sampler(*case.settings),
            case.prompt,
            Limit(case.tokens, case.context, case.eos),
            CAPACITIES[capacity](),
            TextPieces(spelled, phases),
            written,
            phases,
        )
    )
    if not isinstance(drafter, Rehearsed):  # whose drafts are others than were written
        check([run_line(name, len(case.prompt)), *events])
    assert len(written.gaps) == len(written.tokens)
    return written.tokens, events


def assert_exact(case: Case, ids: list[int], events: list[Any]) -> None:
    """Tokens, reason, text of both phases and their borders are the reference's."""
    spelled, marks = spelling(case)
    text, reason = plain(case)
    finish = events[-1]
    assert isinstance(finish, Finish)
    assert finish.message == ""
    assert (ids, finish.reason) == (text, reason)
    thinking, answer = shown(spelled, spelled, text, marks, case.start)
    steps = [event for event in events if isinstance(event, Step)]
    pieces = [piece for step in steps for piece in step.pieces]
    assert fold(steps) == {steps[0].lane: spell_out(thinking + answer)}
    found = read(spelled, text, marks, case.start)
    borders = {event.phase: event for event in events if isinstance(event, Phase)}
    assert ("reasoning" in borders) == (case.start == "reasoning" or found.opened is not None)
    assert ("answer" in borders) == (found.closed is not None)
    assert finish.totals.get("thinking_tokens", 0) == found.thinking
    if found.closed is not None:
        border = borders["answer"]
        assert border.at == found.closed[0]
        at = len("".join(pieces[: border.at])) + border.cut
        assert "".join(pieces)[:at] == spell_out(thinking)
        place = border.at
        early = read(spelled, text[:place], marks, case.start)
        spent = case.budget is not None and early.thinking >= case.budget
        # A marker begun where the model would have ended is the model's, whatever is spent then.
        assert border.by == ("budget" if spent else "model") or case.asked
        if found.thinking:
            assert finish.totals["answer_tokens"] == len(text) - place - 1


def drafts_of(events: Sequence[Any]) -> dict[int, tuple[Draft, list[int], str]]:
    """Of each draft its last event, its tokens, and its text."""
    found: dict[int, tuple[Draft, list[int], str]] = {}
    for event in events:
        if isinstance(event, Draft):
            _, tokens, text = found.get(event.id, (event, [], ""))
            found[event.id] = (event, [*tokens, *event.tokens], text + "".join(event.pieces))
    return found


def assert_drafts_plain(case: Case, events: list[Any], schedule: Schedule) -> None:
    """Each draft is what a run of its own would write behind that much thinking and the marker."""
    spelled, marks = spelling(case)
    text, _ = plain(case)
    for last, tokens, written in drafts_of(events).values():
        cut = next(
            place
            for place in range(len(text) + 1)
            if (now := read(spelled, text[:place], marks, case.start)).mode == "reasoning"
            and now.thinking == last.opened_at
        )
        context = (*case.prompt, *text[:cut], *marks.rests[now.matched])
        assert tokens == plain_draft(case, context, len(tokens))
        assert 0 < len(tokens) <= last.length <= schedule.length
        assert len(context) + last.length <= case.context
        assert (last.closed == "eos") == (tokens[-1] in case.eos)
        assert last.closed != "length" or len(tokens) == last.length
        assert last.closed in ("eos", "length") or len(tokens) < last.length
        assert last.closed != ""
        assert written == spell_out(b"".join(spelled[token] for token in tokens))


SEEDS = range(27)


@cache
def ran(seed: int, name: str) -> tuple[list[int], list[Any]]:
    """The random case in that lane, the capacities in turn."""
    capacity = [*CAPACITIES][(seed + 3 * [*LANES].index(name)) % len(CAPACITIES)]
    return run(random_case(seed), name, random_schedule(seed), capacity)


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_drafted_the_text_is_the_plain_one(seed: int) -> None:
    """Random thinking, budgets, ends, draft points, lengths, limits; every lane in turn."""
    others = [name for name in LANES if name not in ("ssr", "racer+ssr")]
    for name in ("ssr", "racer+ssr", others[seed % len(others)]):
        ids, events = ran(seed, name)
        assert_exact(random_case(seed), ids, events)
        assert_drafts_plain(random_case(seed), events, random_schedule(seed))


@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("name", ["racer+ssr", "babbler+ssr"])
def test_no_capacity_can_change_a_text_that_is_drafted_and_verified(
    capacity: str, name: str
) -> None:
    case = Case("qwen3", TEMPERATURES[1], prompt_of(9), 14, "reasoning", 20, 18, 9 + 60)
    schedule = Schedule(3, 4, 12)
    ids, events = run(case, name, schedule, capacity)
    assert_exact(case, ids, events)
    assert_drafts_plain(case, events, schedule)
    assert len(drafts_of(events)) >= 2
    nodes = int(capacity) if capacity.isdecimal() else 64
    for step in (event for event in events if isinstance(event, Step)):
        assert step.drafted < nodes
        # The open branch has its root and what it brings along beside.
        assert step.drafted + 1 + step.branch <= max(nodes, 2) + (5 if step.branch else 0)


@pytest.mark.parametrize("settings", [TEMPERATURES[0], TEMPERATURES[2]])
@pytest.mark.parametrize("start", ["reasoning", "before"])
@pytest.mark.parametrize("torn", [False, True])
def test_a_budget_that_falls_in_the_middle_of_the_marker(
    settings: Settings, start: str, torn: bool
) -> None:
    """The model is between its two tokens when the budget is spent: the rest is appended, once.

    With an oracle and with RACER what is appended stands in the draft tree, too.
    """
    met = 0
    for thought in (3, 9):
        case = Case(
            "llama", settings, prompt_of(9), thought, start, thought + 1, 6, CONTEXT, torn=torn
        )
        spelled, marks = spelling(case)
        text, _ = plain(case)
        found = read(spelled, text, marks, start)
        if found.closed is None or found.thinking < thought + 2:
            continue  # this text has no two tokens to spell a marker with there
        met += 1
        for name, capacity in (("oracle", "16"), ("racer", "4"), ("ssr", "4"), ("racer+ssr", "16")):
            ids, events = run(case, name, Schedule(2, 3, 9), capacity)
            assert_exact(case, ids, events)
            borders = [event for event in events if isinstance(event, Phase)]
            assert borders[-1].by == "budget"
    assert met


@pytest.mark.parametrize("settings", [TEMPERATURES[0], TEMPERATURES[2]])
@pytest.mark.parametrize("torn", [False, True])
def test_a_model_that_was_asked_to_think_and_ends_its_turn_comes_to_answer(
    settings: Settings, torn: bool
) -> None:
    """Where it chose to end, the marker is written instead; its later end is an end."""
    case = Case("qwen3", settings, prompt_of(9), None, "reasoning", 30, 12, CONTEXT, torn=torn)
    text, _ = plain(case)
    for place in (0, 5, 11):
        ending = replace(case, eos=frozenset({text[place]}), asked=True)
        marks = spelling(ending)[1]
        cut = text.index(text[place])
        ended, _ = plain(ending)
        assert ended[cut : cut + len(marks.rests[0])] == list(marks.rests[0])
        for name in ("none", "racer", "ssr", "racer+ssr"):
            ids, events = run(ending, name, Schedule(2, 3, 9))
            assert_exact(ending, ids, events)
            assert_drafts_plain(ending, events, Schedule(2, 3, 9))
            borders = [event for event in events if isinstance(event, Phase)]
            assert borders[-1].by == "model"


def test_a_marker_inside_a_tree_switches_the_noise_at_once() -> None:
    """An oracle's tree holds the marker and the answer behind it; each node has its own phase."""
    for settings in TEMPERATURES[1:]:
        case = Case("qwen2", settings, prompt_of(9), 6, "reasoning", None, 14, CONTEXT)
        spelled, marks = spelling(case)
        text, _ = plain(case)
        found = read(spelled, text, marks, "reasoning")
        assert found.closed is not None
        ids, events = run(case, "oracle", Schedule(1))
        assert_exact(case, ids, events)
        paths, before = [], 0
        for step in (event for event in events if isinstance(event, Step)):
            if step.accepted:
                paths.append((before, before + step.accepted))
            before += len(step.tokens)
        assert any(begin <= found.closed[0] < end - 1 for begin, end in paths)


@pytest.mark.parametrize("name", ["ssr", "racer+ssr"])
@pytest.mark.parametrize("settings", TEMPERATURES)
@pytest.mark.parametrize("thought", [4, 11])
def test_a_draft_behind_all_of_the_thinking_is_the_answer(
    name: str, settings: Settings, thought: int
) -> None:
    """Opened when the model is about to write the marker: same text, same noise, same tokens."""
    case = Case("llama", settings, prompt_of(9), thought, "reasoning", None, 18, 9 + 50)
    spelled, marks = spelling(case)
    text, _ = plain(case)
    closed = read(spelled, text, marks, "reasoning").closed
    if closed is None or closed[0] < 2 or len(marks.rests[0]) != 2:
        pytest.skip("this text has no two tokens to spell a marker with there")
    # After the first of the marker's two tokens, so that the second is all that is missing.
    ids, events = run(case, name, Schedule(closed[0], 0, 30))
    assert_exact(case, ids, events)
    drafts = list(drafts_of(events).values())
    if name != "ssr" and not drafts:
        pytest.skip("RACER wrote both of the marker's tokens in one forward")
    [(last, tokens, _)] = drafts
    [verdict] = [event for event in events if isinstance(event, Verify)]
    assert last.opened_at == closed[0]
    assert tokens == text[closed[0] + 1 :][: len(tokens)]
    assert (verdict.accepted, verdict.length) == (len(tokens), len(tokens))


class Rehearsed(SSR):
    """Its drafts are the answer that will be written, as if more thinking changed nothing."""

    def __init__(self, schedule: Schedule, answer: Sequence[int], beside: Any = None) -> None:
        super().__init__(schedule, beside)
        self._known = list(answer)

    def written(self, draft: Sequence[int]) -> bool:
        super().written(self._known)
        return True


@pytest.mark.parametrize("settings", [TEMPERATURES[0], TEMPERATURES[2]])
@pytest.mark.parametrize("beside", [None, Racer])
@pytest.mark.parametrize("capacity", ["4", "16", "padded"])
def test_a_right_draft_is_taken_over_and_a_spoilt_one_recovered(
    settings: Settings, beside: Any, capacity: str
) -> None:
    """So that prefix and suffix tokens are accepted in numbers, the text staying what it is."""
    case = Case("qwen2", settings, prompt_of(9), 9, "reasoning", 14, 18, CONTEXT)
    text, _ = plain(case)
    spelled, marks = spelling(case)
    found = read(spelled, text, marks, "reasoning")
    assert found.closed is not None
    answer = text[found.closed[0] + 1 :]
    spoilt = [token if place % 6 != 4 else (token + 1) % 64 for place, token in enumerate(answer)]
    for draft, reused in ((answer, "prefix_tokens"), (spoilt, "suffix_tokens")):
        drafter = Rehearsed(Schedule(3, 0, 5), draft, beside and beside())
        ids, events = run(case, "ssr", Schedule(3), capacity, drafter)
        assert ids == text
        assert fold(e for e in events if isinstance(e, Step))["ssr"] == spell_out(
            b"".join(shown(spelled, spelled, text, marks, "reasoning"))
        )
        assert events[-1].totals[reused] > 0


def test_a_verdict_is_told_once_and_is_true() -> None:
    told = Counter()
    for seed in SEEDS:
        case = random_case(seed)
        for name in ("ssr", "racer+ssr"):
            ids, events = ran(seed, name)
            spelled, marks = spelling(case)
            closed = read(spelled, ids, marks, case.start).closed
            verdicts = [event for event in events if isinstance(event, Verify)]
            drafts = drafts_of(events)
            assert len(verdicts) == (1 if drafts and closed else 0)
            told[len(verdicts)] += 1
            for verdict in verdicts:
                assert closed is not None
                answer = ids[closed[0] + 1 :]
                # A draft that only repeated the beginning of an earlier one is not checked.
                number, tokens = 0, []
                for each in sorted(drafts):
                    if drafts[each][1] != tokens[: len(drafts[each][1])]:
                        number, tokens = each, drafts[each][1]
                assert (verdict.draft, verdict.length) == (number, len(tokens))
                agreed = next(
                    (i for i, (a, b) in enumerate(zip(tokens, answer, strict=False)) if a != b),
                    min(len(tokens), len(answer)),
                )
                assert verdict.accepted == agreed
                assert verdict.token == (tokens[agreed] if agreed < len(tokens) else None)
                if verdict.token is not None:
                    rest = answer[agreed] if agreed < len(answer) else None
                    assert verdict.answer_token == rest
    assert told[0] > 3
    assert told[1] > 3


def test_the_random_cases_meet_every_ending() -> None:
    """Otherwise the laws above would say little."""
    met: Counter[str] = Counter()
    for seed in SEEDS:
        case = random_case(seed)
        spelled, marks = spelling(case)
        text, reason = plain(case)
        found = read(spelled, text, marks, case.start)
        where = "answer" if found.closed else "thinking"
        met[f"{reason} in {where}"] += 1
        if found.closed:
            early = read(spelled, text[: found.closed[0]], marks, case.start)
            by_budget = case.budget is not None and early.thinking >= case.budget
            met["by budget" if by_budget else "by model"] += 1
        met[case.start] += 1
        for _, tokens, _ in drafts_of(ran(seed, "ssr")[1]).values():
            met["drafted"] += 1
            met["end in draft"] += tokens[-1] in case.eos
    for each in (
        "eos in thinking", "eos in answer", "length in answer", "context in answer",
        "context in thinking", "by budget", "by model", "before", "end in draft",
    ):  # fmt: skip
        assert met[each], (each, met)
    assert met["drafted"] > 25


def test_a_lane_that_ends_while_a_draft_is_written_shows_none_of_it() -> None:
    """The context ends in the middle of the thinking, and so does the text."""
    case = Case("llama", TEMPERATURES[0], prompt_of(9), None, "reasoning", None, 9, 9 + 20)
    for name in ("ssr", "racer+ssr"):
        ids, events = run(case, name, Schedule(4, 0, 30))
        assert_exact(case, ids, events)
        [(last, _, _)] = drafts_of(events).values()
        assert last.closed in ("finish", "length")
        assert not [event for event in events if isinstance(event, Verify)]
        assert events[-1].note == "no-answer"


def drafting() -> tuple[Case, Target, Written, Generator[Any], list[Any]]:
    """A lane whose first draft is open: its case, parts, events to come and events so far."""
    case = Case("llama", TEMPERATURES[0], prompt_of(9), None, "reasoning", 20, 9, CONTEXT)
    spelled, marks = spelling(case)
    phases = Phases(
        spelled, Markers(OPEN, CLOSE, marks.rests[0], marks.rests), "reasoning", case.budget
    )
    target, written = Target(tiny("llama")), Written()
    events = decode(
        "ssr", target, SSR(Schedule(2)), Sampler(), case.prompt, Limit(9, CONTEXT), Fixed(4),
        TextPieces(spelled, phases), written, phases,
    )  # fmt: skip
    told: list[Any] = []
    while not told or not isinstance(told[-1], Draft):
        told.append(next(events))
    return case, target, written, events, told


def test_closing_in_the_middle_of_a_draft_frees_the_cache() -> None:
    case, target, written, events, _ = drafting()
    assert target._branch is not None
    events.close()
    assert not target._store.layers
    assert written.tokens == plain(case)[0][: len(written.tokens)]


@pytest.mark.parametrize("place", ["score", "settle"])
def test_an_error_while_a_draft_is_open_is_told_and_asks_no_more_of_the_device(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a step's forward, or between writing in the draft and telling of it."""
    case, target, written, events, told = drafting()

    def gone(*_: Any) -> None:
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(*((target, "score") if place == "score" else (Speculation, "settle")), gone)
    monkeypatch.setattr(Target, "drop_branch", gone)
    told += events
    assert isinstance(told[-1], Finish)
    assert told[-1].reason == "error"
    assert isinstance(told[-2], Draft)
    assert told[-2].closed == "finish"
    assert (len(told[-2].tokens) > 0) == (place == "settle")
    assert written.tokens == plain(case)[0][: len(written.tokens)]
    assert not target._store.layers


def test_a_model_that_does_not_think_is_decoded_plainly_and_says_so() -> None:
    from tests.test_loop import PROMPT
    from tests.test_loop import plain as one_phase
    from tests.test_loop import run as run_plain

    text, _ = one_phase("llama", (0.0, 0, 1.0, 0), PROMPT)
    for drafter in (SSR(Schedule(1)), SSR(Schedule(1), Racer())):
        ids, _, events = run_plain(drafter)
        assert ids == text
        assert not [event for event in events if isinstance(event, Draft | Verify | Phase)]
        assert events[-1].note == "no-thinking"
        assert events[-1].totals["drafts"] == 0


def test_memory_and_work_stay_flat_in_the_number_of_past_drafts() -> None:
    """A draft every second token: the cache is that of the text, and no forward gets wider."""
    case = Case("llama", TEMPERATURES[0], prompt_of(9), None, "reasoning", 60, 4, CONTEXT)
    spelled, marks = spelling(case)
    phases = Phases(
        spelled, Markers(OPEN, CLOSE, marks.rests[0], marks.rests), "reasoning", case.budget
    )
    widths, lengths = [], []

    class Watched(Target):
        def score(self, query: Any) -> Any:
            widths.append(len(query.tokens))
            found = super().score(query)
            lengths.append(self._store.length - self.past)
            return found

    target = Watched(tiny("llama"), room=8)
    events = list(
        decode(
            "ssr",
            target,
            SSR(Schedule(2, 2, 6)),
            Sampler(),
            case.prompt,
            Limit(4, CONTEXT),
            Fixed(8),
            TextPieces(spelled, phases),
            Written(),
            phases,
        )
    )
    drafts = drafts_of(events)
    assert len(drafts) == 29
    assert max(widths) <= 8 + 1 + 2
    assert max(lengths) <= 6 + len(marks.rests[0]) + 1 + max(widths)
