"""What comes after what, to a timetable with begin and end of every item.

Each item but the first names the one it follows; all minutes lie within one hour, so the
times are running sums of small numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from training.checks import Verdict, compare, unread, wrong
from training.tasks.family import Family
from training.tasks.forms import Form, forms, join_ask, layout, read_any, sentences, split_ask
from training.tasks.pools import ACTS, PEOPLE, mixed, numbers


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the programme, the one before it (none before the first), and its minutes."""

    name: str
    after: str | None
    who: str
    minutes: int


@dataclass(frozen=True, slots=True)
class Programme:
    """Hour and minute of the beginning, and the items in the order of the prompt."""

    hour: int
    minute: int
    items: tuple[Item, ...]

    def order(self) -> list[Item]:
        """The items from first to last; none if they are not one chain."""
        following = {item.after: item for item in self.items}
        chain: list[Item] = []
        at: str | None = None
        while at in following and len(chain) < len(self.items):
            chain.append(following[at])
            at = chain[-1].name
        whole = len(chain) == len(self.items) == len({item.name for item in self.items})
        return chain if whole else []

    def ends(self) -> list[int]:
        """The minute in which each item of the order ends."""
        ends, at = [], self.minute
        for item in self.order():
            at += item.minutes
            ends.append(at)
        return ends


WORDINGS = forms(
    """
    Make a timetable from these notes. The programme begins at {hour:d}:{minute:d} and there are \
      no breaks between the items.
    We start at {hour:d}:{minute:d}. Put the items into order and write a timetable with begin \
      and end of each.
    Please write the programme as a timetable. It starts at {hour:d}:{minute:d}, and each item \
      follows the last at once.
    Work out when each item begins and ends if we begin at {hour:d}:{minute:d}, and list them in \
      order.
    Here is what comes after what. Turn it into a timetable that starts at {hour:d}:{minute:d}.
    I need a timetable in the right order with begin, end, person and minutes. The first item \
      begins at {hour:d}:{minute:d}.
    The party starts at {hour:d}:{minute:d}. Can you order these items and write down the times?
    Order this programme and give the times, beginning at {hour:d}:{minute:d}.
    Write down the schedule: one line an item, begin and end, starting at {hour:d}:{minute:d}.
    When does each item begin and end? Start at {hour:d}:{minute:d} and write one line for each, \
      in order.
    Plan the event from these constraints. It opens at {hour:d}:{minute:d}, and one item \
      follows the other.
    Sort out this programme. The doors open at {hour:d}:{minute:d} with the first item; list all \
      items with their times.
    """
)

# The wordings of a style go together: that of the first item, that of all others, and what
# stands behind the last one. That nothing follows has to be said: what is not in a prompt
# is the hardest to find there.
STYLES = (
    (
        "First comes the {name:noun} with {who:name}, {n:d} minutes",
        "After the {after:noun} comes the {name:noun} with {who:name}, {n:d} minutes",
        "After the {after:noun} comes nothing",
    ),
    (
        "The {name:noun} by {who:name} opens and takes {n:d} minutes",
        "The {after:noun} is followed by the {name:noun} by {who:name}, which takes {n:d} minutes",
        "The {after:noun} is followed by nothing",
    ),
    (
        "At the beginning: {name:noun} ({who:name}, {n:d} minutes)",
        "After {after:noun}: {name:noun} ({who:name}, {n:d} minutes)",
        "After {after:noun}: the end",
    ),
    (
        "We begin with the {name:noun} ({who:name}, {n:d} min)",
        "Once the {after:noun} is over, the {name:noun} follows ({who:name}, {n:d} min)",
        "Once the {after:noun} is over, all go home",
    ),
    (
        "start -> {name:noun}, {who:name}, {n:d} min",
        "{after:noun} -> {name:noun}, {who:name}, {n:d} min",
        "{after:noun} -> end",
    ),
    (
        "{who:name} opens with the {name:noun} for {n:d} minutes",
        "Right behind the {after:noun} {who:name} has the {name:noun} for {n:d} minutes",
        "Right behind the {after:noun} comes nothing",
    ),
    (
        "Nothing comes before the {name:noun}, for which {who:name} needs {n:d} minutes",
        "Next after the {after:noun} is the {name:noun}, for which {who:name} needs {n:d} minutes",
        "Next after the {after:noun} is the way home",
    ),
    (
        "First item: {name:noun}, led by {who:name}, {n:d} minutes",
        "Following the {after:noun}: {name:noun}, led by {who:name}, {n:d} minutes",
        "Following the {after:noun}: the end",
    ),
)
_STYLES = tuple((Form(first), Form(other), Form(end)) for first, other, end in STYLES)

LINE = Form("{h1:d}:{begin:d}-{h2:d}:{end:d} {name:noun}, {who:name}, {n:d} minutes")
TAIL = Form("The end is at {hour:d}:{end:d}.")
COLUMNS = (
    *("the hour of the begin", "the begin", "the hour of the end", "the end"),
    *("the item", "the person", "the length"),
)


