"""Small functions as lists of statements, without a word of any language.

A line is of one of a few kinds with up to two slots; where it stands is its depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from training.tasks.pools import LOOPS, mixed

EMPTY = "[]"

# How each kind of line is written in Python.
PYTHON = {
    "set": "{first} = {second}",
    "add": "{first} += {second}",
    "take": "{first} -= {second}",
    "append": "{first}.append({second})",
    "for": "for {first} in {second}:",
    "while": "while {first} {sign} {second}:",
    "if": "if {first} {sign} {second}:",
    "else": "else:",
    "return": "return {first}",
}
SIGNS = (">", "<", ">=", "<=", "==", "!=")


@dataclass(frozen=True, slots=True)
class Line:
    """A statement: its kind, what stands in its slots, and how deep it is nested."""

    depth: int
    kind: str
    first: str = ""
    second: str = ""
    sign: str = ""

    def python(self) -> str:
        """The line in Python, not indented."""
        return PYTHON[self.kind].format(first=self.first, second=self.second, sign=self.sign)


@dataclass(frozen=True, slots=True)
class Function:
    """A function: what it does, in words, and its lines."""

    name: str
    parameters: tuple[str, ...]
    note: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A function with names left open; `text` has a line a statement, indented by spaces."""

    name: str
    parameters: str
    note: str
    text: str


# {a} is one of {many}; {s} a sign with its {word}; {sum}, {list} and {n} vary.
RECIPES = (
    Recipe(
        "sum_{word}",
        "{many}, limit",
        "add up the {many} {word} the limit",
        """
        set {sum} 0
        for {a} {many}
         if {a} {s} limit
          add {sum} {a}
        return {sum}
        """,
    ),
    Recipe(
        "count_{word}",
        "{many}, limit",
        "count the {many} {word} the limit",
        """
        set {sum} 0
        for {a} {many}
         if {a} {s} limit
          add {sum} 1
        return {sum}
        """,
    ),
    Recipe(
        "pick_{many}",
        "{many}",
        "collect the {many} {word} {n}",
        """
        set {list} []
        for {a} {many}
         if {a} {s} {n}
          append {list} {a}
        return {list}
        """,
    ),
    Recipe(
        "best_{a}",
        "{many}",
        "find the largest of the {many}",
        """
        set best 0
        for {a} {many}
         if {a} > best
          set best {a}
        return best
        """,
    ),
    Recipe(
        "split_{many}",
        "{many}, limit",
        "put the {many} {word} the limit in front",
        """
        set front []
        set back []
        for {a} {many}
         if {a} {s} limit
          append front {a}
         else
          append back {a}
        return front + back
        """,
    ),
    Recipe(
        "running_{many}",
        "{many}",
        "list the running sums of the {many}",
        """
        set {sum} 0
        set {list} []
        for {a} {many}
         add {sum} {a}
         append {list} {sum}
        return {list}
        """,
    ),
    Recipe(
        "count_down_{a}",
        "{a}",
        "list all steps down to {low}",
        """
        set {list} []
        while {a} > {low}
         append {list} {a}
         take {a} 1
        return {list}
        """,
    ),
    Recipe(
        "limit_{a}",
        "{a}, low, high",
        "keep the {a} between low and high",
        """
        if {a} < low
         return low
        if {a} > high
         return high
        return {a}
        """,
    ),
    Recipe(
        "shift_{many}",
        "{many}, extra",
        "add the extra to each of the {many}",
        """
        set {list} []
        for {a} {many}
         set moved {a} + extra
         append {list} moved
        return {list}
        """,
    ),
    Recipe(
        "compare_{many}",
        "{many}, wanted",
        "say how many more {many} are as wanted than are not",
        """
        set hits 0
        set misses 0
        for {a} {many}
         if {a} == wanted
          add hits 1
         else
          add misses 1
        return hits - misses
        """,
    ),
    Recipe(
        "rounds_for_{a}",
        "goal, {a}",
        "count the rounds until the goal is reached",
        """
        set {sum} 0
        set rounds 0
        while {sum} < goal
         add {sum} {a}
         add rounds 1
        return rounds
        """,
    ),
    Recipe(
        "better_{a}",
        "first_{a}, second_{a}",
        "return the larger {a}",
        """
        if first_{a} > second_{a}
         return first_{a}
        else
         return second_{a}
        """,
    ),
    Recipe(
        "first_{a}_{word}",
        "{many}, limit",
        "find the first of the {many} {word} the limit or return {n}",
        """
        for {a} {many}
         if {a} {s} limit
          return {a}
        return {n}
        """,
    ),
    Recipe(
        "sum_without_{a}",
        "{many}, left_out",
        "add up all {many} but one",
        """
        set {sum} 0
        for {a} {many}
         if {a} != left_out
          add {sum} {a}
        return {sum}
        """,
    ),
)


def draw_function(rng: Random, split: str) -> Function:
    """A recipe with names of a split."""
    recipe, (one, many) = rng.choice(RECIPES), rng.choice(mixed(LOOPS, split))
    sign, word = rng.choice(((">", "above"), ("<", "below")))
    names = {
        "a": one,
        "many": many,
        "s": sign,
        "word": word,
        "sum": rng.choice(("total", "result", "amount_so_far", "counted")),
        "list": rng.choice(("found", "kept", "output", "collected")),
        "n": str(rng.randint(2, 40)),
        "low": str(rng.randint(0, 3)),
    }
    lines = [_line(line.format(**names)) for line in recipe.text.strip("\n ").split("\n        ")]
    return Function(
        recipe.name.format(**names),
        tuple(recipe.parameters.format(**names).split(", ")),
        recipe.note.format(**names),
        tuple(lines),
    )


def _line(text: str) -> Line:
    kind, *rest = text.split()
    depth = len(text) - len(text.lstrip())
    if kind in ("if", "while"):
        return Line(depth, kind, rest[0], rest[2], rest[1])
    if kind == "return":
        return Line(depth, kind, " ".join(rest))
    return Line(depth, kind, rest[0] if rest else "", " ".join(rest[1:]))
