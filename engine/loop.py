"""decode(): draft, verify, commit, learn; every token is one the target itself chose."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from engine.capacity import Capacity
from engine.drafter import Drafter
from engine.errors import UserError
from engine.events import Finish, Prefill, Step, Tree
from engine.sampling import Choice, Sampler
from engine.target import Scores, Successors, Target
from engine.text import TextPieces
from engine.tree import TARGET, DraftTree

log = logging.getLogger(__name__)

_SUMS = (
    "tokens",
    "steps",
    "drafted",
    "accepted",
    "prefill_seconds",
    "draft_seconds",
    "forward_seconds",
)


@dataclass(frozen=True, slots=True)
class Limit:
    """Where a lane ends.

    tokens: new tokens at most. context: positions the model has, prompt included.
    eos: ids that end the text (they are committed, then nothing more). seconds: lane
    time at most, None for no deadline.
    Raises ValueError for a limit that leaves no room for one token.
    """

    tokens: int
    context: int
    eos: frozenset[int] = frozenset()
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.tokens < 1 or self.context < 2:
            raise ValueError(f"no room to write in {self.tokens} tokens, context {self.context}")

    def room(self, prompt: int, written: int) -> int:
        """How many more tokens may be written."""
        return min(self.tokens - written, self.context - prompt - written)

    def trim(self, prompt: int, written: int, new: list[int]) -> tuple[list[int], str | None]:
        """The tokens of `new` that may be written, and why they are the last, if they are."""
        room = self.room(prompt, written)
        for place, token in enumerate(new[:room]):
            if token in self.eos:
                return new[: place + 1], "eos"
        if len(new) < room:
            return new, None
        return new[:room], "length" if self.tokens - written == room else "context"


@dataclass(slots=True)
class Written:
    """What a lane has written: ids, and at each how far the second best choice was behind."""

    tokens: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)


def accept(tree: DraftTree, choose: Callable[[int], int]) -> tuple[list[int], int]:
    """Follow the target's own choices down the tree: (nodes kept, first token off it)."""
    path = [0]
    while True:
        token = choose(path[-1])
        node = tree.child(path[-1], token)
        if node is None:
            return path, token
        path.append(node)


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
) -> Iterator[Prefill | Step | Finish]:
    """Write after `prompt` until `limit`, as events; `written` fills with the ids.

    Closing the generator frees the lane's cache. An error in the middle is a `Finish`
    with one sentence for the viewer (the log gets the rest): what was written stays.
    Raises ValueError for an empty prompt or one that fills the context.
    """
    if limit.room(len(prompt), 0) < 1:
        raise ValueError(f"{len(prompt)} prompt tokens fill a context of {limit.context}")
    lane_run = _Lane(lane, target, drafter, sampler, prompt, limit, capacity, text, written)
    try:
        yield from lane_run.events()
    except UserError as error:
        yield lane_run.finish("error", str(error))
    except Exception:
        log.exception("lane %s failed after %d tokens", lane, len(written.tokens))
        yield lane_run.finish("error", "This lane met an error and stopped where it was.")
    finally:
        target.close()


