"""General examples in two phases: a short question, brief thinking, an answer.

They keep a model that was trained on the families from falling apart on everything else:
it thinks for a moment, closes its thinking and answers. All texts are put together from
`training/topics.py` and `training/facts.py`; nothing comes from a collection of others.
"""

from __future__ import annotations

import re
from random import Random

from training.tasks.family import Example
from training.topics import TOPICS

OPENINGS = (
    "Let me see what is wanted here.",
    "First I look at what is asked.",
    "What does the person need from me?",
    "I read the message once more.",
    "Let me think about this for a moment.",
    "What would be a good answer to this?",
    "I begin with the question itself.",
    "One thing at a time: what is the task?",
)

# How a thinking ends: with the shape that the answer will have.
SHAPES = {
    "code": (
        "The answer is a short block of code and nothing around it.",
        "I write it as one block of code, ready to be copied.",
    ),
    "list": (
        "The answer gets one point a line, and then I stop.",
        "I write a list, a line for each point, and no more than that.",
    ),
    "paragraphs": (
        "The answer has several short parts with an empty line between them.",
        "I write a few short parts, one after the other, and then I stop.",
    ),
    "lines": (
        "The answer is made of a few short lines, and then I stop.",
        "I write a few lines, one below the other, and no more.",
    ),
    "words": (
        "The answer is short, just a few words, so I write it now.",
        "A few words are enough here; I write them and stop.",
    ),
    "sentence": (
        "The answer is one sentence, so I write it now and stop.",
        "One plain sentence is enough, and I add nothing to it.",
    ),
    "text": (
        "The answer is a few plain sentences in one piece, and then I stop.",
        "I write it in a few sentences, without a heading or a list.",
    ),
}


def make(seed: int, split: str) -> Example:
    """The general example of a seed."""
    rng = Random(f"general {split} {seed}")  # noqa: S311 (nothing secret)
    topic = rng.choice(list(TOPICS.values()))
    prompt, thinking, answer = topic.make(rng, split)
    thinking = f"{rng.choice(OPENINGS)} {thinking} {_shape(rng, answer)}"
    return Example("general", prompt, thinking, answer)


def _shape(rng: Random, answer: str) -> str:
    """A sentence about the shape of an answer."""
    if "```" in answer:
        kind = "code"
    elif re.search(r"^(-|1\.|\|) ", answer, re.MULTILINE):
        kind = "list"
    elif "\n" in answer:
        kind = "paragraphs" if "\n\n" in answer else "lines"
    elif len(answer.split()) < 6:
        kind = "words"
    else:
        kind = "sentence" if len(re.findall(r"[.!?](?= |$)", answer)) < 2 else "text"
    return rng.choice(SHAPES[kind])
