"""Whether and how a model thinks, read from its chat template and tokenizer. No torch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.phases import ANSWER, BEFORE, REASONING, Markers, Phases
from engine.text import Vocabulary

log = logging.getLogger(__name__)

PAIRS = (
    ("<think>", "</think>"),  # Qwen3, DeepSeek R1 and V3, GLM 4.5, SmolLM3, Phi 4, Nemotron, …
    ("[THINK]", "[/THINK]"),  # Magistral, Ministral 3
    ("<|channel>thought\n", "<channel|>"),  # Gemma 4
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A Reasoning, Command R7B
    ("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    ("◁think▷", "◁/think▷"),  # Kimi
    ("<thought>", "</thought>"),  # EXAONE Deep
    (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),  # gpt-oss
)
"""Markers around the thinking of open models, as their chat templates write them."""

# Names by which templates take the wish to think.
SWITCHES = ("enable_thinking", "thinking")

THINK_FIRST = (
    "First write a short plan of two or three sentences and end it with {close}. "
    "After that write the answer."
)


@dataclass(frozen=True, slots=True)
class Style:
    """How a model can be made to think.

    pair: its markers. native: its own template knows them; otherwise it has to be asked.
    """

    pair: tuple[str, str]
    native: bool

    def instruction(self) -> str:
        """What a model that does not think by itself is asked."""
        return THINK_FIRST.format(close=self.pair[1])


def style_of(tokenizer: Any) -> Style:
    """The markers that the template or, failing that, the vocabulary knows."""
    template = str(getattr(tokenizer, "chat_template", None) or "")
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    for pair in PAIRS:
        if _knows(template, pair):
            return Style(pair, native=True)
    for pair in PAIRS:
        if pair[0] in added and pair[1] in added:
            return Style(pair, native=True)
    return Style(PAIRS[0], native=False)


def _knows(template: str, pair: tuple[str, str]) -> bool:
    """Whether a template writes both markers, or splits an answer at the closing one."""
    opening, close = (marker.strip().replace("\n", "\\n") for marker in pair)
    if pair is PAIRS[-1]:  # its closing marker is put together from parts
        return opening in template
    return close in template


def start_of(style: Style, after: str) -> str:
    """The mode in which a text begins behind `after`, the end of the prompt's own text.

    Only what the template wrote is looked at: what a visitor typed never counts.
    """
    opening, close = style.pair
    opened, closed = after.rfind(opening.strip()), after.rfind(close)
    if opened > closed:
        return REASONING
    if closed >= 0:
        return ANSWER
    return BEFORE if style.native else ANSWER


def markers_of(tokenizer: Any, vocabulary: Vocabulary, style: Style) -> Markers:
    """The markers in bytes and in the ids the model itself writes for them.

    Templates put the closing marker on a line of its own; where its last characters
    and the line's end are one token, the model writes that token.
    Raises ValueError for a tokenizer that cannot spell the closing marker.
    """
    spell = vocabulary.spelled
    opening, close = (marker.strip().encode() for marker in style.pair)
    encode = _encoder(tokenizer)
    closing = _overlapping(encode(f"a\n{style.pair[1]}\n\n"), close, spell)
    if not closing:
        raise ValueError(f"this tokenizer does not spell {style.pair[1]!r}")
    rests: dict[int, tuple[int, ...]] = {}
    for k in range(len(close) - 1, 0, -1):
        rests[k] = _rest(closing, close, k, encode, spell)
        behind = k + len(spell[rests[k][0]])
        if close[k:behind] == spell[rests[k][0]] and behind in rests:
            # However far the marker is written, it goes on with the same tokens.
            rests[k] = (rests[k][0], *rests[behind])
    return Markers(opening, close, closing, (closing, *(rests[k] for k in range(1, len(close)))))


def phases_of(
    tokenizer: Any,
    vocabulary: Vocabulary,
    style: Style,
    start: str,
    budget: int | None,
    eos: frozenset[int] = frozenset(),
) -> Phases:
    """The rules for a run that begins in `start`. eos: ids that end the model's turn."""
    if start == ANSWER:
        return Phases()
    ends = frozenset() if style.native else eos
    try:
        markers = markers_of(tokenizer, vocabulary, style)
        return Phases(vocabulary.spelled, markers, start, budget, ends)
    except ValueError:
        log.exception("the end of the thinking cannot be told; all of it is shown as the answer")
        return Phases()


def _encoder(tokenizer: Any) -> Callable[[str], list[int]]:
    return lambda text: list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _overlapping(ids: Sequence[int], close: bytes, spell: Sequence[bytes]) -> tuple[int, ...]:
    """Those of `ids` that hold a part of `close`; none if it is not in their text."""
    text = b"".join(spell[token] for token in ids)
    start = text.rfind(close)
    if start < 0:
        return ()
    end, at, kept = start + len(close), 0, []
    for token in ids:
        following = at + len(spell[token])
        if at < end and following > start:
            kept.append(token)
        at = following
    return tuple(kept)


def _rest(
    closing: tuple[int, ...],
    close: bytes,
    written: int,
    encode: Callable[[str], list[int]],
    spell: Sequence[bytes],
) -> tuple[int, ...]:
    """Ids that complete `close` behind its first `written` bytes.

    Those of the model's own spelling where its tokens end there; where even the missing
    text cannot be spelled alone, the whole marker.
    """
    at = -_before(closing, close, spell)
    for place, token in enumerate(closing):
        if at == written:
            return closing[place:]
        at += len(spell[token])
    try:
        missing = close[written:].decode()
    except UnicodeDecodeError:  # in the middle of a character
        return closing
    ids = tuple(encode(missing))
    text = b"".join(spell[token] for token in ids)
    return ids if text.startswith(close[written:]) else closing


def _before(closing: tuple[int, ...], close: bytes, spell: Sequence[bytes]) -> int:
    """Bytes that the first of the closing ids holds before the marker begins."""
    return max(0, b"".join(spell[token] for token in closing).find(close))
