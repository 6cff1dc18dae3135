"""Events to batches: what the page is sent, ten to twenty times a second. No gradio.

A batch is `{run, seq, from, events, done, error}`, events as plain dicts, `from` the
number of the run's events before the first of them. A page that lacks some of those
asks for them, and `Kept` answers; so the last batch is as small as the others.
The generator is driven by the events themselves (no thread, no timer), so closing it
closes their source at once and the device is free for the next run.
"""

from __future__ import annotations

import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from engine.errors import UserError
from engine.events import Event, Run

SOMETHING_FAILED = "Something went wrong on this machine; the text written so far is kept."
LOST = "The connection to the machine was lost; the text written so far is kept."

Batch = dict[str, Any]

_log = logging.getLogger(__name__)


@dataclass
class Sent:
    """What one run has said so far, and how it ended."""

    run: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    done: bool = False
    error: str = ""


class Kept:
    """The newest runs, one a visitor and `most` in all, so that a lost batch can be sent again."""

    def __init__(self, most: int = 2) -> None:
        self._most = most
        self._runs: OrderedDict[str, Sent] = OrderedDict()

    def begin(self, visitor: str) -> Sent:
        """A place for the visitor's next run; of too many runs the oldest is forgotten."""
        self._runs.pop(visitor, None)
        self._runs[visitor] = Sent()
        while len(self._runs) > self._most:
            self._runs.popitem(last=False)
        return self._runs[visitor]

    def since(self, visitor: str, run: str, have: int) -> Batch:
        """The events of the visitor's own run after the first `have`, marked as sent again."""
        sent = self._runs.get(visitor)
        if sent is None or sent.run != run or have < 0:
            return {**_batch(run, -1, max(have, 0), [], done=True, error=LOST), "mended": True}
        events = sent.events[have:]
        return {**_batch(run, -1, have, events, sent.done, sent.error), "mended": True}


def batches(
    events: Iterator[Event],
    hz: float = 12.0,
    clock: Callable[[], float] = time.monotonic,
    sent: Sent | None = None,
    rest: float = 0.0,
) -> Generator[Batch, None, None]:
    """Group events into batches, at most about `hz` a second; `sent` takes them all in.

    rest: seconds to wait behind each batch, on no lane's clock, while server and browser
    deal with it: on a machine of two cores they would take the time from a forward.

    The run's own line goes out at once. If the source raises, the last batch carries
    one sentence in `error`: a UserError's own, a general one for anything else, whose
    traceback is logged.
    """
    sent = Sent() if sent is None else sent
    seq, gone, last = 0, 0, float("-inf")
    try:
        for event in events:
            sent.events.append(event.as_dict())
            if isinstance(event, Run):
                sent.run = event.id
            now = clock()
            if now - last >= 1.0 / hz:
                yield _batch(sent.run, seq, gone, sent.events[gone:])
                seq, gone, last = seq + 1, len(sent.events), now
                time.sleep(rest)
    except UserError as refusal:
        sent.error = str(refusal)
    except Exception:  # noqa: BLE001 (whatever breaks, the text so far is kept)
        _log.exception("a race broke off")
        sent.error = SOMETHING_FAILED
    finally:
        sent.done = True
        close = getattr(events, "close", None)
        if close is not None:
            close()
    yield _batch(sent.run, seq, gone, sent.events[gone:], done=True, error=sent.error)


def _batch(
    run: str,
    seq: int,
    start: int,
    events: list[dict[str, Any]],
    done: bool = False,
    error: str = "",
) -> Batch:
    return {"run": run, "seq": seq, "from": start, "events": events, "done": done, "error": error}


def recorded(events: list[dict[str, Any]], meta: dict[str, Any]) -> Batch:
    """A whole recording as one batch, marked as such. meta: its name, title and sentences."""
    run = str(events[0].get("id", "")) if events else ""
    return {**_batch(run, 0, 0, events, done=True), "recorded": True, "meta": meta}


def wire(message: dict[str, Any]) -> str:
    """A message as the text that travels to the page.

    A string, because Gradio compares successive values field by field and its page
    wraps objects in proxies; `<` is spelled out, so no text of a model is ever a tag.
    """
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