def draw(rng: Random, split: str) -> Programme:
    """Seven or eight items that end before the hour does."""
    count = rng.choice((7, 7, 8))
    names, people = rng.sample(mixed(ACTS, split), count), rng.sample(mixed(PEOPLE, split), count)
    minute = rng.randint(10, 15)
    minutes = numbers(rng, split, count, 3, 9, most=59 - minute)
    before = [None, *names[:-1]]
    items = [Item(*each) for each in zip(names, before, people, minutes, strict=True)]
    rng.shuffle(items)
    return Programme(rng.randint(9, 21), minute, tuple(items))


def ask(rng: Random, programme: Programme) -> str:
    """The items and the end in one style, shuffled, as a list."""
    first, other, end = rng.choice(_STYLES)
    lines = [
        (other if item.after else first).write(
            name=item.name, after=item.after, who=item.who, n=item.minutes
        )
        for item in programme.items
    ]
    lines.insert(rng.randrange(len(lines) + 1), end.write(after=programme.order()[-1].name))
    wording = rng.choice(WORDINGS).write(hour=programme.hour, minute=programme.minute)
    return join_ask(rng, wording, layout(rng, lines))


def read(prompt: str) -> Programme | None:
    """The items of a prompt, if they are one chain that fits into the hour.

    None for an hour like 09: whether the answer has to say 9 or 09 would be a guess.
    """
    for slots, body in split_ask(prompt, WORDINGS):
        if slots["hour"] != str(int(slots["hour"])):
            continue
        for style in _STYLES:
            items = _items(style, sentences(body))
            if not items:
                continue
            programme = Programme(int(slots["hour"]), int(slots["minute"]), tuple(items))
            ends = programme.ends()
            if ends and programme.minute >= 10 and ends[-1] < 60 and programme.hour < 24:
                return programme
    return None


def _items(style: tuple[Form, Form, Form], lines: list[str]) -> list[Item]:
    """The items of lines that are all in one style; none if they are not.

    That nothing follows the last one may be said, and then has to be said of the last one.
    """
    first, other, end = style
    items, last = [], None
    for line in lines:
        closing = end.read(line)
        slots = None if closing else first.read(line) or other.read(line)
        if closing and last is None:
            last = closing["after"]
        elif slots:
            items.append(Item(slots["name"], slots.get("after"), slots["who"], int(slots["n"])))
        else:
            return []
    if last and (last not in {i.name for i in items} or last in {i.after for i in items}):
        return []
    return items


def think(programme: Programme) -> str:
    """The shape, then the chain item by item with every partial sum."""
    lines = [
        f"A timetable, one line an item: begin-end, item, person, minutes; the last line says "
        f"the end. The hour is always {programme.hour}. It begins at minute {programme.minute}."
    ]
    at, before = programme.minute, ""
    for item in programme.order():
        lead = f"After {before}" if before else "First"
        lines.append(
            f"{lead}: {item.name}, {item.who}, {item.minutes} minutes. "
            f"{at} + {item.minutes} = {at + item.minutes}."
        )
        at, before = at + item.minutes, item.name
    lines.append(f"After {before}: nothing. The end is at {programme.hour}:{at}.")
    return "\n".join(lines)


def rows_of(programme: Programme) -> list[list[str]]:
    """The values of each line of the timetable."""
    rows, hour, begin = [], str(programme.hour), programme.minute
    for item, end in zip(programme.order(), programme.ends(), strict=True):
        values = (hour, begin, hour, end, item.name, item.who, item.minutes)
        rows.append([str(value) for value in values])
        begin = end
    return rows


def write(programme: Programme) -> str:
    """The timetable."""
    slots = ("h1", "begin", "h2", "end", "name", "who", "n")
    lines = [LINE.write(**dict(zip(slots, row, strict=True))) for row in rows_of(programme)]
    return "\n".join([*lines, TAIL.write(hour=programme.hour, end=programme.ends()[-1])])


def grade(programme: Programme, answer: str) -> Verdict:
    """Lines and the end, value for value."""
    lines = [line.strip() for line in answer.strip().splitlines()]
    found = [read_any([LINE], line) for line in lines[:-1]]
    tail = TAIL.read(lines[-1]) if lines else None
    if not found or tail is None or None in found:
        return unread("The answer is not a timetable with a line for each item and the end.")
    rows = [list(slots.values()) for slots in found if slots]
    verdict = compare(rows_of(programme), rows, COLUMNS)
    end = {"hour": str(programme.hour), "end": str(programme.ends()[-1])}
    if verdict.right and tail != end:
        return wrong(f"The last line says {tail['hour']}:{tail['end']}.")
    return verdict


FAMILY = Family("programme", draw, ask, read, think, write, grade)
