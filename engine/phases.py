"""Thinking and answer: which of the two every position of a text belongs to. No torch.

The markers around the thinking are found in the text as it is spelled, byte by byte, so
it does not matter whether a marker is one token or several, in which block its parts
come, or whether a token holds the end of one and the beginning of the answer. Every
lane and every draft branch follows the same rules, on the path of its own tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

BEFORE = "before"
REASONING = "reasoning"
ANSWER = "answer"

_WHITE = b" \t\r\n"
# A model that thinks opens its thinking at once; white space alone is no text.
_PATIENCE = 16


@dataclass(frozen=True, slots=True)
class Markers:
    """How one model spells the two ends of its thinking.

    open, close: their bytes, special tokens spelled by their names. closing: ids the
    model itself writes for `close`, appended when the budget is spent. rests: the same
    for a marker of which the first k bytes are already written, k from 0.
    Raises ValueError for an empty marker.
    """

    open: bytes
    close: bytes
    closing: tuple[int, ...]
    rests: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not (self.open and self.close and self.closing):
            raise ValueError("a marker has at least one byte")
        if len(self.rests) != len(self.close) or not all(self.rests):
            raise ValueError("every beginning of the closing marker has a rest")


@dataclass(frozen=True, slots=True)
class State:
    """Where a text stands: what its next token will be.

    mode: BEFORE (thinking may still open), REASONING or ANSWER. index: place of the next
    token inside its phase, which keys its noise (the answer of a text that did not open with
    thinking begins at the text's first token). thinking: reasoning tokens so far.
    matched: bytes of the marker looked for with which the text ends.
    """

    mode: str
    index: int = 0
    thinking: int = 0
    matched: int = 0

    @property
    def phase(self) -> str:
        """The phase that keys the next token's noise."""
        return ANSWER if self.mode == ANSWER else REASONING


@dataclass(frozen=True, slots=True)
class Ends:
    """Where inside one token a marker ended: offsets behind its last byte, None for nowhere.

    failed: the token shows that the text does not open with thinking.
    """

    opened: int | None = None
    closed: int | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Phases:
    """The rules of one run, the same in every lane.

    spell: bytes of every id, special tokens by their names. markers: None for a model
    that does not think: one phase. start: BEFORE, REASONING or ANSWER, by the prompt's
    end. budget: reasoning tokens after which the closing marker is appended. ends: ids
    with which a model that was only asked to think ends its whole turn in the middle of
    that: the closing marker is written in their place, so that it comes to answer.
    Raises ValueError for a start that needs markers, a budget below one token, or rests of
    a marker that never complete it.
    """

    spell: Sequence[bytes] = ()
    markers: Markers | None = None
    start: str = ANSWER
    budget: int | None = None
    ends: frozenset[int] = frozenset()
    _fails: tuple[int, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if self.start not in (BEFORE, REASONING, ANSWER):
            raise ValueError(f"no start {self.start!r}")
        if self.markers is None and self.start != ANSWER:
            raise ValueError("thinking has markers")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"a thinking budget is at least one token, not {self.budget}")
        if self.markers is not None:
            object.__setattr__(self, "_fails", _failures(self.markers.close))
            if self.budget is not None or self.ends:
                self._check_rests(self.markers)

    def _check_rests(self, markers: Markers) -> None:
        """What is appended must end the thinking, or a run would append for ever."""
        for matched in range(len(markers.close)):
            state = State(REASONING, matched=matched)
            for _ in range(2 * len(markers.close)):
                state = self.advance(state, markers.rests[state.matched][0])
                if state.mode == ANSWER:
                    break
            else:
                raise ValueError("the closing marker cannot be completed with these ids")

    @property
    def thinks(self) -> bool:
        """Whether there may be two phases."""
        return self.start != ANSWER

    def begin(self) -> State:
        """Before the first token of a lane."""
        return State(self.start)

    def answer(self) -> State:
        """Before the first token of an answer: where a draft branch begins."""
        return State(ANSWER)

    def advance(self, state: State, token: int) -> State:
        """The state after `token`, written in `state`."""
        return self.read(state, token)[0]

    def forced(self, state: State) -> tuple[int, ...]:
        """What the spent budget appends now: the closing marker or its missing rest."""
        if self.budget is None or state.mode != REASONING or state.thinking < self.budget:
            return ()
        return self.closing(state)

    def closing(self, state: State) -> tuple[int, ...]:
        """What is missing of the closing marker, in the middle of thinking."""
        assert self.markers is not None  # REASONING has markers
        return self.markers.rests[state.matched]

    def gives_up(self, state: State, token: int) -> bool:
        """Whether `token` would end the turn where the thinking should end."""
        return token in self.ends and state.mode == REASONING

    def read(self, state: State, token: int) -> tuple[State, Ends]:
        """The state after `token`, and where in it a marker ended."""
        if state.mode == ANSWER:
            return State(ANSWER, state.index + 1, state.thinking), Ends()
        data = self.spell[token] if 0 <= token < len(self.spell) else b""
        matched, at, opened = state.matched, 0, None
        if state.mode == BEFORE:
            matched, at, failed = self._opening(matched, data)
            if failed or (state.index + 1 >= _PATIENCE and at == 0):
                # What was written while it was open is answer, too, and counts as such.
                return State(ANSWER, state.index + 1), Ends(failed=True)
            if at == 0:  # still undecided
                return State(BEFORE, state.index + 1, 0, matched), Ends()
            opened = at
        matched, closed = self._closing(matched if opened is None else 0, data, at)
        thinking = state.thinking + (opened is None)
        if closed is not None:
            return State(ANSWER, 0, thinking), Ends(opened, closed)
        return State(REASONING, state.index + 1, thinking, matched), Ends(opened)

    def _opening(self, matched: int, data: bytes) -> tuple[int, int, bool]:
        """Look for the opening marker: (bytes matched, offset behind it or 0, failed)."""
        assert self.markers is not None
        for at, byte in enumerate(data):
            if byte == self.markers.open[matched]:
                matched += 1
                if matched == len(self.markers.open):
                    return 0, at + 1, False
            elif matched or byte not in _WHITE:
                return 0, 0, True
        return matched, 0, False

    def _closing(self, matched: int, data: bytes, start: int) -> tuple[int, int | None]:
        """Look for the closing marker from `start` on: (bytes matched, offset behind it)."""
        assert self.markers is not None
        close = self.markers.close
        for at in range(start, len(data)):
            while matched and data[at] != close[matched]:
                matched = self._fails[matched - 1]
            if data[at] == close[matched]:
                matched += 1
            if matched == len(close):
                return 0, at + 1
        return matched, None


def _failures(marker: bytes) -> tuple[int, ...]:
    """For each beginning of `marker`, its longest proper suffix that is a beginning too.

    Source: Knuth, Morris and Pratt.
    """
    fails = [0] * len(marker)
    matched = 0
    for i in range(1, len(marker)):
        while matched and marker[i] != marker[matched]:
            matched = fails[matched - 1]
        if marker[i] == marker[matched]:
            matched += 1
        fails[i] = matched
    return tuple(fails)


ONE_PHASE = Phases()
"""The rules of a model that does not think."""
