"""Thinking and answer by re-reading the whole text at every token. Imports nothing of the engine.

Nothing is carried from token to token: the bytes of all tokens are joined, the markers
are looked for in them with `find`, and everything else is counted from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.reference import greedy, plain_logits, sampled

WHITE = b" \t\r\n"
PATIENCE = 16

Key = tuple[str, int]


@dataclass(frozen=True)
class Marks:
    """The markers of a made-up model, and the ids that complete the closing one.

    rests[k]: behind its first k bytes.
    """

    open: bytes
    close: bytes
    rests: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Reading:
    """A whole text read anew.

    mode: before, reasoning or answer, behind the text. keys: the phase and the index that
    each token was chosen with, and last those of the next. thinking: reasoning tokens.
    matched: bytes of the closing marker that the thinking ends with. opened, closed: the
    token in which that marker ends and where the marker begins and ends in the text.
    failed: the token that showed that there is no thinking.
    """

    mode: str
    keys: list[Key]
    thinking: int
    matched: int
    opened: tuple[int, int, int] | None
    closed: tuple[int, int, int] | None
    failed: int | None


def read(spelled: Sequence[bytes], tokens: Sequence[int], marks: Marks, start: str) -> Reading:
    """Where `tokens`, spelled so, have come to."""
    parts = [spelled[token] if token < len(spelled) else b"" for token in tokens]
    text = b"".join(parts)
    ends = [len(b"".join(parts[: place + 1])) for place in range(len(parts))]
    opened = closed = failed = None
    if start == "before":
        opened, failed = _opening(text, ends, marks.open)
    since = opened[2] if opened else 0
    if start == "reasoning" or opened:
        at = text.find(marks.close, since)
        if at >= 0:
            end = at + len(marks.close)
            closed = (next(i for i, reached in enumerate(ends) if reached >= end), at, end)
    last = closed[0] if closed else failed
    first = 0 if start == "answer" else len(tokens) + 1 if last is None else last + 1
    skipped = 0 if failed is not None else first  # without thinking all of it is answer
    keys = [
        ("answer", place - skipped) if place >= first else ("reasoning", place)
        for place in range(len(tokens) + 1)
    ]
    if start == "answer" or last is not None:
        mode = "answer"
    else:
        mode = "reasoning" if start == "reasoning" or opened else "before"
    thought = 0
    if start == "reasoning" or opened:
        thought = (closed[0] + 1 if closed else len(tokens)) - (opened[0] + 1 if opened else 0)
    matched = 0
    if mode == "reasoning":
        matched = max(k for k in range(len(marks.close)) if text[since:].endswith(marks.close[:k]))
    return Reading(mode, keys, thought, matched, opened, closed, failed)


def _opening(
    text: bytes, ends: list[int], marker: bytes
) -> tuple[tuple[int, int, int] | None, int | None]:
    """Where the opening marker is, and which token shows that there is none."""
    for place, end in enumerate(ends):
        inner = text[:end].lstrip(WHITE)
        if inner.startswith(marker):
            at = end - len(inner)
            return (place, at, at + len(marker)), None
        if not marker.startswith(inner) or place + 1 >= PATIENCE:
            return None, place
    return None, None


def spent(reading: Reading, budget: int | None, marks: Marks) -> tuple[int, ...]:
    """What a spent budget appends behind such a text."""
    if budget is None or reading.mode != "reasoning" or reading.thinking < budget:
        return ()
    return marks.rests[reading.matched]


def spell_out(data: bytes) -> str:
    """Text of bytes; stray ones in guillemets."""
    text = data.decode("utf-8", "surrogateescape")
    return "".join(f"‹{ord(c) - 0xDC00:02x}›" if "\udc80" <= c <= "\udcff" else c for c in text)


def shown(
    spelled: Sequence[bytes],
    visible: Sequence[bytes],
    tokens: Sequence[int],
    marks: Marks,
    start: str,
) -> tuple[bytes, bytes]:
    """The bytes of the thinking and of the answer, markers cut out.

    visible: bytes of each id that are text; a special token, spelled by its name, has none.
    """
    found = read(spelled, tokens, marks, start)
    text: list[bytes] = []
    for token in tokens:
        if token >= len(spelled):
            continue
        hidden = visible[token] != spelled[token]
        text += [b"" if hidden else spelled[token][i : i + 1] for i in range(len(spelled[token]))]
    cut = [span[1:] for span in (found.opened, found.closed) if span]
    for begin, end in cut:
        text[begin:end] = [b""] * (end - begin)
    border = found.closed[2] if found.closed else len(text)
    if start == "answer" or (start == "before" and not found.opened):
        border = 0
    return b"".join(text[:border]), b"".join(text[border:])


def held(spelled: Sequence[bytes], tokens: Sequence[int], marks: Marks, start: str) -> int:
    """How many of the last bytes, as spelled, may still become a part of a marker."""
    found = read(spelled, tokens, marks, start)
    if found.mode == "before":
        return len(b"".join(spelled[token] for token in tokens))
    return found.matched


def chooser(settings: tuple[float, int, float, int]) -> Callable[[np.ndarray, Key], int]:
    """Greedy or sampled, the noise keyed by phase and index."""
    temperature, top_k, top_p, seed = settings
    if temperature < 1e-5:
        return lambda logits, key: greedy(logits, key[1])
    by_phase = {
        phase: sampled(temperature, top_k, top_p, seed, phase) for phase in ("reasoning", "answer")
    }
    return lambda logits, key: by_phase[key[0]](logits, key[1])


def written_in_phases(
    model: Any,
    settings: tuple[float, int, float, int],
    prompt: Sequence[int],
    spelled: Sequence[bytes],
    marks: Marks,
    start: str,
    budget: int | None,
    tokens: int,
    context: int,
    eos: frozenset[int] = frozenset(),
    ends: frozenset[int] = frozenset(),
) -> tuple[list[int], str]:
    """Re-read everything, append or choose one token, repeat: the ids and why they end.

    ends: chosen in the thinking, these give way to the closing marker.
    """
    choose = chooser(settings)
    new: list[int] = []
    gave_up = False
    while True:
        before = read(spelled, new, marks, start)
        appended = spent(before, budget, marks)
        if gave_up and before.mode == "reasoning":
            appended = marks.rests[before.matched]
        if not appended:
            chosen = choose(plain_logits(model, [*prompt, *new]), before.keys[-1])
            gave_up = chosen in ends and before.mode == "reasoning"
            appended = marks.rests[before.matched] if gave_up else (chosen,)
        new.append(appended[0])
        behind = read(spelled, new, marks, start)
        if new[-1] in eos:
            return new, "eos"
        if behind.mode == "answer" and behind.keys[-1][1] >= tokens:
            return new, "length"
        if len(prompt) + len(new) >= context:
            return new, "context"


def drafted(
    model: Any,
    settings: tuple[float, int, float, int],
    context: Sequence[int],
    length: int,
    eos: frozenset[int] = frozenset(),
) -> list[int]:
    """An answer begun behind `context`, as a run of its own would write it."""
    choose = chooser(settings)
    new: list[int] = []
    while len(new) < length and not (new and new[-1] in eos):
        new.append(choose(plain_logits(model, [*context, *new]), ("answer", len(new))))
    return new
