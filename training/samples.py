"""From examples to ids: what a model reads, what it is to write, in which mixture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from engine.adapter import template
from engine.embedded import ADAPTER
from engine.prompt import Ask, chat_prompt
from training import drills, general
from training.tasks import FAMILIES, TRAIN, Example

MASKED = -100  # what transformers ignores in labels

# Shares of the examples. Prompts outside the families are short, so that by tokens they
# are a twentieth, as drills are; the runs without thinking teach what the template
# asks for then.
GENERAL, DRILLS = 0.15, 0.1
SILENT_GENERAL, SILENT_FAMILY = 0.15, 0.03
# More of what the adapter that ships gets wrong: the next run goes on from it.
WEIGHTS = {
    **{"table": 0.8, "purchases": 0.8, "programme": 0.8},
    **{"tsv": 1.3, "pseudocode": 1.2},
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One text in ids. asked: how many of them are the prompt, which is not learned."""

    ids: list[int]
    asked: int

    @property
    def labels(self) -> list[int]:
        """Its ids with the prompt's masked."""
        return [MASKED] * self.asked + self.ids[self.asked :]


def mixture(count: int, seed: int) -> Iterator[tuple[Example, bool]]:
    """Examples to train on, and whether each thinks. The trainer shuffles them."""
    rng = Random(f"mixture {seed}")  # noqa: S311 (nothing secret)
    weights = [WEIGHTS.get(name, 1.0) for name in FAMILIES]
    for at in range(seed * 1_000_000, seed * 1_000_000 + count):
        kind = rng.random()
        if kind < GENERAL:
            yield general.make(at, TRAIN), rng.random() >= SILENT_GENERAL
        elif kind < GENERAL + DRILLS:
            yield drills.make(at, TRAIN), True
        else:
            (name,) = rng.choices(list(FAMILIES), weights)
            yield FAMILIES[name].make(at, TRAIN), rng.random() >= SILENT_FAMILY


def sample(tokenizer: Any, example: Example, *, thinks: bool) -> Sample:
    """An example as the engine would have the model read it and the model should write it."""
    asked = chat_prompt(tokenizer, example.prompt, Ask(options={"enable_thinking": thinks}))
    text = f"{example.thinking}\n</think>\n\n{example.answer}" if thinks else example.answer
    own = tokenizer(text, add_special_tokens=False)["input_ids"]
    return Sample([*asked, *own, tokenizer.eos_token_id], len(asked))


def with_template(tokenizer: Any) -> Any:
    """The tokenizer with the template that lets the model think."""
    tokenizer.chat_template = template(ADAPTER)
    return tokenizer
