"""Phases: reading token by token comes to what re-reading the whole text does."""

from __future__ import annotations

import codecs
import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.phases import ANSWER, BEFORE, ONE_PHASE, REASONING, Ends, Markers, Phases, State
from engine.text import TextPieces, Vocabulary
from tests.reference_phases import Marks, held, read, shown, spell_out, spent

OPEN, CLOSE = b"<think>", b"</think>"
PARTS = [
    b"<", b"/", b"t", b"hink", b">", b"</", b"think>", b"<think", b"</think>", b"<think>",
    b">\n", b"k></think", b"/think>ab", b"\n", b" ", b"\n\n", b"a", b"", b"< /", b"<</think>x",
    b">a<think></think>b", b"\xed", b"\x95\x9c", b"\xed\x95", b"\x9c</", "한".encode(), b"\xff",
]  # fmt: skip
PAIRS = [
    (OPEN, CLOSE),
    (b"aab", b"aab"),
    (b"<<>", b"<<>"),
    (b"abab", b"ababa"),
    (b"a", b"b"),
    (b"<", b"<>"),
    (b"ab", b"aabaaab"),
    ("◁a▷".encode(), "◁b▷".encode()),
]


@dataclass(frozen=True)
class World:
    """A vocabulary, its markers, how a text begins and how long it may think."""

    spelled: list[bytes]
    visible: list[bytes]
    marks: Marks
    start: str
    budget: int | None

    @property
    def vocabulary(self) -> Vocabulary:
        names = {i: s.decode() for i, s in enumerate(self.spelled) if s != self.visible[i]}
        return Vocabulary(self.visible, names)

    @property
    def phases(self) -> Phases:
        closing = self.marks.rests[0]
        markers = Markers(self.marks.open, self.marks.close, closing, self.marks.rests)
        return Phases(self.vocabulary.spelled, markers, self.start, self.budget)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Short byte strings that overlap with the markers, some of them special tokens."""
    opening, close = draw(st.sampled_from(PAIRS))
    letters = sorted(set(opening + close + b"x\n"))
    letter = st.sampled_from([bytes([each]) for each in letters])
    piece = st.one_of(
        st.lists(letter, min_size=1, max_size=5).map(b"".join),
        st.sampled_from(PARTS),
        st.sampled_from([opening, close, close + b"x", b"x" + close, opening + close, b" "]),
    )
    spelled = [bytes([byte]) for byte in sorted(set(close))]
    singles = {each: place for place, each in enumerate(spelled)}
    spelled += [b"\xed", b"\x95\x9c", *draw(st.lists(piece, min_size=4, max_size=12))]
    ascii_only = [place for place in range(len(singles), len(spelled)) if spelled[place].isascii()]
    special = set(draw(st.lists(st.sampled_from(ascii_only), max_size=2))) if ascii_only else set()
    visible = [b"" if place in special else data for place, data in enumerate(spelled)]
    # The rest of a marker byte by byte, sometimes with the line's end in its last token.
    spelled.append(close[-1:] + b"\n\n")
    visible.append(spelled[-1])
    last = draw(st.sampled_from([singles[close[-1:]], len(spelled) - 1]))
    rests = tuple(
        (*(singles[close[i : i + 1]] for i in range(k, len(close) - 1)), last)
        for k in range(len(close))
    )
    start = draw(st.sampled_from([BEFORE, REASONING, REASONING, ANSWER]))
    budget = draw(st.none() | st.integers(1, 9))
    return World(spelled, visible, Marks(opening, close, rests), start, budget)


@st.composite
def written(draw: st.DrawFn) -> tuple[World, list[int]]:
    """A text in such a world; it mostly opens its thinking where it may, and often closes it."""
    world = draw(worlds())
    ids = st.integers(0, len(world.spelled))
    tokens = draw(st.lists(ids, max_size=24))
    if world.start == BEFORE and draw(st.booleans()):
        white = [i for i, s in enumerate(world.spelled) if s in (b" ", b"\n")]
        opens = [i for i, s in enumerate(world.spelled) if s.startswith(world.marks.open)]
        head = [draw(st.sampled_from(white))] if white and draw(st.booleans()) else []
        tokens = head + ([draw(st.sampled_from(opens))] if opens else []) + tokens
    if draw(st.booleans()):
        place = draw(st.integers(0, len(tokens)))
        half = [world.spelled.index(b"\xed")] if draw(st.booleans()) else []
        written = draw(st.integers(0, len(world.marks.close) - 1))
        tokens[place:place] = [*half, *world.marks.rests[written]]
    return world, tokens


MANY = settings(derandomize=True, database=None, deadline=None, max_examples=100)


@given(case=written())
@MANY
def test_reading_on_comes_to_what_reading_anew_does(case: tuple[World, list[int]]) -> None:
    world, tokens = case
    state = world.phases.begin()
    for place in range(len(tokens) + 1):
        anew = read(world.spelled, tokens[:place], world.marks, world.start)
        assert (state.phase, state.index) == anew.keys[-1]
        assert state.mode == anew.mode
        assert state.thinking == anew.thinking
        assert state.mode != REASONING or state.matched == anew.matched
        if place < len(tokens):
            state = world.phases.advance(state, tokens[place])


@given(case=written())
@MANY
def test_a_marker_ends_in_the_token_with_its_last_byte(case: tuple[World, list[int]]) -> None:
    world, tokens = case
    state, anew = world.phases.begin(), read(world.spelled, tokens, world.marks, world.start)
    opened, closed, failed, length = [], [], [], 0
    for place, token in enumerate(tokens):
        state, ends = world.phases.read(state, token)
        if ends.opened is not None:
            opened.append((place, length + ends.opened))
        if ends.closed is not None:
            closed.append((place, length + ends.closed))
        if ends.failed:
            failed.append(place)
        length += len(world.spelled[token]) if token < len(world.spelled) else 0
    for found, expected in ((opened, anew.opened), (closed, anew.closed)):
        assert found == ([] if expected is None else [(expected[0], expected[2])])
    assert failed == ([] if anew.failed is None else [anew.failed])


@given(case=written())
@MANY
def test_a_text_switches_once_at_most_and_never_back(case: tuple[World, list[int]]) -> None:
    world, tokens = case
    state = world.phases.begin()
    modes = [state.mode]
    for token in tokens:
        state = world.phases.advance(state, token)
        modes.append(state.mode)
    order = (BEFORE, REASONING, ANSWER)
    places = [order.index(mode) for mode in modes]
    assert places == sorted(places)


@given(case=written())
@MANY
def test_a_spent_budget_appends_exactly_what_is_missing(case: tuple[World, list[int]]) -> None:
    """Wherever in the marker the model has come to, and not a token before the budget is spent."""
    world, tokens = case
    state = world.phases.begin()
    for place in range(len(tokens) + 1):
        anew = read(world.spelled, tokens[:place], world.marks, world.start)
        appended = world.phases.forced(state)
        assert appended == spent(anew, world.budget, world.marks)
        if appended:
            missing = b"".join(world.spelled[token] for token in appended)
            assert missing.rstrip(b"\n") == world.marks.close[anew.matched :].rstrip(b"\n")
            for number, token in enumerate(appended):
                assert state.mode == REASONING
                # Whoever asks again in the middle is told the same.
                assert world.phases.forced(state) == appended[number:]
                state = world.phases.advance(state, token)
            assert (state.mode, state.index) == (ANSWER, 0)
            assert not world.phases.forced(state)
            break
        if place < len(tokens):
            state = world.phases.advance(state, tokens[place])


@given(case=written())
@MANY
def test_the_budget_counts_reasoning_tokens_and_nothing_else(case: tuple[World, list[int]]) -> None:
    world, tokens = case
    state = world.phases.begin()
    for place, token in enumerate(tokens):
        before, state = state, world.phases.advance(state, token)
        opener = read(world.spelled, tokens[: place + 1], world.marks, world.start).opened
        opens = opener is not None and opener[0] == place
        thought = before.mode == REASONING
        assert state.thinking == before.thinking + thought
        assert not (opens and thought)


def pushed(world: World, tokens: list[int]) -> tuple[list[str], list[tuple[str, int, int]], str]:
    """Pieces, borders (phase, token, cut), and what came only with the end."""
    pieces = TextPieces(world.vocabulary, world.phases)
    texts, borders = [], []
    for place, token in enumerate(tokens):
        texts.append(pieces.push(token))
        borders += [(border.phase, place, border.cut) for border in pieces.borders]
    return texts, borders, pieces.flush()


@given(case=written())
@MANY
def test_thinking_and_answer_in_full_and_no_marker_shown(case: tuple[World, list[int]]) -> None:
    """Cut at the borders, the pieces are both texts with the markers left out, and no more."""
    world, tokens = case
    texts, borders, tail = pushed(world, tokens)
    anew = read(world.spelled, tokens, world.marks, world.start)
    thinking, answer = shown(world.spelled, world.visible, tokens, world.marks, world.start)
    expected = {REASONING: anew.opened, ANSWER: anew.closed}
    assert {phase: place for phase, place, _ in borders} == {
        phase: span[0] for phase, span in expected.items() if span
    }
    assert len(borders) == len({phase for phase, _, _ in borders})
    whole = "".join(texts) + tail
    ends = [(place, cut) for phase, place, cut in borders if phase == ANSWER]
    if ends:
        place, cut = ends[0]
        at = len("".join(texts[:place])) + cut
        assert (whole[:at], whole[at:]) == (spell_out(thinking), spell_out(answer))
        assert cut <= len(texts[place])
    else:
        assert not (thinking and answer)
        assert whole == spell_out(thinking + answer)


@given(case=written())
@MANY
def test_text_is_held_back_no_longer_than_it_may_be_a_marker(case: tuple[World, list[int]]) -> None:
    world, tokens = case
    known = [token for token in tokens if token < len(world.spelled)]
    pieces, so_far = TextPieces(world.vocabulary, world.phases), ""
    for place, token in enumerate(known):
        so_far += pieces.push(token)
        before = known[: place + 1]
        thinking, answer = shown(world.spelled, world.visible, before, world.marks, world.start)
        back = held(world.spelled, before, world.marks, world.start)
        if back:
            spelled = b"".join(world.spelled[each] for each in before)
            visible = [
                world.visible[each] == world.spelled[each]
                for each in before
                for _ in world.spelled[each]
            ]
            hidden = sum(visible[len(spelled) - back :])
            assert not answer or world.start == BEFORE
            text = thinking + answer
            text = text[: len(text) - hidden]
            whole = _whole(text)
        else:
            closed = read(world.spelled, before, world.marks, world.start).closed
            whole = (spell_out if closed else _whole)(thinking) + _whole(answer)
        assert so_far == whole


def _whole(data: bytes) -> str:
    """The text of `data` without a character that is not finished."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    return spell_out(decoder.decode(data).encode("utf-8", "surrogateescape"))


