"""Ways to write pseudo-code, and to read it back.

A dialect has one wording for each kind of line; nesting is indentation, with or without
words that end a block.
"""

from __future__ import annotations

from collections.abc import Sequence

from training.tasks.forms import Form
from training.tasks.recipes import EMPTY, SIGNS, Function, Line

_SLOTS = {
    "set": ("first:id", "second:sum"),
    "add": ("first:id", "second:sum"),
    "take": ("first:id", "second:sum"),
    "append": ("first:id", "second:sum"),
    "for": ("first:id", "second:id"),
    "while": ("first:sum", "sign", "second:sum"),
    "if": ("first:sum", "sign", "second:sum"),
    "else": (),
    "return": ("first:sum",),
}
_OPENS = ("for", "while", "if", "else")


class Dialect:
    """The wordings of a dialect.

    head: of a function. note: of what it does. lines: of each kind, with {x}, {y} and {s}
    for the slots; of two that fit, the first is read. signs: how the six comparisons are
    written. empty: an empty list.
    ends: what ends a function, a loop, a while loop and a condition; empty: nothing does.
    """

    def __init__(
        self,
        head: str,
        note: str,
        lines: dict[str, str],
        signs: Sequence[str] = SIGNS,
        empty: str = EMPTY,
        ends: Sequence[str] = (),
    ) -> None:
        self._head, self._note = Form(head), Form(note)
        self._lines = {kind: Form(_typed(kind, text)) for kind, text in lines.items()}
        self._signs = dict(zip(SIGNS, signs, strict=True))
        self._empty = empty
        self.ends = dict(zip(("function", "for", "while", "if"), ends, strict=False))

    def head(self, function: Function) -> str:
        """The first line of a function."""
        return self._head.write(name=function.name, parameters=", ".join(function.parameters))

    def line(self, line: Line) -> str:
        """A statement, not indented."""
        second = self._empty if line.second == EMPTY else line.second
        sign = self._signs.get(line.sign, "")
        return self._lines[line.kind].write(first=line.first, second=second, sign=sign)

    def text(self, function: Function, indent: str, ends: bool) -> str:
        """A whole function."""
        note = self._note.write(note=function.note)
        lines = [self.head(function), indent + note]
        open_blocks: list[Line] = []
        for line in function.lines:
            while open_blocks and open_blocks[-1].depth >= line.depth:
                block = open_blocks.pop()
                if ends and not (line.kind == "else" and block.depth == line.depth):
                    lines.append(indent * (block.depth + 1) + self._end(block))
            lines.append(indent * (line.depth + 1) + self.line(line))
            if line.kind in _OPENS:
                open_blocks.append(line)
        if ends:
            closing = reversed(open_blocks)
            lines += [indent * (block.depth + 1) + self._end(block) for block in closing]
            lines.append(self.ends["function"])
        return "\n".join(lines)

    def _end(self, block: Line) -> str:
        return self.ends["if" if block.kind == "else" else block.kind]

    def read(self, text: str) -> list[Function] | None:
        """The functions of a text, or None if a line of it is not of this dialect."""
        functions: list[Function] = []
        for block in text.split("\n\n"):
            lines = [line.rstrip() for line in block.splitlines() if line.strip()]
            lines = [line for line in lines if line.strip() not in self.ends.values()]
            function = self._function(lines) if len(lines) > 2 else None
            if function is None:
                return None
            functions.append(function)
        return functions

    def _function(self, lines: Sequence[str]) -> Function | None:
        head, note = self._head.read(lines[0]), self._note.read(lines[1].strip())
        if head is None or note is None:
            return None
        unit = len(lines[1]) - len(lines[1].lstrip(" "))
        found = [self._read_line(line, unit) for line in lines[2:]]
        if unit == 0 or None in found:
            return None
        parameters = tuple(head["parameters"].split(", "))
        if not all(parameter.isidentifier() for parameter in parameters):
            return None
        return Function(
            head["name"], parameters, note["note"], tuple(line for line in found if line)
        )

    def _read_line(self, text: str, unit: int) -> Line | None:
        deep = len(text) - len(text.lstrip(" "))
        depth, rest = divmod(deep, unit or 1)
        if depth < 1 or rest:
            return None
        bare = text.strip()
        # In the place of an expression an empty list may be several words.
        bare = bare.replace(self._empty, EMPTY)
        for kind, form in self._lines.items():
            slots = form.read(bare)
            if slots is not None:
                sign = self._sign(slots.get("sign"))
                if sign is not None:
                    first, second = slots.get("first", ""), slots.get("second", "")
                    return Line(depth - 1, kind, first, second, sign)
        return None

    def _sign(self, written: str | None) -> str | None:
        """The comparison of a wording; empty for a line without one, None for none known."""
        if written is None:
            return ""
        return next((sign for sign, text in self._signs.items() if text == written), None)


