"""One text being written: the lane's own, or a draft of its answer beside the thinking."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.drafter import Drafter
from engine.phases import ANSWER, REASONING, Phases, State
from engine.sampling import Sampler
from engine.target import Scores, Successors
from engine.tree import TARGET, DraftTree


@dataclass(slots=True)
class Written:
    """What has been written: ids, and at each how far the second best choice was behind."""

    tokens: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Walk:
    """What one forward decided: the nodes kept (root first) and the tokens that follow.

    tokens: those of the path, the target's choice that left the tree, and what the
    budget appends then. gaps: one a token. forced: which of them the budget decided.
    """

    path: list[int]
    tokens: list[int]
    gaps: list[float]
    forced: list[bool]


def accept(tree: DraftTree, choose: Callable[[int], int]) -> tuple[list[int], int]:
    """Follow the target's own choices down the tree: (nodes kept, first token off it)."""
    path = [0]
    while True:
        token = choose(path[-1])
        node = tree.child(path[-1], token)
        if node is None:
            return path, token
        path.append(node)


@dataclass(slots=True)
class Writing:
    """A text as far as it is written.

    pending: its last tokens, which have no row in the cache yet: one, or more where the
    budget appended some. state: where the next token stands.
    """

    drafter: Drafter
    sampler: Sampler
    phases: Phases
    state: State
    written: Written = field(default_factory=Written)
    pending: list[int] = field(default_factory=list)

    @property
    def lead(self) -> list[int]:
        """Pending tokens before the root of the next tree."""
        return self.pending[:-1]

    @property
    def answered(self) -> int:
        """Tokens of the answer so far."""
        return self.state.index if self.state.mode == ANSWER else 0

    @property
    def answer(self) -> list[int]:
        """The answer so far."""
        return self.written.tokens[len(self.written.tokens) - self.answered :]

    def propose(self, most: int, deepest: int) -> DraftTree:
        """What the drafter proposes after the last token: at most `most` nodes, root included.

        deepest: tokens that may still be written; what is drafted beyond could not stand.
        """
        tree = self.drafter.propose(self.pending[-1], most if deepest > 1 else 1)
        if max(tree.depths) >= deepest:
            tree = tree.keep([node for node, depth in enumerate(tree.depths) if depth < deepest])
        return tree

    def walk(self, tree: DraftTree, scores: Scores) -> Walk:
        """Decide with `scores`, one row a node of `tree`, how the text goes on."""
        tokens: list[int] = []
        gaps: list[float] = []
        forced: list[bool] = []
        state, closing = self.state, False

        def write(token: int, gap: float, by_budget: bool) -> int:
            nonlocal state
            state = self.phases.advance(state, token)
            tokens.append(token)
            gaps.append(gap)
            forced.append(by_budget)
            return token

        def missing() -> tuple[int, ...]:
            """What is appended whatever the model would choose."""
            if closing and state.mode == REASONING:
                return self.phases.closing(state)
            return self.phases.forced(state)

        def choose(node: int) -> int:
            nonlocal closing
            if appended := missing():
                return write(appended[0], math.inf, not closing)
            choice = self.sampler.choose(scores.row(node), state.phase, state.index)
            if self.phases.gives_up(state, choice.token):
                closing = True
                return write(self.phases.closing(state)[0], choice.gap, False)
            return write(choice.token, choice.gap, False)

        path, _ = accept(tree, choose)
        while appended := missing():
            write(appended[0], math.inf, not closing)
        return Walk(path, tokens, gaps, forced)

    def commit(self, walk: Walk, end: Callable[[State, int], str | None]) -> str | None:
        """Write what was decided, as far as `end(state, token)` allows; why it ends there."""
        reason, before = None, len(self.written.tokens)
        for token, gap in zip(walk.tokens, walk.gaps, strict=True):
            self.state = self.phases.advance(self.state, token)
            self.written.tokens.append(token)
            self.written.gaps.append(gap)
            reason = end(self.state, token)
            if reason is not None:
                break
        self.pending = self.written.tokens[before + len(walk.path) - 1 :]
        return reason

    def learn(self, tree: DraftTree, path: Sequence[int], best: Successors | None) -> None:
        """Every scored node teaches; of one token scored twice the accepted one counts."""
        if best is None:
            return
        self.drafter.learn(tree.tokens, best.ids, best.shares)
        self.drafter.learn(
            [tree.tokens[node] for node in path],
            [best.ids[node] for node in path],
            [best.shares[node] for node in path],
        )


def sources_of(tree: DraftTree, path: Sequence[int], tokens: int) -> tuple[str, ...]:
    """Where each of the first `tokens` tokens of a walk came from."""
    drafted = [tree.sources[node] for node in path[1:]]
    return tuple([*drafted, *[TARGET] * (tokens - len(drafted))][:tokens])
