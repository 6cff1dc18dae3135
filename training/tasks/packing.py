"""A flat list in sections by who, where or in what, with a sum for each and over all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from training.checks import RIGHT, Verdict, unread, wrong
from training.tasks.family import Family
from training.tasks.forms import Form, forms, join_ask, layout, read_any, sentences, split_ask
from training.tasks.pools import CHORES, COLOURS, PEOPLE, ROOMS, THINGS, mixed, numbers


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the list."""

    item: str
    group: str
    amount: int


@dataclass(frozen=True, slots=True)
class Entries:
    """The unit of the amounts and all entries, in the order of the prompt."""

    unit: str
    entries: tuple[Entry, ...]

    def groups(self) -> dict[str, list[Entry]]:
        """The entries by group, groups and entries in the order of the prompt."""
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.group, []).append(entry)
        return found


WORDINGS = forms(
    """
    Regroup this list: one heading a group, its entries below, the sum in {unit:noun} after each \
      group and the total at the end.
    Sort these entries into their groups and add up the {unit:noun} for each group and for all.
    Please group the list. Under each group give its entries and the sum in {unit:noun}; end with \
      the total.
    Write the list again, group by group, with sums in {unit:noun} and a total.
    Who or what belongs together here? Make groups, add up the {unit:noun} of each, and give the \
      total.
    Bring this list into groups in the order in which they first appear, with the {unit:noun} \
      added up.
    I want this by group: heading, entries, sum in {unit:noun}. At the end the total of all groups.
    Can you rearrange these entries by group and tell me the {unit:noun} for each group and \
      altogether?
    Arrange the list by group, keep the order inside a group, and sum up the {unit:noun}.
    Collect the entries that share a group. Each group ends with its sum of {unit:noun}, the list \
      with the total.
    Take this list apart into its groups. How many {unit:noun} does each group have, and how many \
      in all?
    Group these, please, with a sum of {unit:noun} per group and the total in the last line.
    """
)

LINES = forms(
    """
    {item:noun} - {group} - {n:d}
    {item:noun} ({group}, {n:d} {unit:noun})
    {item:noun} | {group} | {n:d}
    {item:noun}, {group}, {n:d} {unit:noun}
    {item:noun}: {group}, {n:d}
    {item:noun} / {group} / {n:d} {unit:noun}
    {item:noun} [{group}] {n:d} {unit:noun}
    {item:noun} goes to {group}, {n:d} {unit:noun}
    {item:noun}; {group}; {n:d}
    {item:noun} = {group} = {n:d} {unit:noun}
    """
)

HEADING = Form("## {group}")
ITEM = Form("- {item:noun}, {n:d} {unit:noun}")
SUM = Form("Sum: {n:total} {unit:noun}")
TOTAL = Form("Total: {n:total} {unit:noun}")


def _bags(split: str) -> list[str]:
    return [f"{colour} {kind}" for colour in mixed(COLOURS, split) for kind in ("bag", "box")]


def draw(rng: Random, split: str) -> Entries:
    """Twelve entries in three groups, a group's entries together.

    To gather scattered entries is beyond a model of this size, and so is a group of six or
    seven, which it ends too soon.
    """
    unit, pool = rng.choice((("kilos", THINGS), ("coins", THINGS), ("minutes", CHORES)))
    kinds = [mixed(PEOPLE, split), mixed(ROOMS, split)]
    if pool is THINGS:
        kinds.append(_bags(split))
    sizes = rng.choice(((4, 4, 4), (3, 4, 5), (5, 3, 4), (4, 5, 3), (3, 5, 4), (5, 4, 3)))
    groups = rng.sample(rng.choice(kinds), len(sizes))
    homes = [group for group, size in zip(groups, sizes, strict=True) for _ in range(size)]
    items = rng.sample(mixed(pool, split), len(homes))
    amounts = numbers(rng, split, len(homes), 2, 6)
    entries = [Entry(*each) for each in zip(items, homes, amounts, strict=True)]
    return Entries(unit, tuple(entries))


def ask(rng: Random, spec: Entries) -> str:
    """The entries in one wording, as a list."""
    form = rng.choice(LINES)
    lines = [
        form.write(item=e.item, group=e.group, n=e.amount, unit=spec.unit) for e in spec.entries
    ]
    return join_ask(rng, rng.choice(WORDINGS).write(unit=spec.unit), layout(rng, lines))


def read(prompt: str) -> Entries | None:
    """The entries of a prompt, if all are in the unit that is to be added up."""
    for slots, body in split_ask(prompt, WORDINGS):
        for form in LINES:
            lines = _entry_lines(form, body)
            found = [form.read(line) for line in lines]
            if not lines or None in found:
                continue
            entries = [Entry(f["item"], f["group"], int(f["n"])) for f in found if f]
            units = {f.get("unit", slots["unit"]) for f in found if f}
            if units == {slots["unit"]} and all(_is_group(entry.group) for entry in entries):
                return Entries(slots["unit"], tuple(entries))
    return None