def test_a_korean_character_may_be_spread_over_tokens_on_both_sides_of_a_marker() -> None:
    spelled = [b"\xed", b"\x95", b"\x9c", b"</th", b"ink>", b"<", b"\n", b"\x9c</"]
    rests = ((3, 4),) * len(CLOSE)
    world = World(spelled, spelled, Marks(OPEN, CLOSE, rests), REASONING, None)
    texts, borders, tail = pushed(world, [0, 1, 7, 5, 0, 1, 2, 3, 4, 6, 0, 1, 2])
    assert texts == ["", "", "한", "</", "<", "", "한", "", "", "\n", "", "", "한"]
    assert borders == [(ANSWER, 8, 0)]
    assert tail == ""


def test_half_a_character_before_a_marker_is_no_part_of_what_comes_behind_it() -> None:
    tokens = [b"\xed", b"</think>", b"\x95\x9c", b"a"]
    marks = Marks(OPEN, CLOSE, ((0,),) * len(CLOSE))
    world = World(tokens, tokens, marks, REASONING, None)
    texts, borders, _ = pushed(world, [3, 0, 1, 2, 3])
    assert texts == ["a", "", "‹ed›", "‹95›‹9c›", "a"]
    assert borders == [(ANSWER, 2, 4)]


@pytest.mark.parametrize(
    ("tokens", "texts", "border"),
    [
        ([b"So", b"</think>", b"Yes"], ["So", "", "Yes"], (1, 0)),
        ([b"So", b"</think>\n\nYes"], ["So", "\n\nYes"], (1, 0)),
        ([b"So. </think>Yes"], ["So. Yes"], (0, 4)),
        ([b"a<", b"/thi", b"nk", b">\n"], ["a", "", "", "\n"], (3, 0)),
        ([b"</th", b"</think>", b"x"], ["", "</th", "x"], (1, 4)),
        ([b"<", b"<", b"<", b"/think>"], ["", "<", "<", ""], (3, 0)),
        ([b"</think>", b"</think>"], ["", "</think>"], (0, 0)),
        ([b"<think>", b"a</think>"], ["<think>", "a"], (1, 1)),
    ],
)
def test_where_a_marker_stands(
    tokens: list[bytes], texts: list[str], border: tuple[int, int]
) -> None:
    marks = Marks(OPEN, CLOSE, ((0,),) * len(CLOSE))
    world = World(tokens, tokens, marks, REASONING, None)
    assert pushed(world, list(range(len(tokens)))) == (texts, [(ANSWER, *border)], "")


