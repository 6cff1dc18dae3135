"""The specification of a class to a Python class with type hints and docstrings."""

from __future__ import annotations

import ast
from collections.abc import Sequence
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
from training.tasks.family import Family
from training.tasks.forms import Form, forms, join_ask, read_any, split_ask
from training.tasks.pools import NUMBER_FIELDS, RECORD_NOUNS, TEXT_FIELDS, mixed


@dataclass(frozen=True, slots=True)
class Method:
    """A method of one of the KINDS, and what stands in its slots."""

    kind: str
    name: str
    field: str
    other: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Blueprint:
    """Name, fields with their types, and methods of a class."""

    name: str
    fields: tuple[tuple[str, str], ...]
    methods: tuple[Method, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of method: how it is asked for, its signature, statement and docstring."""

    asked: tuple[Form, ...]
    parameters: str
    returns: str
    statement: str
    says: str


KINDS = {
    "raise": Kind(
        forms(
            """
            {name:id} takes an amount and adds it to {field:id}
            {name:id}(amount) adds the amount to {field:id}
            {name:id}: add amount to {field:id}
            """
        ),
        ", amount: int",
        "None",
        "self.{field} += amount",
        "Add an amount to {field}.",
    ),
    "lower": Kind(
        forms(
            """
            {name:id} takes an amount and subtracts it from {field:id}
            {name:id}(amount) subtracts the amount from {field:id}
            {name:id}: subtract amount from {field:id}
            """
        ),
        ", amount: int",
        "None",
        "self.{field} -= amount",
        "Subtract an amount from {field}.",
    ),
    "change": Kind(
        forms(
            """
            {name:id} takes a text and makes it the {field:id}
            {name:id}(text) sets {field:id} to the text
            {name:id}: set {field:id} to text
            """
        ),
        ", text: str",
        "None",
        "self.{field} = text",
        "Set {field} to a text.",
    ),
    "reset": Kind(
        forms(
            """
            {name:id} takes nothing and sets {field:id} to {number:d}
            {name:id}() sets {field:id} to {number:d}
            {name:id}: set {field:id} to {number:d}
            """
        ),
        "",
        "None",
        "self.{field} = {number}",
        "Set {field} to {number}.",
    ),
    "above": Kind(
        forms(
            """
            {name:id} tells whether {field:id} is above {number:d}
            {name:id}() returns whether {field:id} is above {number:d}
            {name:id}: is {field:id} above {number:d}
            """
        ),
        "",
        "bool",
        "return self.{field} > {number}",
        "Tell whether {field} is above {number}.",
    ),
    "together": Kind(
        forms(
            """
            {name:id} gives the sum of {field:id} and {other:id}
            {name:id}() returns {field:id} plus {other:id}
            {name:id}: return {field:id} plus {other:id}
            """
        ),
        "",
        "int",
        "return self.{field} + self.{other}",
        "Return {field} plus {other}.",
    ),
    "describe": Kind(
        forms(
            """
            {name:id} gives {field:id} and {other:id} as one text with a colon between them
            {name:id}() returns {field:id} and {other:id} as text, a colon between them
            {name:id}: return the text {field:id}: {other:id}
            """
        ),
        "",
        "str",
        'return f"{{self.{field}}}: {{self.{other}}}"',
        "Return {field} and {other} as text.",
    ),
}

WORDINGS = forms(
    """
    Write a Python class {name:id} with type hints and docstrings.
    Please write the class {name:id} in Python. Give every method type hints and a docstring.
    I need a Python class called {name:id}, with docstrings and type hints.
    Implement this class in Python, with docstrings and type hints everywhere. Its name is \
      {name:id}.
    Turn this specification into a Python class {name:id} with type hints and a docstring for \
      each method.
    Can you write {name:id} as a Python class? Use type hints and docstrings.
    Code a class named {name:id} in Python. The class and its methods have docstrings, and all \
      types are given.
    Here is the specification of a class {name:id}. Write it in Python with docstrings and type \
      hints.
    Create the Python class {name:id} as described, with type hints, and with docstrings for \
      class and methods.
    Define a class {name:id}. Python, type hints, docstrings.
    Give me Python code for a class {name:id} that is typed and has docstrings.
    """
)

_FIELD_LEADS = (
    *("Fields: ", "Its fields are ", "It has the fields ", "Attributes: ", "It stores "),
    *("The fields are ", "It keeps ", "Data: "),
)
_FIELDS = forms(
    """
    {field:id} ({type:id})
    {field:id}: {type:id}
    {field:id} as {type:id}
    {type:id} {field:id}
    """
)
_METHOD_LEADS = ("Methods:", "The methods:", "Its methods:", "It can do this:", "What it does:")


def draw(rng: Random, split: str) -> Blueprint:
    """One or two text fields, two number fields, and three or four methods."""
    texts = rng.sample(mixed(TEXT_FIELDS, split), rng.choice((1, 1, 2)))
    counts = rng.sample(mixed(NUMBER_FIELDS, split), 2)
    kinds = rng.sample(list(KINDS), 4 if len(texts) == 1 else rng.choice((3, 4)))
    methods = [_method(rng, kind, texts, counts) for kind in kinds]
    fields = [*((name, "str") for name in texts), *((name, "int") for name in counts)]
    return Blueprint(rng.choice(mixed(RECORD_NOUNS, split)), tuple(fields), tuple(methods))


def _method(rng: Random, kind: str, texts: Sequence[str], counts: Sequence[str]) -> Method:
    count, text = rng.choice(counts), rng.choice(texts)
    if kind == "raise":
        return Method(kind, f"{rng.choice(('raise', 'add', 'increase'))}_{count}", count)
    if kind == "lower":
        return Method(kind, f"{rng.choice(('lower', 'reduce', 'decrease'))}_{count}", count)
    if kind == "change":
        return Method(kind, f"{rng.choice(('change', 'set', 'replace'))}_{text}", text)
    if kind == "reset":
        start = f"{rng.choice(('reset', 'clear', 'restart'))}_{count}"
        return Method(kind, start, count, number=rng.choice((0, 0, 1, 10)))
    if kind == "above":
        return Method(
            kind, f"{rng.choice(('enough', 'high'))}_{count}", count, "", rng.randint(2, 99)
        )
    if kind == "together":
        return Method(kind, rng.choice(("total", "combined", "both")), counts[0], counts[1])
    return Method(kind, rng.choice(("describe", "summary", "show")), text, count)


def ask(rng: Random, blueprint: Blueprint) -> str:
    """Fields in a line, then the methods, a line each."""
    form = rng.choice(_FIELDS)
    fields = ", ".join(form.write(field=name, type=kind) for name, kind in blueprint.fields)
    wording = rng.choice((0, 1, 2))
    bullet, stop = rng.choice((("- ", ""), ("* ", ""), ("", "."), ("- ", ".")))
    lines = [f"{rng.choice(_FIELD_LEADS)}{fields}{stop}"]
    if bullet or rng.random() < 0.5:
        lines.append(rng.choice(_METHOD_LEADS))
    for method in blueprint.methods:
        asked = KINDS[method.kind].asked[wording].write(**_slots(method))
        lines.append(f"{bullet}{asked}{stop}")
    instruction = rng.choice(WORDINGS).write(name=blueprint.name)
    return join_ask(rng, instruction, "\n".join(lines))


def _slots(method: Method) -> dict[str, object]:
    return {
        "name": method.name,
        "field": method.field,
        "other": method.other,
        "number": method.number,
    }


def read(prompt: str) -> Blueprint | None:
    """The class of a prompt, if its methods speak of its fields only, and fit their types."""
    for slots, body in split_ask(prompt, WORDINGS):
        lines = [line.strip().removeprefix("- ").removeprefix("* ") for line in body.splitlines()]
        lines = [line for line in lines if line and line not in _METHOD_LEADS]
        fields = _read_fields(lines[0].rstrip(".")) if lines else None
        methods = [_read_method(line.rstrip(".")) for line in lines[1:]]
        if not fields or not methods or None in methods:
            continue
        known = {"", *(name for name, _ in fields)}
        whole = [m for m in methods if m and _fits(m, dict(fields))]
        names = {slots["name"], *known, *(method.name for method in whole)}
        if len(whole) == len(methods) and len(names) == 2 + len(fields) + len(methods):
            blueprint = Blueprint(slots["name"], tuple(fields), tuple(whole))
            # A name can be a word that Python keeps for itself.
            return None if python_tree(code(blueprint)) is None else blueprint
    return None


def _fits(method: Method, types: dict[str, str]) -> bool:
    """Whether a method is about fields that there are, of a type that it can be about."""
    about = [types.get(name) for name in (method.field, method.other) if name]
    if method.kind == "describe":
        return None not in about
    return set(about) == {"str" if method.kind == "change" else "int"}


def _read_fields(line: str) -> list[tuple[str, str]] | None:
    for lead in _FIELD_LEADS:
        if line.startswith(lead):
            found = [read_any(_FIELDS, field) for field in line.removeprefix(lead).split(", ")]
            pairs = [(field["field"], field["type"]) for field in found if field]
            typed = all(kind in ("str", "int") for _, kind in pairs)
            return pairs if typed and len(pairs) == len(found) else None
    return None


def _read_method(line: str) -> Method | None:
    for kind, described in KINDS.items():
        slots = read_any(described.asked, line)
        if slots is not None:
            number = int(slots.get("number", 0))
            return Method(kind, slots["name"], slots["field"], slots.get("other", ""), number)
    return None


def signature(method: Method) -> str:
    """Name, parameters and result of a method."""
    kind = KINDS[method.kind]
    return f"{method.name}(self{kind.parameters}) -> {kind.returns}"


def statement(method: Method) -> str:
    """The one statement of a method."""
    return KINDS[method.kind].statement.format(**_slots(method))


def _init(blueprint: Blueprint) -> str:
    fields = ", ".join(f"{name}: {kind}" for name, kind in blueprint.fields)
    return f"__init__(self, {fields}) -> None"


def think(blueprint: Blueprint) -> str:
    """The order of the parts, then what each method takes and does."""
    names = ", ".join(method.name for method in blueprint.methods)
    fields = ", ".join(name for name, _ in blueprint.fields)
    lines = [
        f"One class {blueprint.name} in a Python block: a docstring, __init__, then {names}, "
        f"each with type hints and a docstring. The fields are {fields}.",
        f"{_init(blueprint)} sets {', '.join(f'self.{name}' for name, _ in blueprint.fields)}.",
    ]
    lines += [f"{signature(method)}: {statement(method)}" for method in blueprint.methods]
    lines.append("No other methods were asked for. Now the code.")
    return "\n".join(lines)


def code(blueprint: Blueprint) -> str:
    """The class."""
    fields = [name for name, _ in blueprint.fields]
    article = "An" if blueprint.name[0] in "AEIOU" else "A"
    lines = [
        f"class {blueprint.name}:",
        f'    """{article} {blueprint.name} with {", ".join(fields[:-1])} and {fields[-1]}."""',
        "",
        f"    def {_init(blueprint)}:",
        '        """Set the fields."""',
        *(f"        self.{name} = {name}" for name in fields),
    ]
    for method in blueprint.methods:
        says = KINDS[method.kind].says.format(**_slots(method))
        lines += ["", f"    def {signature(method)}:", f'        """{says}"""']
        lines.append(f"        {statement(method)}")
    return "\n".join(lines)


def write(blueprint: Blueprint) -> str:
    """The class in a block."""
    return f"```python\n{code(blueprint)}\n```"


def grade(blueprint: Blueprint, answer: str) -> Verdict:
    """One class and nothing else; names, signatures, docstrings and statements as asked."""
    tree = python_tree(answer)
    if tree is None:
        return unread("The answer is not Python code alone.")
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.ClassDef):
        return wrong("The code is not one class alone.")
    found, expected = tree.body[0], ast.parse(code(blueprint)).body[0]
    assert isinstance(expected, ast.ClassDef)
    more = found.bases or found.keywords or found.decorator_list
    if found.name != blueprint.name or more:
        return wrong(f"The class is not a plain class {blueprint.name}.")
    if not has_docstring(found):
        return wrong("The class has no docstring.")
    methods, wanted = body_of(found), body_of(expected)
    for have, want in zip(methods, wanted, strict=False):
        assert isinstance(want, ast.FunctionDef)
        fault = _fault(have, want)
        if fault:
            return wrong(fault)
    if len(methods) != len(wanted):
        return wrong(f"There are {len(methods)} methods instead of {len(wanted)}.")
    return RIGHT


def _fault(have: ast.stmt, want: ast.FunctionDef) -> str | None:
    """What is wrong with a method, in a sentence."""
    if not isinstance(have, ast.FunctionDef) or have.name != want.name:
        return f"Where {want.name} should be is something else."
    if have.decorator_list or ast.dump(have.args) != ast.dump(want.args):
        return f"{want.name} has not the parameters and type hints that were asked for."
    if ast.dump(have.returns or ast.Pass()) != ast.dump(want.returns or ast.Pass()):
        return f"{want.name} does not return what was asked for."
    if not has_docstring(have):
        return f"{want.name} has no docstring."
    if not any(same_statements(body_of(have), body) for body in _bodies(want)):
        return f"{want.name} does something else than was asked for."
    return None


def _bodies(want: ast.FunctionDef) -> list[list[ast.stmt]]:
    """The statements that are right: between two values a colon may have a space behind it."""
    body = body_of(want)
    text = ast.unparse(ast.Module(body, []))
    return [body, ast.parse(text.replace("}: {", "}:{")).body]


def probe(blueprint: Blueprint) -> str:
    """Makes an object, calls every method and prints what it does."""
    values = [
        repr(f"some {name}") if kind == "str" else str(7 + 4 * at)
        for at, (name, kind) in enumerate(blueprint.fields)
    ]
    lines = [f"made = {blueprint.name}({', '.join(values)})"]
    for method in blueprint.methods:
        given = {", amount: int": "5", ", text: str": "'new'"}.get(
            KINDS[method.kind].parameters, ""
        )
        lines += [f"print(made.{method.name}({given}))", "print(made.__dict__)"]
    return "\n".join(lines)


FAMILY = Family("classes", draw, ask, read, think, write, grade, probe)
