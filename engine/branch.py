"""The draft branch: the answer, written beside the thinking and checked when that ends.

Source: SSR (arXiv 2608.20359); the branch with a drafter of its own is this project's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.drafter import Speculator
from engine.events import Draft, LaneEvent, Step, Verify
from engine.phases import REASONING, State
from engine.target import Scores, Target
from engine.text import TextPieces, Vocabulary
from engine.tree import PREFIX, TARGET, DraftTree
from engine.writing import Walk, Writing, sources_of


@dataclass(slots=True)
class Branch:
    """One draft: a text that begins with the answer, behind a part of the thinking.

    opened_at: reasoning tokens it was forked after. length: tokens at most. closed: why
    it is written no further, "" while it is. told: tokens that an event has carried.
    """

    id: int
    opened_at: int
    length: int
    writing: Writing
    text: TextPieces
    closed: str = ""
    told: int = 0

    @property
    def tokens(self) -> list[int]:
        """The draft so far."""
        return self.writing.written.tokens

    def event(
        self, lane: str, step: int, start: float, seconds: float, sources: tuple[str, ...]
    ) -> Draft:
        """What has been written since the last event, in the step at `start`."""
        new = self.tokens[self.told :]
        self.told = len(self.tokens)
        return Draft(
            lane=lane,
            id=self.id,
            opened_at=self.opened_at,
            step=step,
            start=start,
            seconds=seconds,
            tokens=tuple(new),
            pieces=tuple(self.text.push(token) for token in new),
            sources=sources,
            written=len(self.tokens),
            length=self.length,
            closed=self.closed,
        )


@dataclass(slots=True)
class Aside:
    """One forward's part in a branch: its tree, how it was walked, how many rows it took."""

    branch: Branch
    tree: DraftTree
    walk: Walk
    rows: int


@dataclass(slots=True)
class Check:
    """The newest draft held against the answer as that is written, from its first token on."""

    lane: str
    draft: int
    tokens: list[int]
    text: TextPieces
    accepted: int = 0
    start: float | None = None
    seconds: float = 0.0

    def follow(self, step: Step, answer: Sequence[int]) -> bool:
        """Take in a step, with the whole answer behind it; whether the check is over."""
        if step.tree is not None and PREFIX in step.tree.sources:
            self.start = step.start if self.start is None else self.start
            self.seconds += step.seconds
        known = min(len(answer), len(self.tokens))
        while self.accepted < known and answer[self.accepted] == self.tokens[self.accepted]:
            self.accepted += 1
        return self.accepted < known or self.accepted == len(self.tokens)

    def verdict(self, now: float, answer: Sequence[int]) -> Verify:
        """How much of the draft stands, at lane time `now`."""
        token = _at(self.tokens, self.accepted)
        theirs = _at(answer, self.accepted) if token is not None else None
        return Verify(
            lane=self.lane,
            draft=self.draft,
            length=len(self.tokens),
            accepted=self.accepted,
            start=now if self.start is None else self.start,
            seconds=self.seconds,
            token=token,
            piece="" if token is None else self.text.label(token),
            answer_token=theirs,
            answer_piece="" if theirs is None else self.text.label(theirs),
        )


def _at(values: Sequence[int], place: int) -> int | None:
    return values[place] if place < len(values) else None


