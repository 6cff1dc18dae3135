"""The event schema: what a run says about itself, in plain values. No torch, no gradio.

Live page, replay, exported file, API, benchmarks and tests read these events and
nothing else. Each has `kind` and, but for `Run`, the lane it belongs to; `as_dict`
gives the JSON form, one line of a recording. All seconds are lane time: the lane's
own device and drafting time, waiting for other lanes left out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from engine.tree import SOURCES

SCHEMA = 3
READABLE = (1, 2, 3)
"""Schemas that can be read. 1 had no thinking: no phase, draft or verify events; 2 no checks."""

REFERENCE = "vanilla"
"""The lane whose text the others are held against."""

REASONS = ("eos", "length", "context", "deadline", "stopped", "error")
PHASES = ("reasoning", "answer")
# Who opened or closed the thinking.
SWITCHERS = ("template", "model", "budget")
# Why a draft branch is written no further; "" while it is.
CLOSED = ("", "eos", "length", "thinking", "superseded", "context", "finish")
# Why drafting the answer saved nothing; "" where it did, or was not tried.
NOTES = ("", "no-thinking", "no-answer", "short-thinking", "short-answer", "early-difference")


def _plain(value: Any) -> Any:
    """Tuples to lists and nested events to dicts; everything else is already plain."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "as_dict"):
        return value.as_dict()
    return value


class _Event:
    """Shared JSON form: `kind` first, then the fields in order."""

    __slots__ = ()
    kind: ClassVar[str]

    def as_dict(self) -> dict[str, Any]:
        """The event as plain values, ready for `json.dumps`."""
        named = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind, **named}


