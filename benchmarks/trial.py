"""One race in which lanes think and answer, read off its events."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from engine.errors import UserError
from engine.events import Check, Compare, Draft, Finish, Phase, Step, Verify
from slipstream import Model, Request


@dataclass(slots=True)
class Trial:
    """One lane on one question. All seconds are lane time.

    thinking, answer: tokens. first: time to the first answer token (None: no answer).
    stages: seconds of prefill, thinking, verify and continuation, which add up to
    `seconds`; beside: seconds of the steps in which a draft was written, hidden in the
    thinking. alone, accompanied: seconds of each thinking step without and with one row
    or more of a branch beside it. right: what the check of the answer says, None where
    there is none.
    """

    question: str
    lane: str
    seconds: float = 0.0
    forwards: int = 0
    thinking: int = 0
    answer: int = 0
    first: float | None = None
    closed_by: str = ""
    prefix: int = 0
    suffix: int = 0
    drafts: int = 0
    drafted: int = 0
    verified: int = 0
    verified_of: int = 0
    note: str = ""
    identical: bool = True
    right: bool | None = None
    stages: dict[str, float] = field(default_factory=dict)
    beside: float = 0.0
    alone: list[float] = field(default_factory=list)
    accompanied: list[float] = field(default_factory=list)

    @property
    def slow_down(self) -> float | None:
        """A thinking step with a branch beside it against one without, medians."""
        if not (self.alone and self.accompanied):
            return None
        return median(self.accompanied) / median(self.alone)


def trials(model: Model, question: str, request: Request) -> list[Trial]:
    """Race `request` and read every lane's trial off the events.

    Raises UserError if a lane failed.
    """
    found = {lane: Trial(question, lane) for lane in request.lanes}
    for event in model.race(request):
        match event:
            case Step() if event.phase == "reasoning" and event.index:
                _thinking_step(found[event.lane], event)
            case Phase() if event.phase == "answer":
                found[event.lane].closed_by = event.by
            case Draft():
                found[event.lane].drafts = event.id
            case Verify():
                trial = found[event.lane]
                trial.verified, trial.verified_of = event.accepted, event.length
            case Compare() if not event.identical:
                found[event.lane].identical = False
            case Check():
                found[event.lane].right = event.right
            case Finish():
                if event.reason == "error":
                    raise UserError(f"Lane {event.lane} failed: {event.message}")
                _finish(found[event.lane], event)
    return list(found.values())


def _thinking_step(trial: Trial, step: Step) -> None:
    if step.branch:
        trial.beside += step.seconds
        trial.accompanied.append(step.seconds)
    else:
        trial.alone.append(step.seconds)


def _finish(trial: Trial, finish: Finish) -> None:
    totals = finish.totals
    trial.seconds = totals["seconds"]
    trial.forwards = int(totals["forwards"])
    trial.thinking = int(totals.get("thinking_tokens", 0))
    trial.answer = int(totals.get("answer_tokens", totals["tokens"]))
    trial.first = totals.get("answer_at")
    trial.prefix = int(totals.get("prefix_tokens", 0))
    trial.suffix = int(totals.get("suffix_tokens", 0))
    trial.drafted = int(totals.get("draft_tokens", 0))
    trial.note = finish.note
    thinking, verify = totals.get("thinking_seconds", 0.0), totals.get("verify_seconds", 0.0)
    prefill = totals["prefill_seconds"]
    trial.stages = {
        "prefill": prefill,
        "thinking": thinking,
        "verify": verify,
        "continuation": trial.seconds - prefill - thinking - verify,
    }
