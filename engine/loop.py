"""decode(): draft, verify, commit, learn; every token is one the target itself chose."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

from engine.branch import Aside, Speculation
from engine.capacity import Capacity
from engine.drafter import Drafter, Remembering
from engine.errors import UserError
from engine.events import Finish, LaneEvent, Phase, Prefill, Step, Tree
from engine.limit import Limit
from engine.phases import ANSWER, ONE_PHASE, REASONING, Phases, State
from engine.sampling import Sampler
from engine.tally import Tally
from engine.target import Scores, Target
from engine.text import TextPieces
from engine.tree import DraftTree
from engine.writing import Walk, Writing, Written, accept, sources_of

__all__ = ["Limit", "Written", "accept", "decode"]

log = logging.getLogger(__name__)


def decode(
    lane: str,
    target: Target,
    drafter: Drafter,
    sampler: Sampler,
    prompt: Sequence[int],
    limit: Limit,
    capacity: Capacity,
    text: TextPieces,
    written: Written,
    phases: Phases = ONE_PHASE,
) -> Generator[LaneEvent]:
    """Write after `prompt` until `limit`, as events; `written` fills with the ids.

    text: made with the same `phases`, the rules by which a text thinks and answers.
    Closing the generator frees the lane's cache. An error in the middle is a `Finish`
    with one sentence for the viewer (the log gets the rest): what was written stays.
    Raises ValueError for an empty prompt or one that fills the context.
    """
    if not prompt:
        raise ValueError("a prompt has at least one token")
    if len(prompt) >= limit.context:
        raise ValueError(f"{len(prompt)} prompt tokens fill a context of {limit.context}")
    main = Writing(drafter, sampler, phases, phases.begin(), written)
    side = Speculation.of(lane, main, target, limit.eos, text.vocabulary)
    lane_run = _Lane(lane, target, main, side, prompt, limit, capacity, text)
    try:
        yield from lane_run.events()
    except UserError as error:
        yield from lane_run.finish("error", str(error))
    except Exception:
        log.exception("lane %s failed after %d tokens", lane, len(written.tokens))
        yield from lane_run.finish("error", "This lane met an error and stopped where it was.")
    finally:
        target.close()


@dataclass(slots=True)
class _Timing:
    """Seconds of one step as they pass: when it began, and its parts."""

    began: float
    draft: float = 0.0
    forward: float = 0.0


@dataclass(slots=True)
class _Lane:
    """One run of the loop: the parts it is made of, its clock and its sums."""

    lane: str
    target: Target
    main: Writing
    side: Speculation | None
    prompt: Sequence[int]
    limit: Limit
    capacity: Capacity
    text: TextPieces
    clock: float = 0.0
    tally: Tally = field(default_factory=Tally)

    def events(self) -> Iterator[LaneEvent]:
        last: Scores
        for done, scores in self._prefill():
            last = scores
            yield Prefill(self.lane, len(self.prompt), done, self.clock)
            if self._late() and done < len(self.prompt):
                self.tally.sums["prefill_seconds"] = self.clock
                yield from self.finish("deadline")
                return
        self.tally.sums["prefill_seconds"] = self.clock
        if self.main.state.mode == REASONING:
            yield Phase(self.lane, REASONING, 0, "template")
        events, reason = self._first_step(last)
        yield from events
        while reason is None:
            events, reason = self._step()
            yield from events
        yield from self.finish(reason)

    def _prefill(self) -> Iterator[tuple[int, Scores]]:
        """Read the prompt piece by piece; the drafter learns from it on this lane's clock."""
        drafter = self.main.drafter
        wanted = drafter.successors
        # Of two entries for one token the later counts, so only that one is computed.
        newest = {token: place for place, token in enumerate(self.prompt)} if wanted else {}
        pieces = self.target.prefill(self.prompt, frozenset(newest.values()))
        done = 0
        while True:
            began = time.perf_counter()
            read = next(pieces, None)
            if read is None:
                return
            piece, places, scores = read
            if wanted:
                best = scores.successors(wanted)
                drafter.learn([piece[i] for i in places], best.ids, best.shares)
            drafter.observe(piece)
            self.target.synchronise()
            self.clock += time.perf_counter() - began
            done += len(piece)
            last = scores.last()
            del read, scores  # the next piece is read with this one's logits gone
            yield done, last

    def _first_step(self, scores: Scores) -> tuple[list[LaneEvent], str | None]:
        """The token chosen from the prefill: a step with nothing drafted."""
        timing = _Timing(time.perf_counter())
        tree = DraftTree(self.prompt[-1])
        return self._commit(tree, self.main.walk(tree, scores), timing, None)

    def _step(self) -> tuple[list[LaneEvent], str | None]:
        """One round of draft, verify, commit, learn."""
        timing = _Timing(time.perf_counter())
        past = self.target.past
        tree, beside = self._draft(past)
        lead = self.side.lead if self.side is not None else []
        query = self.target.lay_out(tree, self.main.lead, beside, lead)
        timing.draft = time.perf_counter() - timing.began

        began = time.perf_counter()
        scores = self.target.score(query)
        self.target.synchronise()
        timing.forward = time.perf_counter() - began
        self.target.learn_cost(query, past, timing.forward)

        own = scores.of(query.main)
        walk = self.main.walk(tree, own)
        aside = None
        if self.side is not None and beside is not None and query.branch is not None:
            aside = self.side.walk(beside, scores.of(query.branch))
        self.target.commit(walk.path, aside.walk.path if aside is not None else ())
        wanted = self.main.drafter.successors
        best = own.successors(wanted) if wanted else None
        learning = time.perf_counter()
        self.capacity.observe(tree, walk.path)
        self.main.learn(tree, walk.path, best)
        if aside is not None:
            self.capacity.observe_branch(aside.tree, aside.walk.path)
        timing.draft += time.perf_counter() - learning
        return self._commit(tree, walk, timing, aside)

    def _draft(self, past: int) -> tuple[DraftTree, DraftTree | None]:
        """What is proposed for the text and for a draft of its answer, as far as it pays."""
        text = len(self.prompt) + len(self.main.written.tokens)
        if self.side is not None:
            self.side.consider(self.limit.context - text)
        most = self.capacity.most()
        tree = self.main.propose(most, self.limit.room(text, self.main.state))
        beside = self.side.propose(most) if self.side is not None else None
        if beside is None:
            return self.capacity.trim(tree, past), None
        return self.capacity.share(tree, beside, past)

    def _commit(
        self, tree: DraftTree, walk: Walk, timing: _Timing, aside: Aside | None
    ) -> tuple[list[LaneEvent], str | None]:
        """Write what was decided, as far as the limits allow; the events, and why it ends."""
        observing = time.perf_counter()
        before, mode = len(self.main.written.tokens), self.main.state.mode
        reason = self.main.commit(walk, self._end)
        new = self.main.written.tokens[before:]
        self._observe(new, mode != ANSWER and self.main.state.mode == ANSWER, aside)
        timing.draft += time.perf_counter() - observing
        self.target.synchronise()  # rows that move in the cache are this lane's time
        seconds = time.perf_counter() - timing.began
        start, self.clock = self.clock, self.clock + seconds
        if reason is None and self._late():
            reason = "deadline"
        # Text for the viewer is made after the clock has been read.
        pieces, borders = self._pieces(before, new, walk.forced, reason)
        step = Step(
            lane=self.lane,
            index=int(self.tally.sums["steps"]),
            phase=REASONING if mode == REASONING else ANSWER,
            start=start,
            seconds=seconds,
            draft=timing.draft,
            forward=timing.forward,
            other=seconds - timing.draft - timing.forward,
            tokens=tuple(new),
            pieces=tuple(pieces),
            sources=sources_of(tree, walk.path, len(new)),
            drafted=tree.drafted,
            accepted=min(len(walk.path) - 1, len(new)),
            tree=self._tree(tree, walk.path) if tree.drafted else None,
            branch=aside.rows if aside is not None else 0,
            memory=self._memory(),
        )
        self.tally.add(step, self.main.state)
        return [*borders, step, *self._beside(step, aside)], reason

    def _memory(self) -> tuple[int, ...]:
        """What the drafter remembers, if it does."""
        drafter = self.main.drafter
        memory = drafter.memory if isinstance(drafter, Remembering) else ()
        return memory if any(memory) else ()

    def _late(self) -> bool:
        """Whether the lane has had its time."""
        return self.limit.seconds is not None and self.clock >= self.limit.seconds

    def _end(self, state: State, token: int) -> str | None:
        """Why `token`, already among the written ones, is the last; None if it is not."""
        text = len(self.prompt) + len(self.main.written.tokens)
        return self.limit.reached(text, state, token)

    def _observe(self, new: list[int], ended: bool, aside: Aside | None) -> None:
        """Tell the drafter what is committed, and where among it the thinking ended."""
        if self.side is not None and aside is not None:
            self.side.commit(aside)
        if self.side is None or not ended:
            self.main.drafter.observe(new)
            if self.side is not None:
                self.side.settle()
            return
        border = len(new) - self.main.answered
        self.main.drafter.observe(new[:border])
        self.side.thinking_ended()
        self.main.drafter.observe(new[border:])

    def _pieces(
        self, before: int, new: list[int], forced: list[bool], reason: str | None
    ) -> tuple[list[str], list[Phase]]:
        """The text of `new`, the first of which is token `before`, and its borders."""
        pieces: list[str] = []
        borders: list[Phase] = []
        for place, token in enumerate(new):
            pieces.append(self.text.push(token))
            for border in self.text.borders:
                by = "budget" if border.phase == ANSWER and forced[place] else "model"
                borders.append(Phase(self.lane, border.phase, before + place, by, border.cut))
        if reason == "eos":
            # A limit may cut inside a character, and half of one is not shown; what the
            # model itself left unfinished is.
            pieces[-1] += self.text.flush()
        elif reason is not None:
            pieces[-1] += self.text.unheld()
        return pieces, borders

    def _beside(self, step: Step, aside: Aside | None) -> list[LaneEvent]:
        """What the step did beside the text: the draft that grew, and how it was verified."""
        if self.side is None:
            return []
        events = self.side.events(step, aside)
        self.tally.learn(events)
        return events

    def _tree(self, tree: DraftTree, path: list[int]) -> Tree:
        """The scored tree in plain values."""
        return Tree(
            tokens=tuple(tree.tokens),
            pieces=tuple(self.text.label(token) for token in tree.tokens),
            parents=tuple(tree.parents),
            sources=tuple(tree.sources),
            ranks=tuple(tree.ranks),
            counts=tuple(tree.counts),
            path=tuple(path),
        )

    def finish(self, reason: str, message: str = "") -> list[LaneEvent]:
        """The last events; the prefill counts as one forward and gave step 0."""
        thinking, answered = self.main.state.thinking, self.main.answered
        events: list[LaneEvent] = []
        totals = self.tally.totals(self.clock, thinking, answered)
        note = ""
        if self.side is not None:
            events = self.side.ended(int(self.tally.sums["steps"]) - 1, self.clock)
            self.tally.learn(events)
            totals |= self.tally.speculated(self.side.drafts, self.side.tokens)
            if reason != "error":
                note = self.tally.note(thinking, answered, self.side.drafts)
        return [*events, Finish(self.lane, reason, totals, message, note)]
