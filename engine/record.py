"""Recordings: a race as JSON lines, saved, loaded and checked. No torch.

The first line is the run, the rest its events in the order they happened, lanes
interleaved. `.gz` at the end of a name packs it. A recording that loads is whole and
agrees with itself, so a player can trust it.
"""

from __future__ import annotations

import errno
import gzip
import json
import math
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from engine.errors import RecordingError
from engine.events import (
    READABLE,
    REFERENCE,
    Check,
    Compare,
    Draft,
    Event,
    Finish,
    LaneEvent,
    Phase,
    Prefill,
    Run,
    Step,
    Unreadable,
    Verify,
    from_dict,
)

# Lane times are sums of the same numbers in another order.
_ROUNDING = 1e-6


class Writer:
    """Writes a recording event by event; the file appears under its name when closed.

    Left by an exception, nothing appears. Raises OSError where it cannot be written, or
    where something stands that is no ordinary file: a device must not be replaced.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).resolve()
        if self._path.exists() and not self._path.is_file():
            raise OSError(errno.EINVAL, "it is no ordinary file")
        self._work = self._path.with_name(f".{os.getpid()}-{self._path.name}")
        self._file = _open(self._work, "wt")

    def write(self, event: Event) -> None:
        """Append one event."""
        line = json.dumps(event.as_dict(), ensure_ascii=False, allow_nan=False)
        self._file.write(line + "\n")

    def close(self, *, keep: bool = True) -> None:
        """End the recording; keep=False throws it away."""
        try:
            self._file.close()
            if keep:
                os.replace(self._work, self._path)
        finally:  # also where the disk is full and the last lines cannot be written
            self._work.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(keep=kind is None)


def save(path: str | Path, events: Iterable[Event]) -> None:
    """Write `events` to `path`, whole or not at all. Raises RecordingError if they do not agree."""
    events = list(events)
    check(events)
    with Writer(path) as writer:
        for event in events:
            writer.write(event)


def load(path: str | Path) -> list[Event]:
    """Read and check a recording. Raises RecordingError with one sentence if it is not one."""
    path = Path(path)
    try:
        with _open(path, "rt") as file:
            events = [_event(path.name, *line) for line in enumerate(file, 1)]
    except FileNotFoundError as error:
        raise RecordingError(f"There is no recording {path.name}; check the path.") from error
    except EOFError as error:
        raise RecordingError(f"{path.name} is cut off; save or copy it again.") from error
    except (OSError, UnicodeDecodeError, zlib.error) as error:
        raise RecordingError(
            f"{path.name} cannot be read as a recording; choose a .jsonl or .jsonl.gz file that "
            f"Slipstream saved."
        ) from error
    if not events:
        raise RecordingError(f"{path.name} is empty; choose another recording.")
    try:
        check(events)
    except RecordingError as error:
        raise RecordingError(f"{path.name}: {error}") from error
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        # Its events have the right fields and values of other kinds in them.
        raise RecordingError(f"{path.name} is damaged; save or copy it again.") from error
    return events


def fold(events: Iterable[Event]) -> dict[str, str]:
    """The text each lane has written: what its pieces give when joined."""
    texts: dict[str, str] = {}
    for event in events:
        if isinstance(event, Run):
            texts.update((lane["key"], "") for lane in event.lanes)
        elif isinstance(event, Step):
            texts[event.lane] = texts.get(event.lane, "") + "".join(event.pieces)
    return texts


def halves(events: Iterable[Event], lane: str) -> dict[str, str]:
    """One lane's text by phase; "reasoning" is absent where it did not think."""
    texts = {"answer": ""}
    phase, written = "answer", 0
    borders: list[Phase] = []
    for event in events:
        if isinstance(event, Phase) and event.lane == lane:
            borders.append(event)
        elif isinstance(event, Step) and event.lane == lane:
            for piece in event.pieces:
                start = 0
                while borders and borders[0].at == written:
                    border = borders.pop(0)
                    texts[phase] += piece[start : border.cut]
                    phase, start = border.phase, border.cut
                    texts.setdefault(phase, "")
                texts[phase] += piece[start:]
                written += 1
    return texts