def _typed(kind: str, text: str) -> str:
    """{x}, {y} and {s} of a wording as the slots that its kind has."""
    names = _SLOTS[kind]
    by_letter = {"first": "{x}", "second": "{y}", "sign": "{s}"}
    for name in names:
        text = text.replace(by_letter[name.partition(":")[0]], f"{{{name}}}")
    return text


_WORDS = ("is above", "is below", "is at least", "is at most", "equals", "differs from")
_LONG = (
    *("is greater than", "is less than", "is at least", "is at most"),
    *("is equal to", "is not equal to"),
)

DIALECTS = (
    Dialect(
        "FUNCTION {name:id}({parameters})",
        "NOTE: {note}",
        {
            "set": "SET {x} TO {y}",
            "add": "ADD {y} TO {x}",
            "take": "SUBTRACT {y} FROM {x}",
            "append": "APPEND {y} TO {x}",
            "for": "FOR EACH {x} IN {y}",
            "while": "WHILE {x} {s} {y} DO",
            "if": "IF {x} {s} {y} THEN",
            "else": "ELSE",
            "return": "RETURN {x}",
        },
        ends=("END FUNCTION", "END FOR", "END WHILE", "END IF"),
    ),
    Dialect(
        "function {name:id} of {parameters}:",
        "note: {note}",
        {
            "set": "let {x} be {y}",
            "add": "increase {x} by {y}",
            "take": "decrease {x} by {y}",
            "append": "put {y} at the end of {x}",
            "for": "for every {x} in {y}:",
            "while": "as long as {x} {s} {y}:",
            "if": "if {x} {s} {y}:",
            "else": "otherwise:",
            "return": "give back {x}",
        },
        _LONG,
        "an empty list",
    ),
    Dialect(
        "procedure {name:id}({parameters})",
        "// {note}",
        {
            "add": "{x} <- {x} + {y}",
            "take": "{x} <- {x} - {y}",
            "set": "{x} <- {y}",
            "append": "push {y} onto {x}",
            "for": "for each {x} in {y} do",
            "while": "while {x} {s} {y} do",
            "if": "if {x} {s} {y} then",
            "else": "else",
            "return": "return {x}",
        },
        ends=("end", "end", "end", "end"),
    ),
    Dialect(
        "define {name:id} with {parameters}",
        "note: {note}",
        {
            "set": "{x} is {y}",
            "add": "add {y} to {x}",
            "take": "take {y} from {x}",
            "append": "{x} gets {y} at its end",
            "for": "go through {y}, each one is {x}",
            "while": "repeat while {x} {s} {y}",
            "if": "when {x} {s} {y}",
            "else": "or else",
            "return": "the result is {x}",
        },
        _WORDS,
        "an empty list",
    ),
    Dialect(
        "ROUTINE {name:id} TAKES {parameters}",
        "NOTE {note}",
        {
            "set": "{x} := {y}",
            "add": "{x} PLUS {y}",
            "take": "{x} MINUS {y}",
            "append": "{x} APPEND {y}",
            "for": "LOOP {x} OVER {y}",
            "while": "LOOP WHILE {x} {s} {y}",
            "if": "CASE {x} {s} {y}",
            "else": "OTHERWISE",
            "return": "RESULT {x}",
        },
        empty="EMPTY",
        ends=("END ROUTINE", "END LOOP", "END LOOP", "END CASE"),
    ),
    Dialect(
        "To {name:id}, given {parameters}:",
        "Note: {note}",
        {
            "set": "Start {x} at {y}",
            "add": "Add {y} to {x}",
            "take": "Take {y} off {x}",
            "append": "Write {y} at the end of {x}",
            "for": "For each {x} of the {y}:",
            "while": "While {x} {s} {y}:",
            "if": "If {x} {s} {y}:",
            "else": "If not:",
            "return": "Return {x}",
        },
        _LONG,
        "nothing",
    ),
)
