"""Pseudo-code to Python functions with docstrings, statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from training.checks import (
    RIGHT,
    Verdict,
    body_of,
    has_docstring,
    python_tree,
    same_statements,
    unread,
    wrong,
)
from training.tasks.dialects import DIALECTS
from training.tasks.family import Family
from training.tasks.forms import forms, join_ask, split_ask
from training.tasks.recipes import Function, draw_function


@dataclass(frozen=True, slots=True)
class Program:
    """The functions, and which of the DIALECTS they are written in."""

    dialect: int
    functions: tuple[Function, ...]


WORDINGS = forms(
    """
    Translate this pseudo-code into Python. Make each note the docstring of its function.
    Write this pseudo-code as Python functions, with the notes as docstrings.
    Please turn the pseudo-code into Python, line by line. The notes become docstrings.
    Here is some pseudo-code. I need it in Python, with a docstring made from the note in each \
      function.
    Convert this to Python. It is pseudo-code; use the notes as docstrings.
    How does this pseudo-code look in Python? Keep all names and put the notes into docstrings.
    Can you code this in Python? Keep the names, and let every function begin with its note as a \
      docstring.
    Rewrite the pseudo-code in Python with the same names. Notes are docstrings.
    Implement these functions in Python exactly as the pseudo-code says. Each has a docstring, \
      the note.
    From pseudo-code to Python, please: same functions, same steps, docstrings from the notes.
    Python code for this pseudo-code, please. Write the notes as docstrings.
    Give me the Python version of this pseudo-code, and make docstrings out of the notes.
    """
)


def draw(rng: Random, split: str) -> Program:
    """Two or three functions, sixteen to nineteen lines with their heads, in one dialect."""
    while True:
        functions = [draw_function(rng, split) for _ in range(rng.choice((2, 3)))]
        lines = sum(1 + len(function.lines) for function in functions)
        if 16 <= lines <= 19 and len({function.name for function in functions}) == len(functions):
            return Program(rng.randrange(len(DIALECTS)), tuple(functions))


def ask(rng: Random, program: Program) -> str:
    """The functions in their dialect, with or without its ends of blocks."""
    dialect = DIALECTS[program.dialect]
    ends = bool(dialect.ends) and rng.random() < 0.5
    indent = rng.choice(("  ", "    "))
    blocks = [dialect.text(function, indent, ends) for function in program.functions]
    return join_ask(rng, rng.choice(WORDINGS).write(), "\n\n".join(blocks))


def read(prompt: str) -> Program | None:
    """The functions of a prompt, all in one dialect."""
    for _, body in split_ask(prompt, WORDINGS):
        for at, dialect in enumerate(DIALECTS):
            functions = dialect.read(body)
            if not functions:
                continue
            program = Program(at, tuple(functions))
            # A name can be a word that Python keeps for itself.
            return None if python_tree(code(program)) is None else program
    return None


def think(program: Program) -> str:
    """The shape, then what each line becomes."""
    names = " and ".join(function.name for function in program.functions)
    lines = [
        f"One Python block with the functions {names}, in this order. Each is a def with its "
        f"note as docstring, four spaces a level."
    ]
    dialect = DIALECTS[program.dialect]
    for function in program.functions:
        lines.append(f"{dialect.head(function)} -> {head(function)}")
        lines += [f"{dialect.line(line)} -> {line.python()}" for line in function.lines]
    return "\n".join(lines)


def head(function: Function) -> str:
    """The first line of a function in Python."""
    return f"def {function.name}({', '.join(function.parameters)}):"


def _code_lines(function: Function) -> Iterator[str]:
    yield head(function)
    yield f'    """{function.note[0].upper()}{function.note[1:]}."""'
    for line in function.lines:
        yield "    " * (line.depth + 1) + line.python()


def code(program: Program) -> str:
    """The functions, an empty line or two between them."""
    return "\n\n\n".join("\n".join(_code_lines(each)) for each in program.functions)


def write(program: Program) -> str:
    """The functions in a block."""
    return f"```python\n{code(program)}\n```"


def grade(program: Program, answer: str) -> Verdict:
    """The functions and nothing else: names, parameters, docstrings and statements."""
    tree = python_tree(answer)
    if tree is None:
        return unread("The answer is not Python code alone.")
    wanted = ast.parse(code(program)).body
    for have, want in zip(tree.body, wanted, strict=False):
        assert isinstance(want, ast.FunctionDef)
        fault = _fault(have, want)
        if fault:
            return wrong(fault)
    if len(tree.body) != len(wanted):
        return wrong(f"There are {len(tree.body)} functions instead of {len(wanted)}.")
    return RIGHT


def _fault(have: ast.stmt, want: ast.FunctionDef) -> str | None:
    """What is wrong with a function, in a sentence. Type hints are neither here nor there."""
    if not isinstance(have, ast.FunctionDef) or have.name != want.name or have.decorator_list:
        return f"Where {want.name} should be is something else."
    if _parameters(have) != _parameters(want):
        return f"{want.name} has not the parameters that were asked for."
    if not has_docstring(have):
        return f"{want.name} has no docstring."
    if _said(have) != _said(want):
        return f"{want.name} has another docstring than its note."
    if not same_statements(body_of(have), body_of(want)):
        return f"{want.name} does something else than the pseudo-code."
    return None


def _said(function: ast.FunctionDef) -> str:
    """A docstring but for case, the stop at its end and line breaks."""
    words = (ast.get_docstring(function) or "").casefold().split()
    return " ".join(words).rstrip(".")


def _parameters(function: ast.FunctionDef) -> tuple[list[str], bool]:
    given = function.args
    others = given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults
    return [argument.arg for argument in given.args], bool(others)


def probe(program: Program) -> str:
    """Calls every function with several values and prints what it returns."""
    lines = []
    for function in program.functions:
        looped = {line.second for line in function.lines if line.kind == "for"}
        for numbers, items in _TRIED:
            each = iter(numbers)
            given = [items if p in looped else str(next(each)) for p in function.parameters]
            lines.append(f"print({function.name}({', '.join(given)}))")
    return "\n".join(lines)


# What functions are called with: no two parameters alike, small and large, in the list and not.
_TRIED = (
    ((5, 9, 2, 14), "[3, 8, 5, 12, 1]"),
    ((12, 4, 7, 1), "[12, 4, 30, 4, 7, 12]"),
    ((1, 40, 3, 8), "[]"),
    ((30, 3, 12, 5), "[2]"),
)


FAMILY = Family("pseudocode", draw, ask, read, think, write, grade, probe)
