"""Notes to a Markdown table with a sum in each row and a running total."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from random import Random

from training.checks import Verdict, compare, markdown_rows, unread
from training.tasks.family import Family
from training.tasks.forms import forms, join_ask, layout, read_all, sentences, split_ask
from training.tasks.pools import GOODS, PEOPLE, TOWNS, mixed, numbers


@dataclass(frozen=True, slots=True)
class Row:
    """Who had how many of both things, and where."""

    name: str
    place: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """All rows, in the order of the notes, and what was counted."""

    first: str
    second: str
    rows: tuple[Row, ...]

    @property
    def columns(self) -> list[str]:
        """The header of the table."""
        return ["Name", "Place", self.first, self.second, "Sum", "Total"]

    @property
    def sums(self) -> list[int]:
        """Both things of a row together."""
        return [row.first + row.second for row in self.rows]

    @property
    def totals(self) -> list[int]:
        """All sums up to a row."""
        return list(accumulate(self.sums))


WORDINGS = forms(
    """
    Make a Markdown table of these notes: name, place, both counts, their sum and a running total.
    Turn the notes into a Markdown table. Add the sum of each row and a running total.
    Put this into a Markdown table with columns for the name, the place, both counts, Sum and \
      Total. Total adds up the sums so far.
    I need a Markdown table of what is written here, with a sum for each person and the total so \
      far.
    Please write these records as a table in Markdown. Each row gets a sum, and a total that \
      keeps running.
    Can you make a table in Markdown from this? Give the sum per row and the running total in the \
      last two columns.
    Here are my notes. Write them as a Markdown table and add two columns, Sum and Total, where \
      Total is the running total.
    List this in a Markdown table, one row a person, with the sum of both counts and the running \
      total.
    Write a Markdown table: who, where, how many of each, the sum, and the total up to that row.
    Please tabulate these counts in Markdown, adding each person's sum and a running total over \
      the rows.
    Bring these sentences into the form of a Markdown table and work out a sum and a running \
      total for every row.
    What would this look like as a Markdown table with a Sum column and a running Total column?
    """
)

SENTENCES = forms(
    """
    {name:name} from {place:name} picked {a:d} {first:noun} and {b:d} {second:noun}
    {name:name} in {place:name} sold {a:d} {first:noun} and {b:d} {second:noun}
    {name:name} ({place:name}) has {a:d} {first:noun} and {b:d} {second:noun}
    {name:name} in {place:name} counted {a:d} {first:noun} and {b:d} {second:noun}
    {name:name} went to {place:name} and bought {a:d} {first:noun} and {b:d} {second:noun}
    {name:name} came to {place:name} for {a:d} {first:noun} and {b:d} {second:noun}
    {name:name} of {place:name} brought {a:d} {first:noun}, then {b:d} {second:noun}
    {name:name} / {place:name} / {a:d} {first:noun} / {b:d} {second:noun}
    {name:name}, {place:name}: {a:d} {first:noun}, {b:d} {second:noun}
    {name:name} left {place:name} with {a:d} {first:noun} plus {b:d} {second:noun}
    """
)


def draw(rng: Random, split: str) -> Ledger:
    """Seven or eight rows of two small numbers: only the running total has two digits."""
    count = rng.randint(7, 8)
    first, second = rng.sample(mixed(GOODS, split), 2)
    people, towns = rng.sample(mixed(PEOPLE, split), count), rng.sample(mixed(TOWNS, split), count)
    counts = numbers(rng, split, 2 * count, 2, 5)
    rows = zip(people, towns, counts[::2], counts[1::2], strict=True)
    return Ledger(first, second, tuple(Row(*row) for row in rows))


def ask(rng: Random, ledger: Ledger) -> str:
    """The notes in one or two wordings, as a list."""
    used = rng.sample(SENTENCES, rng.choice((1, 1, 2)))
    notes = [
        rng.choice(used).write(
            name=row.name,
            place=row.place,
            a=row.first,
            b=row.second,
            first=ledger.first,
            second=ledger.second,
        )
        for row in ledger.rows
    ]
    return join_ask(rng, rng.choice(WORDINGS).write(), layout(rng, notes))


def read(prompt: str) -> Ledger | None:
    """The notes of a prompt, if all of them count the same two things."""
    for _, body in split_ask(prompt, WORDINGS):
        notes = read_all(SENTENCES, sentences(body))
        if notes and len({(note["first"], note["second"]) for note in notes}) == 1:
            rows = [Row(n["name"], n["place"], int(n["a"]), int(n["b"])) for n in notes]
            return Ledger(notes[0]["first"], notes[0]["second"], tuple(rows))
    return None


def think(ledger: Ledger) -> str:
    """The shape, then a line a row: what it says, its sum, the total."""
    lines = [
        f"A Markdown table with the columns {', '.join(ledger.columns)}, rows as in the notes. "
        f"Sum is {ledger.first} plus {ledger.second}. Total adds up the sums."
    ]
    for row, total, together in zip(ledger.rows, ledger.totals, ledger.sums, strict=True):
        lines.append(
            f"- {row.name}, {row.place}: {row.first} + {row.second} = {together}; "
            f"total {total - together} + {together} = {total}."
        )
    lines.append(f"That was the last note. The last total is {ledger.totals[-1]}.")
    return "\n".join(lines)


def cells(ledger: Ledger) -> list[list[str]]:
    """The rows of the table, without its header."""
    return [
        [row.name, row.place, str(row.first), str(row.second), str(together), str(total)]
        for row, together, total in zip(ledger.rows, ledger.sums, ledger.totals, strict=True)
    ]


def write(ledger: Ledger) -> str:
    """The table."""
    rule = ["---"] * len(ledger.columns)
    return "\n".join(f"| {' | '.join(row)} |" for row in [ledger.columns, rule, *cells(ledger)])


def grade(ledger: Ledger, answer: str) -> Verdict:
    """A table and nothing else, cell for cell."""
    found = markdown_rows(answer)
    if found is None:
        return unread("The answer is not one Markdown table alone.")
    # Most prompts leave the titles to the writer, but not what was counted.
    titles = [title.casefold() for title in found[0]]
    things = zip((ledger.first, ledger.second), titles[2:4], strict=False)
    apart = len(set(titles) - {""}) == len(titles) == len(ledger.columns)
    if not apart or any(thing.casefold() not in title for thing, title in things):
        return unread("The header of the table has not the columns that were asked for.")
    return compare(cells(ledger), found[1:], ledger.columns)


FAMILY = Family("table", draw, ask, read, think, write, grade)