def check(events: Iterable[Event], *, whole: bool = True) -> None:
    """Do the events agree with each other?

    A run first and once; per lane the prompt read to its end, steps that run on in
    index and time, trees that lead to the tokens written, one thinking and one answer,
    drafts that grow by what they wrote and verdicts that are true of them, totals that
    are the sums, and nothing after the finish but one check of the answer; comparisons
    that are true of the tokens.
    whole: every lane has finished. Raises RecordingError at the first that fails.
    """
    stream = iter(events)
    run = next(stream, None)
    if not isinstance(run, Run):
        raise RecordingError("A recording starts with its run; choose one that Slipstream saved.")
    lanes = {lane["key"]: _Lane(lane["key"], run.prompt_tokens) for lane in run.lanes}
    for event in stream:
        if isinstance(event, Run):
            raise RecordingError("There are two runs in one recording; save each to its own file.")
        lane = lanes.get(event.lane)
        if lane is None:
            raise RecordingError(
                f"An event belongs to {event.lane!r}, which is no lane of the run; record it again."
            )
        if isinstance(event, Compare):
            _check_compare(event, lane, lanes.get(REFERENCE))
        elif isinstance(event, Check):
            lane.judge()
        else:
            lane.follow(event)
    unfinished = [key for key, lane in lanes.items() if not lane.finished]
    if whole and unfinished:
        raise RecordingError(
            f"It is cut off (lane {unfinished[0]} does not finish); save or copy it again."
        )


def _open(path: Path, mode: str) -> IO[Any]:
    if path.name.endswith(".gz"):
        return gzip.open(path, mode, encoding="utf-8", newline="\n")  # type: ignore[return-value]
    return path.open(mode, encoding="utf-8", newline="\n")


def _event(name: str, number: int, line: str) -> Event:
    """One line of the file called `name`."""
    try:
        data = json.loads(line, parse_constant=_not_a_number)
    except (ValueError, RecursionError) as error:
        whole = line.endswith("\n")
        if number > 1 and not whole:
            raise RecordingError(f"{name} is cut off; save or copy it again.") from error
        raise RecordingError(
            f"Line {number} of {name} is not JSON; choose a recording that Slipstream saved."
        ) from error
    if number == 1 and isinstance(data, dict) and data.get("kind") == Run.kind:
        version = data.get("schema")
        if version not in READABLE:
            raise RecordingError(
                f"{name} is a recording of schema {version} and this Slipstream reads schemas "
                f"{READABLE[0]} to {READABLE[-1]}; record it again, or use the version that "
                f"wrote it."
            )
    try:
        return from_dict(data)
    except Unreadable as error:
        raise RecordingError(f"Line {number} of {name}: {error}") from error


def _not_a_number(name: str) -> float:
    """NaN and Infinity are no JSON, and no time either. Raises ValueError."""
    raise ValueError(f"{name} is no number")


