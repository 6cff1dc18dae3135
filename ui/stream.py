"""Events to batches: what the page is sent, ten to twenty times a second. No gradio.

A batch is `{run, seq, events, done, error}`, events as plain dicts. The last one has
done = True and holds every event of the run, so a batch lost on the way is mended.
The generator is driven by the events themselves (no thread, no timer), so closing it
closes their source at once and the device is free for the next run.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

from engine.errors import UserError
from engine.events import Event, Run

SOMETHING_FAILED = "Something went wrong on this machine; the text written so far is kept."

Batch = dict[str, Any]

_log = logging.getLogger(__name__)


def batches(
    events: Iterator[Event], hz: float = 12.0, clock: Callable[[], float] = time.monotonic
) -> Generator[Batch, None, None]:
    """Group events into batches, at most about `hz` a second.

    The run's own line goes out at once. If the source raises, the last batch carries
    one sentence in `error`: a UserError's own, a general one for anything else, whose
    traceback is logged.
    """
    run, seq, error = "", 0, ""
    everything: list[dict[str, Any]] = []
    pending: list[dict[str, Any]] = []
    sent = float("-inf")
    try:
        for event in events:
            plain = event.as_dict()
            everything.append(plain)
            pending.append(plain)
            if isinstance(event, Run):
                run = event.id
            now = clock()
            if now - sent >= 1.0 / hz:
                yield _batch(run, seq, pending)
                seq, sent, pending = seq + 1, now, []
    except UserError as refusal:
        error = str(refusal)
    except Exception:  # noqa: BLE001 (whatever breaks, the text so far is kept)
        _log.exception("a race broke off")
        error = SOMETHING_FAILED
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()
    yield _batch(run, seq, everything, done=True, error=error)


def _batch(
    run: str, seq: int, events: list[dict[str, Any]], done: bool = False, error: str = ""
) -> Batch:
    return {"run": run, "seq": seq, "events": events, "done": done, "error": error}


def recorded(events: list[dict[str, Any]]) -> Batch:
    """A whole recording as one batch, marked as such."""
    run = str(events[0].get("id", "")) if events else ""
    return {**_batch(run, 0, events, done=True), "recorded": True}


def wire(message: dict[str, Any]) -> str:
    """A message as the text that travels to the page.

    A string, because Gradio compares successive values field by field and its page
    wraps objects in proxies; `<` is spelled out, so no text of a model is ever a tag.
    """
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