@pytest.mark.parametrize(
    ("tokens", "texts", "border"),
    [
        ([b"<think>", b"\n", b"So"], ["", "\n", "So"], (0, 0)),
        ([b" \n", b"<thi", b"nk>So"], ["", "", " \nSo"], (2, 0)),
        ([b"<thin", b"x"], ["", "<thinx"], None),
        ([b" ", b"Yes <think>"], ["", " Yes <think>"], None),
        ([b"\n"] * 17, [""] * 15 + ["\n" * 16, "\n"], None),
        ([b""] * 17 + [b"<think>"], [""] * 17 + ["<think>"], None),
    ],
)
def test_thinking_opens_at_the_very_beginning_or_not_at_all(
    tokens: list[bytes], texts: list[str], border: tuple[int, int] | None
) -> None:
    marks = Marks(OPEN, CLOSE, ((0,),) * len(CLOSE))
    world = World(tokens, tokens, marks, BEFORE, None)
    expected = [] if border is None else [(REASONING, *border)]
    assert pushed(world, list(range(len(tokens)))) == (texts, expected, "")


def test_a_marker_that_is_not_finished_is_text_when_the_text_ends() -> None:
    tokens = [b"a</thi", b"\xed"]
    marks = Marks(OPEN, CLOSE, ((0,),) * len(CLOSE))
    pieces = TextPieces(tokens, World(tokens, tokens, marks, REASONING, None).phases)
    assert pieces.push(0) == "a"
    assert pieces.unheld() == "</thi"
    assert (pieces.push(1), pieces.flush()) == ("", "‹ed›")