@dataclass(slots=True)
class _Lane:
    """One lane of a recording as far as it has been followed."""

    key: str
    prompt_tokens: int
    read: int = 0
    clock: float = 0.0
    tokens: list[int] = field(default_factory=list)
    sums: dict[str, float] = field(default_factory=dict)
    phases: dict[str, int] = field(default_factory=dict)
    drafts: dict[int, list[int]] = field(default_factory=dict)
    finished: bool = False
    judged: bool = False

    def judge(self) -> None:
        """An answer is checked once, when it is whole."""
        if self.judged or not self.finished:
            self._fail("has its answer checked twice, or before it ends")
        self.judged = True

    def follow(self, event: LaneEvent) -> None:
        """Check the lane's next event and take it in."""
        if self.finished:
            self._fail("goes on after its finish")
        match event:
            case Prefill():
                self._prefill(event)
            case Phase():
                self._phase(event)
            case Step():
                self._step(event)
            case Draft():
                self._draft(event)
            case Verify():
                self._verify(event)
            case Finish():
                self._finish(event)

    def _fail(self, what: str) -> None:
        raise RecordingError(f"Lane {self.key} {what}; the recording is damaged, record it again.")

    def _prefill(self, event: Prefill) -> None:
        if self.tokens:
            self._fail("reads its prompt after it began to write")
        if event.prompt_tokens != self.prompt_tokens or event.done <= self.read:
            self._fail("does not read its prompt from start to end")
        if event.seconds < self.clock:
            self._fail("goes back in time")
        self.read, self.clock = event.done, event.seconds
        self.sums["prefill_seconds"] = event.seconds

    def _step(self, event: Step) -> None:
        where = f"step {event.index}"
        if self.read != self.prompt_tokens:
            self._fail("writes before it has read its prompt")
        if event.index != self.sums.get("steps", 0):
            self._fail(f"jumps to {where}")
        if event.start < self.clock - _ROUNDING:
            self._fail(f"goes back in time at {where}")
        parts = (event.draft, event.forward, event.other)
        if min(parts) < -_ROUNDING or abs(sum(parts) - event.seconds) > _ROUNDING:
            self._fail(f"has parts that are not its seconds at {where}")
        self._tree(event, where)
        self.clock = event.start + event.seconds
        self.tokens += event.tokens
        for name, value in _summed(event).items():
            self.sums[name] = self.sums.get(name, 0) + value

    def _phase(self, event: Phase) -> None:
        """One thinking, then one answer, each from a token on that is yet to come."""
        known = len(self.phases)
        if event.phase in self.phases or (known == 0) != (event.phase == "reasoning"):
            self._fail("changes its phase twice, or answers before it thinks")
        if event.at < len(self.tokens):
            self._fail("changes its phase in what it has written before")
        self.phases[event.phase] = event.at

    def _draft(self, event: Draft) -> None:
        """Drafts are numbered as they are opened and grow by what each event carries."""
        if event.id not in self.drafts and event.id != len(self.drafts) + 1:
            self._fail(f"jumps to draft {event.id}")
        tokens = self.drafts.setdefault(event.id, [])
        tokens += event.tokens
        if len(tokens) != event.written or event.written > event.length:
            self._fail(f"lost tokens of draft {event.id}")

    def _verify(self, event: Verify) -> None:
        """What stands of a draft is the beginning of the answer."""
        draft = self.drafts.get(event.draft)
        if draft is None or "answer" not in self.phases:
            self._fail("verifies a draft that is not there")
            return
        if len(draft) != event.length or not any(
            self.tokens[start : start + event.accepted] == draft[: event.accepted]
            # The token that closes the thinking may hold the first letters of the answer.
            for start in (self.phases["answer"], self.phases["answer"] + 1)
        ):
            self._fail(f"accepted other tokens than those of draft {event.draft}")

    def _tree(self, event: Step, where: str) -> None:
        """Accepted tokens are those on the tree's path."""
        tree = event.tree
        if tree is None:
            if event.drafted:
                self._fail(f"lost its draft tree at {where}")
            return
        path = [tree.tokens[node] for node in tree.path[1:]]
        if len(tree.tokens) - 1 != event.drafted or event.accepted > len(path):
            self._fail(f"has another number of drafts than its tree at {where}")
        if path[: event.accepted] != list(event.tokens[: event.accepted]):
            self._fail(f"accepted other tokens than its tree has at {where}")
        if self.tokens and tree.tokens[0] != self.tokens[-1]:
            self._fail(f"has a tree on another token than the last one at {where}")

    def _finish(self, event: Finish) -> None:
        self.finished = True
        sums = {**self.sums, "seconds": self.clock}
        if self.read != self.prompt_tokens:  # it ended in the middle of reading
            sums["prefill_seconds"] = event.totals.get("prefill_seconds", 0)
        for name, total in event.totals.items():
            if name in _TOTALS and not math.isclose(
                total, sums.get(name, 0), rel_tol=_ROUNDING, abs_tol=_ROUNDING
            ):
                self._fail(f"has {total:g} {name} in its totals where its events have others")


_TOTALS = (
    "tokens",
    "steps",
    "drafted",
    "accepted",
    "seconds",
    "prefill_seconds",
    "draft_seconds",
    "forward_seconds",
)


def _summed(step: Step) -> dict[str, float]:
    return {
        "tokens": len(step.tokens),
        "steps": 1,
        "drafted": step.drafted,
        "accepted": step.accepted,
        "draft_seconds": step.draft,
        "forward_seconds": step.forward,
    }


def _check_compare(event: Compare, lane: _Lane, reference: _Lane | None) -> None:
    """Is what the comparison says true of the tokens so far?"""
    theirs = reference.tokens if reference else []
    shared = next(_differences(lane.tokens, theirs), min(len(lane.tokens), len(theirs)))
    if event.checked > shared or (event.first is not None and event.first != shared):
        raise RecordingError(
            f"Lane {event.lane} is compared wrongly with {REFERENCE}; the recording is damaged, "
            f"record it again."
        )


def _differences(mine: list[int], theirs: list[int]) -> Iterator[int]:
    return (i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b)
