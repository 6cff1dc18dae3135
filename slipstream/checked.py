"""Whether each lane's answer is right, for prompts whose answer a program can work out."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from engine.events import Check, Event, Finish, Phase, Step
from engine.record import halves
from training.tasks import FAMILIES, family_of

log = logging.getLogger(__name__)

# A lane that was stopped, broke off or ran out of its time has no answer to be checked.
_ENDED = ("eos", "length", "context")
_CUT_OFF = "The answer was cut off at its limit."


def checked(events: Iterator[Event], prompt: str) -> Iterator[Event]:
    """The same events; behind each lane's end the check of its answer.

    Nothing is added where the prompt is of no known family. Closing the iterator closes
    `events`.
    """
    task = family_of(prompt)
    if task is None:
        yield from events
        return
    written: dict[str, list[Event]] = {}
    try:
        for event in events:
            yield event
            if isinstance(event, Phase | Step):
                written.setdefault(event.lane, []).append(event)
            elif isinstance(event, Finish) and event.reason in _ENDED:
                answer = halves(written.get(event.lane, []), event.lane)["answer"]
                yield _check(task, prompt, answer, event)
    finally:
        events.close()  # type: ignore[attr-defined]


def _check(task: str, prompt: str, answer: str, end: Finish) -> Check:
    verdict = FAMILIES[task].check(prompt, answer)
    reason = verdict.reason
    if not verdict.right and end.reason != "eos":
        reason = _CUT_OFF
    return Check(end.lane, task, verdict.parsed, verdict.right, reason)