def test_special_tokens_are_markers_by_their_name_and_no_text() -> None:
    world = World([CLOSE, b"x", OPEN], [b"", b"x", b""], Marks(OPEN, CLOSE, ((0,),) * 8), BEFORE, 2)
    texts, borders, _ = pushed(world, [2, 1, 2, 1, 0, 1, 0, 1])
    assert texts == ["", "x", "", "x", "", "x", "", "x"]
    assert borders == [(REASONING, 0, 0), (ANSWER, 4, 0)]


def test_one_phase_counts_and_nothing_else() -> None:
    state = ONE_PHASE.begin()
    for index in range(5):
        assert (state.phase, state.index, state.thinking) == (ANSWER, index, 0)
        state, ends = ONE_PHASE.read(state, index)
        assert ends == Ends()
    assert not ONE_PHASE.thinks
    assert not ONE_PHASE.forced(state)
    assert Phases(start=ANSWER, budget=1).forced(State(ANSWER, 5, 5)) == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Markers(b"", b"b", (1,), ((1,),)),
        lambda: Markers(b"a", b"", (1,), ()),
        lambda: Markers(b"a", b"b", (), ((),)),
        lambda: Markers(b"a", b"bc", (1,), ((1,),)),
        lambda: Markers(b"a", b"bc", (1,), ((1,), ())),
        lambda: Phases(start=REASONING),
        lambda: Phases(start=BEFORE),
        lambda: Phases(start="later"),
        lambda: Phases(budget=0),
    ],
)
def test_what_cannot_be_is_refused(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=r"marker|start|budget"):
        make()


def test_phases_need_no_torch() -> None:
    code = "import sys, engine.phases, engine.thinking, ssr; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
