"""A kind of question with its wordings, and how slots in them are filled."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from training.facts import Row
from training.tasks.pools import part

Slots = dict[str, str]
Work = Callable[[Random, str, Slots], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of question.

    prompts, thinking, answers: wordings with slots, one of each is drawn. rows: a table of
    which one row fills slots that belong together. pools: independent slots. work:
    slots that follow from the others, such as a sum.
    """

    prompts: Sequence[str]
    thinking: Sequence[str]
    answers: Sequence[str]
    rows: Sequence[Row] = ()
    pools: Mapping[str, Sequence[str]] = field(default_factory=dict)
    work: Work | None = None

    def make(self, rng: Random, split: str) -> tuple[str, str, str]:
        """Prompt, thinking and answer."""
        slots: Slots = dict(rng.choice(part(self.rows, split))) if self.rows else {}
        for name, pool in self.pools.items():
            free = [word for word in part(pool, split) if word not in slots.values()]
            slots[name] = rng.choice(free)
        if self.work is not None:
            slots |= self.work(rng, split, slots)
        slots |= {name.capitalize(): text[:1].upper() + text[1:] for name, text in slots.items()}
        prompt, thinking, answer = (
            _filled(rng.choice(wordings), slots)
            for wordings in (self.prompts, self.thinking, self.answers)
        )
        return prompt, thinking, answer


def _filled(wording: str, slots: Slots) -> str:
    """A wording with its slots filled, and "an" before those that begin with a vowel."""

    def article(found: re.Match[str]) -> str:
        return f"{found[1]}n {found[2]}" if slots[found[3]][0] in "aeiou" else found[0]

    return re.sub(r"\b([aA]) (\{(\w+)\})", article, wording).format(**slots)