@dataclass(slots=True)
class _Lane:
    """One run of the loop: the parts it is made of, its clock and its sums."""

    lane: str
    target: Target
    drafter: Drafter
    sampler: Sampler
    prompt: Sequence[int]
    limit: Limit
    capacity: Capacity
    text: TextPieces
    written: Written
    clock: float = 0.0
    phase: str = "answer"
    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_SUMS, 0))

    def events(self) -> Iterator[Prefill | Step | Finish]:
        last: Scores
        for done, scores in self._prefill():
            last = scores
            yield Prefill(self.lane, len(self.prompt), done, self.clock)
        self.sums["prefill_seconds"] = self.clock
        step, reason = self._first_step(last)
        yield step
        while reason is None:
            step, reason = self._step()
            yield step
        yield self.finish(reason)

    def _prefill(self) -> Iterator[tuple[int, Scores]]:
        """Read the prompt piece by piece; the drafter learns from it on this lane's clock."""
        wanted = self.drafter.successors
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
                self.drafter.learn([piece[i] for i in places], best.ids, best.shares)
            self.drafter.observe(piece)
            self.target.synchronise()
            self.clock += time.perf_counter() - began
            done += len(piece)
            last = scores.last()
            del read, scores  # the next piece is read with this one's logits gone
            yield done, last

    def _choose(self, scores: Scores, node: int, depth: int, chosen: list[Choice]) -> int:
        """The target's choice after one scored node, which stands `depth` below the root."""
        index = len(self.written.tokens) + depth
        choice = self.sampler.choose(scores.row(node), self.phase, index)
        chosen.append(choice)
        return choice.token

    def _first_step(self, scores: Scores) -> tuple[Step, str | None]:
        """The token chosen from the prefill: a step with nothing drafted."""
        began = time.perf_counter()
        chosen: list[Choice] = []
        token = self._choose(scores, len(scores.logits) - 1, 0, chosen)
        return self._commit(DraftTree(0), [0], [token], chosen, began, 0.0, 0.0)

    def _step(self) -> tuple[Step, str | None]:
        """One round of draft, verify, commit, learn."""
        began = time.perf_counter()
        past = self.target.past
        tree = self._draft(self.written.tokens[-1], past)
        query = self.target.lay_out(tree)
        drafted_at = time.perf_counter()

        scores = self.target.score(query)
        self.target.synchronise()
        forward = time.perf_counter() - drafted_at
        self.target.learn_cost(query, past, forward)

        chosen: list[Choice] = []
        path, bonus = accept(
            tree, lambda node: self._choose(scores, node, tree.depths[node], chosen)
        )
        self.target.commit(path)
        wanted = self.drafter.successors
        best = scores.successors(wanted) if wanted else None
        learning_at = time.perf_counter()
        self._learn(tree, path, best)
        draft = drafted_at - began + time.perf_counter() - learning_at

        new = [*(tree.tokens[node] for node in path[1:]), bonus]
        return self._commit(tree, path, new, chosen, began, draft, forward)

    def _draft(self, root: int, past: int) -> DraftTree:
        """What the drafter proposes, cut to what pays and to what may still be written."""
        room = self.limit.room(len(self.prompt), len(self.written.tokens))
        most = self.capacity.most() if room > 1 else 1
        tree = self.capacity.trim(self.drafter.propose(root, most), past)
        if max(tree.depths) >= room:
            tree = tree.keep([node for node, depth in enumerate(tree.depths) if depth < room])
        return tree

    def _learn(self, tree: DraftTree, path: list[int], best: Successors | None) -> None:
        """Every scored node teaches; of one token scored twice the accepted one counts."""
        self.capacity.observe(tree, path)
        if best is None:
            return
        self.drafter.learn(tree.tokens, best.ids, best.shares)
        self.drafter.learn(
            [tree.tokens[node] for node in path],
            [best.ids[node] for node in path],
            [best.shares[node] for node in path],
        )

    def _commit(
        self,
        tree: DraftTree,
        path: list[int],
        new: list[int],
        chosen: list[Choice],
        began: float,
        draft: float,
        forward: float,
    ) -> tuple[Step, str | None]:
        """Write `new` as far as the limits allow; the step, and why it is the last."""
        before = len(self.written.tokens)
        sources = [*(tree.sources[node] for node in path[1:]), TARGET]
        new, reason = self.limit.trim(len(self.prompt), before, new)
        accepted = min(len(path) - 1, len(new))
        observing = time.perf_counter()
        self.drafter.observe(new)
        draft += time.perf_counter() - observing
        self.written.tokens.extend(new)
        self.written.gaps.extend(choice.gap for choice in chosen[: len(new)])
        seconds = time.perf_counter() - began
        start, self.clock = self.clock, self.clock + seconds
        # Text for the viewer is made after the clock has been read.
        pieces = [self.text.push(token) for token in new]
        if reason is None and self.limit.seconds is not None and self.clock >= self.limit.seconds:
            reason = "deadline"
        if reason == "eos":
            # A limit may cut inside a character, and half of one is not shown; what the
            # model itself left unfinished is.
            pieces[-1] += self.text.flush()
        step = Step(
            lane=self.lane,
            index=int(self.sums["steps"]),
            phase=self.phase,
            start=start,
            seconds=seconds,
            draft=draft,
            forward=forward,
            other=seconds - draft - forward,
            tokens=tuple(new),
            pieces=tuple(pieces),
            sources=tuple(sources[: len(new)]),
            drafted=tree.drafted,
            accepted=accepted,
            tree=self._tree(tree, path) if tree.drafted else None,
        )
        self._add(step)
        return step, reason

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

    def _add(self, step: Step) -> None:
        sums = self.sums
        sums["steps"] += 1
        sums["tokens"] += len(step.tokens)
        sums["drafted"] += step.drafted
        sums["accepted"] += step.accepted
        sums["draft_seconds"] += step.draft
        sums["forward_seconds"] += step.forward

    def finish(self, reason: str, message: str = "") -> Finish:
        """The last event; the prefill counts as one forward and gave step 0."""
        totals = {**self.sums, "forwards": self.sums["steps"], "seconds": self.clock}
        return Finish(self.lane, reason, totals, message)