def _entry_lines(form: Form, body: str) -> list[str]:
    if ";" not in form.template:
        return sentences(body)
    # Semicolons are inside an entry here, not behind it.
    return [line.replace("\0", ";") for line in sentences(body.replace(";", "\0"))]


def _is_group(text: str) -> bool:
    return all(word.isalpha() for word in text.split())


def think(spec: Entries) -> str:
    """The shape, then entry by entry with its group and the sum so far, then the total."""
    lines = [
        f"Each group gets a heading, its entries and its sum in {spec.unit}; the total comes last. "
        "A new group begins at 0."
    ]
    sums = []
    for group, entries in spec.groups().items():
        so_far = 0
        for entry in entries:
            step = f"{so_far} + {entry.amount} = {so_far + entry.amount}"
            lines.append(f"- {entry.item}, {group}: {step}.")
            so_far += entry.amount
        sums.append(so_far)
    shown = ", ".join(f"{group} {n}" for group, n in zip(spec.groups(), sums, strict=True))
    lines.append(f"Sums: {shown}. {_adding(sums)}. The total is {sum(sums)} {spec.unit}.")
    return "\n".join(lines)


def _adding(amounts: list[int]) -> str:
    """Every partial sum: `3 + 4 = 7, 7 + 2 = 9`."""
    if len(amounts) == 1:
        return f"only {amounts[0]}"
    partial = list(accumulate(amounts))
    steps = zip(partial[:-1], amounts[1:], partial[1:], strict=True)
    return ", ".join(f"{before} + {more} = {after}" for before, more, after in steps)


def write(spec: Entries) -> str:
    """The groups, an empty line between them."""
    blocks = []
    for group, entries in spec.groups().items():
        lines = [HEADING.write(group=group)]
        lines += [ITEM.write(item=entry.item, n=entry.amount, unit=spec.unit) for entry in entries]
        lines.append(SUM.write(n=sum(entry.amount for entry in entries), unit=spec.unit))
        blocks.append("\n".join(lines))
    total = sum(entry.amount for entry in spec.entries)
    return "\n\n".join([*blocks, TOTAL.write(n=total, unit=spec.unit)])


Block = tuple[str, list[tuple[str, str]], int, str]


def _blocks(answer: str) -> tuple[list[Block], dict[str, str]] | None:
    """Group, entries, sum and unit of each block, and the slots of the last line."""
    *parts, last = [block.strip() for block in re.split(r"\n\s*\n", answer.strip())]
    total = TOTAL.read(last)
    blocks: list[Block] = []
    for lines in (block.splitlines() for block in parts):
        if len(lines) < 3:
            return None
        heading, ending = HEADING.read(lines[0].strip()), SUM.read(lines[-1].strip())
        items = [read_any([ITEM], line.strip()) for line in lines[1:-1]]
        if heading is None or ending is None or None in items:
            return None
        pairs = [(item["item"], f"{item['n']} {item['unit']}") for item in items if item]
        blocks.append((heading["group"], pairs, int(ending["n"]), ending["unit"]))
    return (blocks, total) if blocks and total else None


def grade(spec: Entries, answer: str) -> Verdict:
    """Blocks and the total, entry for entry, and every sum."""
    found = _blocks(answer)
    if found is None:
        return unread("The answer is not made of groups with entries and a sum, and a total.")
    blocks, total = found
    groups = spec.groups()
    if [block[0] for block in blocks] != list(groups):
        return wrong(f"The groups are {', '.join(block[0] for block in blocks)}.")
    for (group, items, together, unit), entries in zip(blocks, groups.values(), strict=True):
        verdict = _grade_group(group, items, entries, spec.unit)
        if not verdict.right:
            return verdict
        if (together, unit) != (sum(e.amount for e in entries), spec.unit):
            return wrong(f"The sum of {group} is given as {together} {unit}.")
    if total != {"n": str(sum(e.amount for e in spec.entries)), "unit": spec.unit}:
        return wrong(f"The total is given as {total['n']} {total['unit']}.")
    return RIGHT


def _grade_group(
    group: str, items: list[tuple[str, str]], entries: list[Entry], unit: str
) -> Verdict:
    for (item, amount), entry in zip(items, entries, strict=False):
        if item != entry.item:
            return wrong(f"{item} stands in {group} where {entry.item} should.")
        if amount != f"{entry.amount} {unit}":
            return wrong(f"{item} has {amount}, not {entry.amount} {unit}.")
    if len(items) != len(entries):
        return wrong(f"{group} has {len(items)} entries instead of {len(entries)}.")
    return RIGHT


FAMILY = Family("packing", draw, ask, read, think, write, grade)