@dataclass(frozen=True, slots=True)
class Tree:
    """The draft tree of one step. One entry a node, root first with parent -1.

    pieces: the token as text, never half a character (stray bytes are spelled out).
    ranks: place among the guesses made at that point; counts: times retrieval saw it.
    path: the accepted nodes, root first.
    """

    tokens: tuple[int, ...]
    pieces: tuple[str, ...]
    parents: tuple[int, ...]
    sources: tuple[str, ...]
    ranks: tuple[int, ...]
    counts: tuple[int, ...]
    path: tuple[int, ...]

    def __post_init__(self) -> None:
        sizes = {
            len(part)
            for part in (
                self.tokens,
                self.pieces,
                self.parents,
                self.sources,
                self.ranks,
                self.counts,
            )
        }
        if len(sizes) != 1:
            raise ValueError("a tree has one entry a node in each of its lists")
        if not self.parents or self.parents[0] != -1:
            raise ValueError("a tree starts with its root")
        if any(not 0 <= p < i for i, p in enumerate(self.parents) if i):
            raise ValueError("parents precede their children")
        if not self.path or self.path[0] != 0:
            raise ValueError("the accepted path starts at the root")
        steps = zip(self.path, self.path[1:], strict=False)
        if any(not 0 < b < len(self.parents) or self.parents[b] != a for a, b in steps):
            raise ValueError("the accepted path goes from parent to child")

    def as_dict(self) -> dict[str, Any]:
        """The tree as plain values."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}


@dataclass(frozen=True, slots=True)
class Run(_Event):
    """The first line of a recording: what ran, where, and with which settings.

    model: name, revision, dtype, device, device_name, parameters.
    lanes: for each lane `key` and `capacity` ("auto" or a number).
    packages: version of each package that decides the numbers.
    """

    kind: ClassVar[str] = "run"
    id: str
    date: str
    prompt: str
    prompt_tokens: int
    seed: int
    lanes: tuple[dict[str, Any], ...]
    model: dict[str, Any]
    settings: dict[str, Any]
    packages: dict[str, str]
    title: str = ""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.schema not in READABLE:
            raise ValueError(f"schema {self.schema} is none of {READABLE}")
        if not self.lanes:
            raise ValueError("a run has at least one lane")


@dataclass(frozen=True, slots=True)
class Prefill(_Event):
    """The prompt is being read: `done` of `prompt_tokens` so far, in `seconds` of lane time.

    Sent piece by piece while a long prompt is read; the last one has done == prompt_tokens.
    """

    kind: ClassVar[str] = "prefill"
    lane: str
    prompt_tokens: int
    done: int
    seconds: float

    def __post_init__(self) -> None:
        if not 0 < self.done <= self.prompt_tokens:
            raise ValueError(f"{self.done} of {self.prompt_tokens} prompt tokens read")


@dataclass(frozen=True, slots=True)
class Step(_Event):
    """One draft-verify-commit round. Index 0 is the token chosen from the prefill.

    start: lane time when it began. seconds = draft + forward + other.
    phase: that of its first token; a `Phase` before the step says where it changes inside.
    tokens/pieces/sources: committed now, accepted drafts first, then one the target
    chose, then what the thinking budget appended; `pieces` joined over all steps are the
    lane's text without the markers around the thinking (a character spread over several
    tokens, and text that might become a marker, come with their last token, so a piece
    may be empty).
    drafted: tree size without the root; accepted: how many of `tokens` were drafted.
    tree: None where nothing was drafted.
    branch: rows of this forward that belonged to a draft branch (0: none was open).
    memory: what the drafter now remembers: n-grams held, n-grams forgotten so far, tokens
    whose successors it knows; empty where it remembers nothing.
    """

    kind: ClassVar[str] = "step"
    lane: str
    index: int
    phase: str
    start: float
    seconds: float
    draft: float
    forward: float
    other: float
    tokens: tuple[int, ...]
    pieces: tuple[str, ...]
    sources: tuple[str, ...]
    drafted: int
    accepted: int
    tree: Tree | None = None
    branch: int = 0
    memory: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        where = f"{self.lane} step {self.index}"
        if self.phase not in PHASES:
            raise ValueError(f"{where}: no phase {self.phase!r}")
        if not len(self.tokens) == len(self.pieces) == len(self.sources) > 0:
            raise ValueError(f"{where}: tokens, pieces and sources differ in number")
        if not 0 <= self.accepted <= min(self.drafted, len(self.tokens)):
            raise ValueError(f"{where}: {self.accepted} accepted of {self.drafted} drafted")
        if any(source not in SOURCES for source in self.sources):
            raise ValueError(f"{where}: unknown source in {self.sources}")


@dataclass(frozen=True, slots=True)
class Phase(_Event):
    """Thinking opens ("reasoning") or gives way to the answer ("answer"); comes before its step.

    at: index among the lane's tokens of the first one whose text belongs to the phase,
    from its character `cut` on (nearly always 0). by: who opened or closed the thinking:
    the prompt's template, the model, or the spent budget. A lane without such an event
    only answers; none has more than one of each.
    """

    kind: ClassVar[str] = "phase"
    lane: str
    phase: str
    at: int
    by: str
    cut: int = 0

    def __post_init__(self) -> None:
        if self.phase not in PHASES or self.by not in SWITCHERS:
            raise ValueError(f"{self.lane}: no phase {self.phase!r} by {self.by!r}")
        if self.at < 0 or self.cut < 0:
            raise ValueError(f"{self.lane}: a phase begins at a token, not at {self.at}")


@dataclass(frozen=True, slots=True)
class Draft(_Event):
    """What the draft branch wrote in the step just sent: the answer, drafted while thinking.

    id: 1, 2, … within the lane. opened_at: reasoning tokens it was forked after.
    step: index of the step whose forward it rode in; start and seconds are that step's.
    tokens/pieces/sources: new since the last one (`pieces` begin with those of a new text).
    written: tokens so far. length: the most there may be. closed: why it is written no
    further ("thinking": the thinking ended; "superseded": a later draft was opened),
    "" while it is.
    """

    kind: ClassVar[str] = "draft"
    lane: str
    id: int
    opened_at: int
    step: int
    start: float
    seconds: float
    tokens: tuple[int, ...]
    pieces: tuple[str, ...]
    sources: tuple[str, ...]
    written: int
    length: int
    closed: str = ""

    def __post_init__(self) -> None:
        where = f"{self.lane} draft {self.id}"
        if not len(self.tokens) == len(self.pieces) == len(self.sources) <= self.written:
            raise ValueError(f"{where}: tokens, pieces and sources differ in number")
        if self.closed not in CLOSED:
            raise ValueError(f"{where}: closed by {self.closed!r}")


@dataclass(frozen=True, slots=True)
class Verify(_Event):
    """The last draft was held against the answer: how much of it stands.

    length: tokens of the draft. accepted: how many of them, from the first on, are the
    answer's. seconds: lane time of the steps that checked them, the first from `start`.
    token/piece: the draft's first token that is not the answer's, answer_token/
    answer_piece what the model chose there (None where the draft or the answer ended).
    """

    kind: ClassVar[str] = "verify"
    lane: str
    draft: int
    length: int
    accepted: int
    start: float
    seconds: float
    token: int | None = None
    piece: str = ""
    answer_token: int | None = None
    answer_piece: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.accepted <= self.length:
            raise ValueError(f"{self.lane}: {self.accepted} of {self.length} drafted tokens stand")


@dataclass(frozen=True, slots=True)
class Finish(_Event):
    """The lane is done. `message` is one sentence for the visitor where reason is `error`.

    totals: tokens, forwards (prefill counted as one), steps, drafted, accepted, seconds,
    prefill_seconds, draft_seconds, forward_seconds; and where the lane thought:
    thinking_tokens, answer_tokens, thinking_seconds (prefill left out), answer_at (lane
    time of the first answer token, absent if there was none); and where it drafted the
    answer: drafts, draft_tokens, prefix_tokens, suffix_tokens, verify_seconds.
    note: why drafting the answer saved nothing.
    """

    kind: ClassVar[str] = "finish"
    lane: str
    reason: str
    totals: dict[str, float]
    message: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"{self.lane}: no finish reason {self.reason!r}")
        if self.note not in NOTES:
            raise ValueError(f"{self.lane}: no note {self.note!r}")


@dataclass(frozen=True, slots=True)
class Compare(_Event):
    """The lane's text held against the vanilla lane's, token by token.

    checked: tokens both lanes have written. complete: both lanes have finished.
    Where they differ: `first` is the index of the first difference, `token`/`piece`
    the lane's, `vanilla_token`/`vanilla_piece` vanilla's (None where that lane had
    already ended), `gap` the distance of vanilla's two best choices there, and `tie`
    whether that gap is within `tolerance`, the rounding difference measured at load.
    """

    kind: ClassVar[str] = "compare"
    lane: str
    identical: bool
    checked: int
    complete: bool
    first: int | None = None
    token: int | None = None
    piece: str = ""
    vanilla_token: int | None = None
    vanilla_piece: str = ""
    gap: float | None = None
    tolerance: float | None = None
    tie: bool = False

    def __post_init__(self) -> None:
        if self.identical != (self.first is None):
            raise ValueError(f"{self.lane}: identical means no first difference, and no less")
        if self.identical and self.tie:
            raise ValueError(f"{self.lane}: a tie is a difference")


@dataclass(frozen=True, slots=True)
class Check(_Event):
    """The lane's answer held against what its prompt asks for; comes after its finish.

    task: the kind of prompt, for which a program knows the right answer. parsed: the answer
    has the form that was asked for. right: every value in it is as it must be. reason: one
    sentence, in English, that names the first mistake.
    """

    kind: ClassVar[str] = "check"
    lane: str
    task: str
    parsed: bool
    right: bool
    reason: str

    def __post_init__(self) -> None:
        if self.right and not self.parsed:
            raise ValueError(f"{self.lane}: an answer without a form cannot be right")


LaneEvent = Prefill | Phase | Step | Draft | Verify | Finish
Event = Run | LaneEvent | Compare | Check

_KINDS: dict[str, Any] = {
    cls.kind: cls for cls in (Run, Prefill, Phase, Step, Draft, Verify, Finish, Compare, Check)
}


class Unreadable(ValueError):  # noqa: N818  (reads as a sentence where it is caught)
    """A line that is not an event of this schema; the message is one sentence."""


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def from_dict(data: dict[str, Any]) -> Event:
    """The event that `as_dict` wrote. Raises Unreadable for anything else."""
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise Unreadable("This is not an event of a Slipstream recording; choose another file.")
    cls = _KINDS[kind]
    values = {key: _tuples(value) for key, value in data.items() if key != "kind"}
    try:
        if cls is Step and data.get("tree") is not None:
            values["tree"] = Tree(**{key: _tuples(part) for key, part in data["tree"].items()})
        return cls(**values)  # type: ignore[no-any-return]
    except (TypeError, ValueError, AttributeError) as error:
        raise Unreadable(
            f"This {kind} event is damaged or of another version; save or copy the recording again."
        ) from error
