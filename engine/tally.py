"""What a lane's run came to: the sums behind its last event."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.events import LaneEvent, Step, Verify
from engine.phases import ANSWER, State
from engine.tree import PREFIX, SUFFIX

_SUMS = (
    "tokens",
    "steps",
    "drafted",
    "accepted",
    "prefill_seconds",
    "draft_seconds",
    "forward_seconds",
)
# Fewer answer tokens than this, and there was hardly anything to reuse.
_SHORT = 16


@dataclass(slots=True)
class Tally:
    """Sums over a lane's steps, and when its thinking ended.

    ended, answer_at: lane time of the step that ended the thinking, and of the one with
    the answer's first token.
    """

    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_SUMS, 0))
    reused: dict[str, int] = field(default_factory=lambda: {PREFIX: 0, SUFFIX: 0})
    verify_seconds: float = 0.0
    ended: float | None = None
    answer_at: float | None = None

    def add(self, step: Step, state: State) -> None:
        """Take in a step; `state` is where the text stands behind it."""
        sums = self.sums
        sums["steps"] += 1
        sums["tokens"] += len(step.tokens)
        sums["drafted"] += step.drafted
        sums["accepted"] += step.accepted
        sums["draft_seconds"] += step.draft
        sums["forward_seconds"] += step.forward
        for source in step.sources:
            if source in self.reused:
                self.reused[source] += 1
        if state.mode != ANSWER:
            return
        now = step.start + step.seconds
        if self.ended is None:
            self.ended = now
        if self.answer_at is None and state.index:
            self.answer_at = now

    def learn(self, events: list[LaneEvent]) -> None:
        """Take in what was said beside the step."""
        self.verify_seconds += sum(e.seconds for e in events if isinstance(e, Verify))

    def totals(self, clock: float, thinking: int, answered: int) -> dict[str, float]:
        """Totals at `clock`; those of the thinking where there was any.

        thinking, answered: tokens of each.
        """
        found = {**self.sums, "forwards": self.sums["steps"], "seconds": clock}
        if thinking:
            ended = clock if self.ended is None else self.ended
            found["thinking_tokens"] = thinking
            found["thinking_seconds"] = ended - self.sums["prefill_seconds"]
            found["answer_tokens"] = answered
            if self.answer_at is not None:
                found["answer_at"] = self.answer_at
        return found

    def speculated(self, drafts: int, tokens: int) -> dict[str, float]:
        """Totals of a lane that drafted its answer."""
        return {
            "drafts": drafts,
            "draft_tokens": tokens,
            "prefix_tokens": self.reused[PREFIX],
            "suffix_tokens": self.reused[SUFFIX],
            "verify_seconds": self.verify_seconds,
        }

    def note(self, thinking: int, answered: int, drafts: int) -> str:
        """Why drafting the answer saved nothing; empty where it saved a forward or more."""
        if not thinking:
            return "no-thinking"
        if not answered:
            return "no-answer"
        if not drafts:
            return "short-thinking"
        if sum(self.reused.values()):
            return ""
        return "short-answer" if answered < _SHORT else "early-difference"
