"""Benchmark questions from a folder: taken evenly over the categories of each set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError

SETS = {
    "spec_bench": "Spec-Bench",
    "human_eval": "HumanEval",
    "mgsm": "MGSM-ZH",
    "gsm8k": "GSM8K",
}
"""File stem → name, in the order of the tables."""


MT_BENCH = frozenset(
    ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
)
"""Eight categories that are one of Spec-Bench's six tasks."""


@dataclass(frozen=True, slots=True)
class Question:
    """The first turn of one benchmark question."""

    set: str
    id: int
    category: str
    prompt: str


def read(folder: Path, limit: int) -> dict[str, list[Question]]:
    """At most `limit` questions of each set found in `folder`.

    Raises UserError if the folder holds none of the sets, or a line is not a question.
    """
    found = {}
    for stem in SETS:
        path = folder / f"{stem}.jsonl"
        if path.is_file():
            found[stem] = evenly(lines_of(path), limit)
    if not found:
        names = ", ".join(f"{stem}.jsonl" for stem in SETS)
        raise UserError(f"{folder} holds none of {names}; name a folder with such files.")
    return found


def evenly(questions: Sequence[Question], limit: int) -> list[Question]:
    """`limit` questions, as many of each task as can be, spread over each task's length."""
    groups: dict[str, list[Question]] = {}
    for question in questions:
        task = "mt-bench" if question.category in MT_BENCH else question.category
        groups.setdefault(task, []).append(question)
    names = list(groups)
    if limit < len(names):
        names = [names[i * len(names) // limit] for i in range(limit)]
    shares = [limit // len(names) + (i < limit % len(names)) for i in range(len(names))]
    chosen: list[Question] = []
    for name, share in zip(names, shares, strict=True):
        group = groups[name]
        share = min(share, len(group))
        chosen.extend(group[i * len(group) // share] for i in range(share))
    return chosen


def lines_of(path: Path) -> list[Question]:
    """Every question of one file.

    Raises UserError for a line that is none, a file without any, or no such file.
    """
    questions = []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read; name a file of questions.") from error
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            row = json.loads(line)
            questions.append(
                Question(path.stem, row["question_id"], row["category"], row["turns"][0])
            )
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise UserError(f"{path.name}, line {number}, is not a benchmark question.") from error
    if not questions:
        raise UserError(f"{path} holds no question; name a file with one a line.")
    return questions
