"""What a visitor is told is there in every language: each sentence of the code is in the words."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What the page shows of: models that are refused, races that are, answers that are wrong.
TOLD = [
    *(f"engine/{name}.py" for name in (
        "adapter", "embedded", "loop", "machine", "models", "placement", "prompt", "refuse",
        "sources", "text",
    )),
    *(f"slipstream/{name}.py" for name in ("checked", "model", "request", "service")),
    "engine/events.py",
    "ui/recordings.py",
    "training/checks.py",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "training/tasks").glob("*.py"))),
]  # fmt: skip
KINDS = ("error", "about", "reason", "file")  # of words that translate a sentence
SAID = ("str", "str | None", "ModelError", "ModelError | MemoryError")  # of engine functions
HOLE = "§"  # stands where a value is filled in
# Put together from two sentences, or never sent to a page.
ELSEWHERE = {
    f"{HOLE} Going on with the embedded model.",
    f"{HOLE} has no config.json; {HOLE}.",
    f"{HOLE}; choose a text model with full attention, such as Qwen3, Qwen2.5 or Llama.",
    "Every value is as the prompt asks for.",
    f"The prompt is not one of the family {HOLE}.",
}


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else HOLE for part in node.values)
        return "".join(str(part) for part in parts)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _spoken(tree: ast.Module, returned: tuple[str, ...]) -> Iterator[ast.AST]:
    """What is raised, handed to a verdict, or returned by a function that finds a fault."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc:
            yield node.exc
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("wrong", "unread"):
            yield node
        elif isinstance(node, ast.FunctionDef) and _returns(node) in returned:
            yield from (n for n in ast.walk(node) if isinstance(n, ast.Return) and n.value)


def _returns(node: ast.FunctionDef) -> str:
    return ast.unparse(node.returns) if node.returns else ""


def sentences(code: str, returned: tuple[str, ...]) -> set[str]:
    """The sentences in a module's refusals, with a hole for every value.

    returned: what functions return that may be such a sentence.
    """
    found = set()
    for spoken in _spoken(ast.parse(code), returned):
        inside = {
            id(part) for n in ast.walk(spoken) if isinstance(n, ast.JoinedStr) for part in n.values
        }
        for node in ast.walk(spoken):
            text = None if id(node) in inside else _text(node)
            if text and re.fullmatch(rf"[A-Z{HOLE}][^\n{{}}]* [^\n{{}}]*\.", text):
                found.add(text)
    return found


def _known() -> list[re.Pattern[str]]:
    words = json.loads((ROOT / "assets/i18n/en.json").read_text(encoding="utf-8"))
    said = [text for key, text in words.items() if key.split(".")[0] in KINDS]
    return [
        re.compile(
            "".join(
                ".+" if at % 2 else re.escape(part)
                for at, part in enumerate(re.split(r"\{(\w+)\}", text))
            )
        )
        for text in said
    ]


def test_sentences_are_found_in_code() -> None:
    code = (
        'def f(x) -> str:\n    """A docstring is none."""\n'
        '    if x:\n        raise UserError(f"No {x} here; go.")\n'
        '    return f"{x} is it."\n'
        'wrong("It is wrong.")\nlog("It is logged.")\n'
    )
    assert sentences(code, ("str",)) == {f"No {HOLE} here; go.", f"{HOLE} is it.", "It is wrong."}


@pytest.mark.parametrize("file", TOLD)
def test_every_sentence_for_a_visitor_is_in_the_words(file: str) -> None:
    # Other texts that the tasks return are what a model is to write.
    returned = ("str | None",) if file.startswith("training/") else SAID
    known = _known()
    assert not {
        text
        for text in sentences((ROOT / file).read_text(encoding="utf-8"), returned) - ELSEWHERE
        if not any(pattern.fullmatch(text) for pattern in known)
    }
