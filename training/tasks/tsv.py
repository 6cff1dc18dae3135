"""HTML to tab-separated lines with a running total in a column of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from itertools import accumulate
from random import Random

from training.checks import Verdict, compare, unfenced, unread
from training.tasks.family import Family
from training.tasks.forms import forms, join_ask, split_ask
from training.tasks.pools import ANIMALS, COLOURS, JOBS, PEOPLE, TOWNS, mixed, numbers


@dataclass(frozen=True, slots=True)
class Sheet:
    """Columns and rows of the HTML; the last column holds numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def totals(self) -> list[int]:
        """The last column added up to each row."""
        return list(accumulate(int(row[-1]) for row in self.rows))


WORDINGS = forms(
    """
    Convert this HTML to TSV and add a column Total with the running total of the last column.
    Write the rows of this HTML as tab-separated values, with a header line and a running Total \
      at the end of each line.
    Turn the HTML into TSV. The new last column, Total, adds up the numbers so far.
    Extract the data as tab-separated text. Keep the header and add a running total called Total.
    I need this page as TSV, one row a line, with one more column named Total: the running total \
      of the numbers.
    Please take the data out of the HTML and write it with tabs, header first, adding a Total \
      column that keeps a running total.
    Make TSV from the HTML. Leave out all tags. Add Total, the sum of the numbers up to that row.
    Here is some HTML. Give me the same data separated by tabs, plus a running total as the last \
      column Total.
    Strip the tags and write TSV, with a Total column behind the numbers that adds them up row by \
      row.
    Rewrite the markup as a tab-separated table with a header, and append the running Total to \
      every row.
    What is in this HTML? Answer in TSV with a header and a running Total as the last column.
    Copy the data from the HTML into tab-separated lines and add up the last column as you go, in \
      a column Total.
    """
)

TEXTS = (
    ("Name", PEOPLE),
    ("Town", TOWNS),
    ("Job", JOBS),
    ("Animal", ANIMALS),
    ("Colour", COLOURS),
)
COUNTS = (
    *("Points", "Hours", "Boxes", "Goals", "Votes", "Games", "Trips", "Days", "Books", "Calls"),
    *("Stars", "Coins", "Weeks", "Miles", "Lessons", "Parcels"),
)

# Nothing is looked for beyond the next tag of its kind: a prompt of open tags alone would
# otherwise be read to its end from every one of them.
_ELEMENT = r"<({})\b[^<>]*>((?:(?!<\1\b).)*?)</\1>"
_ROW = re.compile(_ELEMENT.format("tr|ul|p|div"), re.DOTALL)
_CELL = re.compile(_ELEMENT.format("td|th|li|span|b"), re.DOTALL)


def draw(rng: Random, split: str) -> Sheet:
    """Nine or ten rows of three texts and a number below ten."""
    count = rng.choice((9, 9, 10))
    kinds = [TEXTS[0], *rng.sample(TEXTS[1:], 2)]
    texts = [rng.sample(mixed(pool, split), count) for _, pool in kinds]
    if rng.random() < 0.5:
        kinds, texts = [kinds[1], kinds[0], kinds[2]], [texts[1], texts[0], texts[2]]
    last = [str(number) for number in numbers(rng, split, count, 2, 9)]
    columns = (*(title for title, _ in kinds), rng.choice(COUNTS))
    return Sheet(columns, tuple(zip(*texts, last, strict=True)))


# How a row is written: its tag, the tag of a cell, and what is around all rows.
_SHAPES = (
    ("tr", "td", "<table>\n{}\n</table>"),
    ("tr", "td", "<table border=1>\n{}\n</table>"),
    ("tr", "td", '<table class="list">\n<tbody>\n{}\n</tbody>\n</table>'),
    ("tr", "td", "<html>\n<body>\n<table>\n{}\n</table>\n</body>\n</html>"),
    ("ul", "li", "{}"),
    ("ul", "li", "<body>\n{}\n</body>"),
    ("div", "span", "{}"),
    ("div", "b", "<section>\n{}\n</section>"),
    ("p", "span", "<main>\n{}\n</main>"),
    ("p", "b", "{}"),
)


def ask(rng: Random, sheet: Sheet) -> str:
    """The sheet in one of several kinds of markup."""
    row_tag, cell_tag, around = rng.choice(_SHAPES)
    head_tag = "th" if cell_tag == "td" and rng.random() < 0.5 else cell_tag
    gap = rng.choice(("", "", " "))
    lines = []
    for at, row in enumerate((sheet.columns, *sheet.rows)):
        tag = cell_tag if at else head_tag
        inside = gap.join(f"<{tag}>{cell}</{tag}>" for cell in row)
        lines.append(f"<{row_tag}>{inside}</{row_tag}>")
    return join_ask(rng, rng.choice(WORDINGS).write(), around.format("\n".join(lines)))


def read(prompt: str) -> Sheet | None:
    """The sheet of a prompt, if its rows are as long as its header and end in a number.

    None without a header: a first row that ends in a number is one of the others.
    """
    for _, body in split_ask(prompt, WORDINGS):
        lines = [
            tuple(unescape(cell).strip() for _, cell in _CELL.findall(inside))
            for _, inside in _ROW.findall(body)
        ]
        if len(lines) < 2 or not all(_fits(line, lines[0]) for line in lines[1:]):
            continue
        if not lines[0][-1].isdecimal():
            return Sheet(lines[0], tuple(lines[1:]))
    return None


def _fits(line: tuple[str, ...], header: tuple[str, ...]) -> bool:
    plain = all(cell and not set(cell) & set("<>\t\n") for cell in (*line, *header))
    number = bool(line) and line[-1].isascii() and line[-1].isdigit() and len(line[-1]) < 5
    return plain and number and len(line) == len(header) > 1


def think(sheet: Sheet) -> str:
    """The header, then a line a row: its cells and the total."""
    last = sheet.columns[-1]
    lines = [
        f"One line a row, tabs between the cells, no tags. The header is "
        f"{', '.join(sheet.columns)}, Total. Total adds up {last}, starting at 0."
    ]
    for row, total in zip(sheet.rows, sheet.totals, strict=True):
        before = total - int(row[-1])
        lines.append(f"{', '.join(row)}: {before} + {row[-1]} = {total}.")
    lines.append(f"That was the last row. The total of {last} is {sheet.totals[-1]}.")
    return "\n".join(lines)


def lines_of(sheet: Sheet) -> list[list[str]]:
    """Header and rows of the answer."""
    rows = [[*row, str(total)] for row, total in zip(sheet.rows, sheet.totals, strict=True)]
    return [[*sheet.columns, "Total"], *rows]


def write(sheet: Sheet) -> str:
    """The lines, with tabs."""
    return "\n".join("\t".join(line) for line in lines_of(sheet))


def grade(sheet: Sheet, answer: str) -> Verdict:
    """Tab-separated lines and nothing else, cell for cell."""
    bare = unfenced(answer)
    lines = [line.split("\t") for line in (bare or "").strip(" \n").splitlines()]
    if not lines or any(len(line) < 2 for line in lines):
        return unread("The answer is not made of tab-separated lines alone.")
    found = [[cell.strip() for cell in line] for line in lines]
    expected = lines_of(sheet)
    if found[0] != expected[0]:
        return unread("The first line is not the header with Total at its end.")
    return compare(expected[1:], found[1:], expected[0])


FAMILY = Family("tsv", draw, ask, read, think, write, grade)
