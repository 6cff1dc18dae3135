"""What a family of tasks is: prompts from a seed, and a check that needs only the prompt.

Everything follows from a *spec*, the plain values a prompt is about. `ask` writes a spec
as a prompt and `read` gets it back; thinking and answer follow from the spec alone, so a
model that is trained on them can always know what comes next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from training.checks import Verdict, unread

Spec = TypeVar("Spec")


@dataclass(frozen=True, slots=True)
class Example:
    """What a model is trained on, or tested with."""

    family: str
    prompt: str
    thinking: str
    answer: str


@dataclass(frozen=True, slots=True)
class Family(Generic[Spec]):
    """One kind of task.

    draw: a spec of a split. ask: a prompt for it. read: the spec of a prompt, None if the
    prompt is of no such kind. think, write: thinking and answer for a spec. grade: an
    answer against a spec. probe: Python that prints what an answer in Python does, for
    the evaluation of a training run; None where answers are not Python.
    """

    name: str
    draw: Callable[[Random, str], Spec]
    ask: Callable[[Random, Spec], str]
    read: Callable[[str], Spec | None]
    think: Callable[[Spec], str]
    write: Callable[[Spec], str]
    grade: Callable[[Spec, str], Verdict]
    probe: Callable[[Spec], str] | None = None

    def make(self, seed: int, split: str) -> Example:
        """The example of a seed; the same seed gives others in another split."""
        rng = Random(f"{self.name} {split} {seed}")  # noqa: S311 (nothing secret)
        spec = self.draw(rng, split)
        prompt = self.ask(rng, spec)
        return Example(self.name, prompt, self.think(spec), self.write(spec))

    def spec(self, prompt: str) -> Spec | None:
        """What a prompt is about, or None if it is not of this family."""
        return self.read(prompt.replace("\r\n", "\n").strip())

    def check(self, prompt: str, answer: str) -> Verdict:
        """Whether an answer is right, worked out from the text of the prompt alone."""
        spec = self.spec(prompt)
        if spec is None:
            return unread(f"The prompt is not one of the family {self.name}.")
        # A tab stays: it can be an empty cell.
        return self.grade(spec, answer.replace("\r\n", "\n").strip(" \n"))
