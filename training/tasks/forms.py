"""One wording for two directions: a form writes its slots into text and reads them back.

Prompts are written with the very forms that a checker later reads them with, so that the
checker needs nothing but the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random
from string import Formatter

# What a slot may hold, by the letters behind its colon.
_HOLDS = {
    "": r"[^\n]+?",
    "d": r"[0-9]{1,4}",
    "total": r"[0-9]{1,9}",
    "name": r"[A-Z][A-Za-z'-]*",
    "noun": r"[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,3}",
    "id": r"[A-Za-z_][A-Za-z0-9_]*",
    "sum": r"(?:\[\]|[A-Za-z0-9_]+(?: [+-] [A-Za-z0-9_]+)?)",
}
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.;])\s+")


class Form:
    """A wording with slots: `{name:name} has {count:d} {what:noun}`.

    A slot that occurs twice holds the same text both times.
    """

    def __init__(self, template: str) -> None:
        self.template = template
        self._parts = [(text, slot) for text, slot, _, _ in Formatter().parse(template)]
        self._read = re.compile(_pattern(template))

    def write(self, **values: object) -> str:
        """The wording with `values` in its slots."""
        return "".join(
            text + ("" if slot is None else str(values[slot])) for text, slot in self._parts
        )

    def read(self, text: str) -> dict[str, str] | None:
        """What the slots hold in `text`, or None if it is not this wording."""
        found = self._read.fullmatch(text)
        return found.groupdict() if found else None


def _pattern(template: str) -> str:
    pattern, seen = "", set()
    for text, slot, kind, _ in Formatter().parse(template):
        pattern += re.escape(text)
        if slot is None:
            continue
        pattern += f"(?P={slot})" if slot in seen else f"(?P<{slot}>{_HOLDS[kind or '']})"
        seen.add(slot)
    return pattern


def forms(text: str) -> tuple[Form, ...]:
    """One form a line; a backslash continues a line."""
    return tuple(Form(" ".join(line.split())) for line in text.strip().splitlines())


def read_any(known: Sequence[Form], text: str) -> dict[str, str] | None:
    """The slots of the first form that fits."""
    for form in known:
        slots = form.read(text)
        if slots is not None:
            return slots
    return None


def read_all(known: Sequence[Form], lines: Sequence[str]) -> list[dict[str, str]] | None:
    """The slots of every line; None if there is no line, or one that fits no form."""
    found = []
    for line in lines:
        slots = read_any(known, line)
        if slots is None:
            return None
        found.append(slots)
    return found or None


def join_ask(rng: Random, instruction: str, body: str) -> str:
    """A prompt: the instruction before what it is about, or sometimes behind it."""
    before = rng.random() < 0.75
    return f"{instruction}\n\n{body}" if before else f"{body}\n\n{instruction}"


def split_ask(prompt: str, wordings: Sequence[Form]) -> Iterator[tuple[dict[str, str], str]]:
    """Every way to read a prompt as one of the wordings, before or behind a body."""
    paragraphs = prompt.strip().split("\n\n")
    if len(paragraphs) < 2:
        return
    for instruction, body in (
        (paragraphs[0], paragraphs[1:]),
        (paragraphs[-1], paragraphs[:-1]),
    ):
        slots = read_any(wordings, instruction.strip())
        if slots is not None:
            yield slots, "\n\n".join(body)


def layout(rng: Random, sentences: Sequence[str]) -> str:
    """Sentences without their stops, as a list.

    Behind its mark a word has a space before it, as in the answer: at the beginning of a
    line the tokenizer would spell it in other tokens.
    """
    if rng.random() < 0.5:
        return "\n".join(f"{at}. {sentence}" for at, sentence in enumerate(sentences, 1))
    mark = rng.choice("-*")
    return "\n".join(f"{mark} {sentence}" for sentence in sentences)


def sentences(body: str) -> list[str]:
    """The sentences of a text laid out in any of those ways, without stops and bullets."""
    found = []
    for line in body.splitlines():
        for sentence in _SENTENCE_END.split(_BULLET.sub("", line).strip()):
            bare = sentence.strip().rstrip(".;")
            if bare:
                found.append(bare)
    return found