@dataclass(slots=True)
class Speculation:
    """What a lane drafts of its answer: the open branch, and what came of the last ones."""

    lane: str
    drafter: Speculator
    main: Writing
    target: Target
    eos: frozenset[int]
    vocabulary: Vocabulary
    branch: Branch | None = None
    check: Check | None = None
    drafts: int = 0
    tokens: int = 0
    newest: Branch | None = None
    _replaced: Branch | None = field(init=False, default=None)

    @classmethod
    def of(
        cls,
        lane: str,
        main: Writing,
        target: Target,
        eos: frozenset[int],
        vocabulary: Vocabulary,
    ) -> Speculation | None:
        """That of a lane whose drafter speculates on the answer; None for any other."""
        drafter = main.drafter
        return (
            cls(lane, drafter, main, target, eos, vocabulary)
            if isinstance(drafter, Speculator)
            else None
        )

    @property
    def lead(self) -> list[int]:
        """Tokens of the open branch before its tree's root that have no row yet."""
        return self.branch.writing.lead if self.branch is not None else []

    def consider(self, room: int) -> None:
        """Open a branch where the drafter wants one; an older one still open is closed.

        room: positions the context has left.
        """
        main, markers = self.main, self.main.phases.markers
        if main.state.mode != REASONING or markers is None:
            return
        length = self.drafter.opens(main.state.thinking)
        if not length:
            return
        # The text's newest tokens have no rows yet that the branch could see; it brings
        # its own. A marker the model has begun is finished, not begun again.
        lead = [*main.pending, *markers.rests[main.state.matched]]
        length = min(length, room - len(lead))
        if length < 1:
            return
        if self.branch is not None:
            self._replaced = self.branch
            self._close("superseded")
        self.drafts += 1
        self.target.open_branch(len(lead) + length)
        writing = Writing(
            self.drafter.branch(), main.sampler, main.phases, main.phases.answer(), pending=lead
        )
        text = TextPieces(self.vocabulary)
        self.branch = Branch(self.drafts, main.state.thinking, length, writing, text)

    def propose(self, most: int) -> DraftTree | None:
        """The tree of the open branch, `most` nodes at most."""
        if self.branch is None:
            return None
        return self.branch.writing.propose(most, self.branch.length - len(self.branch.tokens))

    def walk(self, tree: DraftTree, scores: Scores) -> Aside:
        """Decide how the open branch goes on, and learn from what was scored."""
        branch = self.branch
        assert branch is not None  # its tree was scored
        writing = branch.writing
        walk = writing.walk(tree, scores)
        wanted = writing.drafter.successors
        writing.learn(tree, walk.path, scores.successors(wanted) if wanted else None)
        return Aside(branch, tree, walk, len(writing.lead) + len(tree))

    def commit(self, aside: Aside) -> None:
        """Write what was decided in the branch."""
        branch = aside.branch
        before = len(branch.tokens)

        def end(state: State, token: int) -> str | None:
            if token in self.eos:
                return "eos"
            return "length" if state.index >= branch.length else None

        branch.closed = branch.writing.commit(aside.walk, end) or ""
        self.tokens += len(branch.tokens) - before
        branch.writing.drafter.observe(branch.tokens[before:])

    def settle(self) -> None:
        """Close a branch that is complete."""
        if self.branch is not None and self.branch.closed:
            self._close(self.branch.closed)

    def thinking_ended(self) -> None:
        """Close the branch where it is; the newest draft of use is to be checked."""
        if self.branch is not None:
            self._close(self.branch.closed or "thinking")
        draft = self.drafter.answer()
        if draft and self.newest is not None:
            text = TextPieces(self.vocabulary)
            self.check = Check(self.lane, self.newest.id, list(draft), text)

    def events(self, step: Step, aside: Aside | None) -> list[LaneEvent]:
        """What is to be told of the step just made."""
        told: list[LaneEvent] = []
        place = (step.lane, step.index, step.start, step.seconds)
        if self._replaced is not None:
            told.append(self._replaced.event(*place, ()))
            self._replaced = None
        if aside is not None:
            new = len(aside.branch.tokens) - aside.branch.told
            told.append(aside.branch.event(*place, sources_of(aside.tree, aside.walk.path, new)))
        if self.check is not None and self.check.follow(step, self.main.answer):
            told.append(self._verdict(self.check, step.start + step.seconds))
        return told

    def ended(self, step: int, now: float) -> list[LaneEvent]:
        """The lane has ended with `step`: what was open closes, what was checked is decided."""
        told: list[LaneEvent] = []
        if self.branch is not None:
            # Its rows go with the lane's cache: after an error the device may do nothing more.
            branch, self.branch = self.branch, None
            branch.closed = "finish"
            untold = len(branch.tokens) - branch.told  # written in a step that then failed
            told.append(branch.event(self.lane, step, now, 0.0, (TARGET,) * untold))
        if self.check is not None:
            told.append(self._verdict(self.check, now))
        return told

    def _verdict(self, check: Check, now: float) -> Verify:
        """The check is over."""
        self.check = None
        return check.verdict(now, self.main.answer)

    def _close(self, reason: str) -> None:
        """Take the branch's rows out of the cache and give its text to the drafter."""
        branch = self.branch
        assert branch is not None  # the callers have looked
        branch.closed = reason
        self.target.drop_branch()
        if self.drafter.written(branch.tokens):
            self.newest = branch
        self.branch = None
