"""What people paid, to JSON with a sum in each object and a running total."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from training.checks import RIGHT, Verdict, json_value, unread, wrong
from training.tasks.family import Family
from training.tasks.forms import forms, join_ask, layout, read_all, sentences, split_ask
from training.tasks.pools import PEOPLE, WARES, numbers, quoted


@dataclass(frozen=True, slots=True)
class Purchases:
    """Names and the two amounts of each, in the order of the prompt, and the total before."""

    start: int
    first: str
    second: str
    paid: tuple[tuple[str, int, int], ...]

    def objects(self) -> list[dict[str, str | int]]:
        """The objects of the answer."""
        totals = list(accumulate((a + b for _, a, b in self.paid), initial=self.start))[1:]
        return [
            {"name": name, self.first: a, self.second: b, "sum": a + b, "total": total}
            for (name, a, b), total in zip(self.paid, totals, strict=True)
        ]


WORDINGS = forms(
    """
    Write this as a JSON list with the name, both amounts, their sum and a running total that \
      starts at {start:d}.
    Turn the sentences into JSON: one object a person with the name, both amounts, "sum" and \
      "total". The total starts at {start:d} and keeps running.
    The box held {start:d} before. Make a JSON list of who paid what, with the sum for each \
      person and the total in the box after each payment.
    I want these payments as JSON. Give each object a sum and the running total, which begins at \
      {start:d}.
    Please convert this to a JSON list. Each person gets one object with both amounts, a sum and \
      a running total; count the total on from {start:d}.
    Make JSON from these notes, one object per person, with "sum" for both amounts and "total" \
      for all sums so far on top of {start:d}.
    Can you give me this as a JSON list? Add a sum per person and a running total. There were \
      {start:d} coins at the start.
    We began with {start:d}. Put this into JSON with a sum and a running total in every object.
    List these payments in JSON. Keys: the name, both things, sum, total. The running total \
      starts at {start:d}.
    Here is who paid what. As JSON please, with each person's sum and the total so far, starting \
      from {start:d}.
    Rewrite these payments as JSON objects with a sum and a running total; {start:d} had been \
      paid before.
    Bring this into JSON form: name, amounts, sum, and a running total over all people that \
      starts with {start:d}.
    """
)

SENTENCES = forms(
    """
    {name:name} paid {a:d} for {first:noun} and {b:d} for {second:noun}
    {name:name} spent {a:d} on {first:noun} and {b:d} on {second:noun}
    {name:name} gave {a:d} for the {first:noun} and {b:d} for the {second:noun}
    {name:name} had {a:d} to pay for {first:noun} and {b:d} for {second:noun}
    {name:name} put in {a:d} for {first:noun}, then {b:d} for {second:noun}
    {name:name} paid for {first:noun} with {a:d} and for {second:noun} with {b:d}
    {name:name} owes {a:d} for {first:noun} plus {b:d} for {second:noun}
    {name:name}: {first:noun} {a:d}, {second:noun} {b:d}
    {name:name} ({first:noun} {a:d}, {second:noun} {b:d})
    {name:name} / {first:noun} {a:d} / {second:noun} {b:d}
    """
)


def draw(rng: Random, split: str) -> Purchases:
    """Five to seven people, small amounts: only the running total has two digits."""
    count = rng.randint(5, 7)
    first, second = rng.sample(quoted(WARES, split), 2)
    people = rng.sample(quoted(PEOPLE, split), count)
    start, *amounts = numbers(rng, split, 2 * count + 1, 2, 5)
    paid = tuple(zip(people, amounts[::2], amounts[1::2], strict=True))
    return Purchases(start + rng.choice((0, 10)), first, second, paid)


def ask(rng: Random, spec: Purchases) -> str:
    """The payments in one or two wordings, as a list."""
    used = rng.sample(SENTENCES, rng.choice((1, 1, 2)))
    notes = [
        rng.choice(used).write(name=name, a=a, b=b, first=spec.first, second=spec.second)
        for name, a, b in spec.paid
    ]
    return join_ask(rng, rng.choice(WORDINGS).write(start=spec.start), layout(rng, notes))


def read(prompt: str) -> Purchases | None:
    """The payments of a prompt, if all are for the same two things, and those can be keys."""
    for slots, body in split_ask(prompt, WORDINGS):
        notes = read_all(SENTENCES, sentences(body))
        things = {(note["first"], note["second"]) for note in notes or ()}
        if notes and len(things) == 1 and len({"name", "sum", "total"}.union(*things)) == 5:
            paid = tuple((note["name"], int(note["a"]), int(note["b"])) for note in notes)
            return Purchases(int(slots["start"]), notes[0]["first"], notes[0]["second"], paid)
    return None


def think(spec: Purchases) -> str:
    """The keys, then a line a person: the amounts, their sum, the total."""
    keys = f"name, {spec.first}, {spec.second}, sum, total"
    lines = [
        f"A JSON list, one object a person, one a line, with the keys {keys}. "
        f"Sum is {spec.first} plus {spec.second}. The total starts at {spec.start}."
    ]
    total = spec.start
    for name, a, b in spec.paid:
        lines.append(
            f"{name}: {spec.first} {a}, {spec.second} {b}; {a} + {b} = {a + b}; "
            f"total {total} + {a + b} = {total + a + b}."
        )
        total += a + b
    lines.append(f"That was the last person. The last total is {total}.")
    return "\n".join(lines)


def write(spec: Purchases) -> str:
    """The list, an object a line."""
    objects = ",\n".join(f"  {json.dumps(each)}" for each in spec.objects())
    return f"[\n{objects}\n]"


def grade(spec: Purchases, answer: str) -> Verdict:
    """JSON and nothing else: the same objects with the same keys and values."""
    found = json_value(answer)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        return unread("The answer is not a JSON list of objects alone.")
    expected = spec.objects()
    for at, (want, have) in enumerate(zip(expected, found, strict=False), 1):
        if set(want) != set(have):
            return wrong(f"Object {at} has the keys {', '.join(map(repr, have)) or 'none'}.")
        for key, value in want.items():
            if have[key] != value or isinstance(have[key], bool | float):
                # With quotes: "3" is not 3, and what is in them keeps to one line.
                return wrong(f"Object {at}: {key} is {have[key]!r}, not {value!r}.")
    if len(found) != len(expected):
        return wrong(f"There are {len(found)} objects instead of {len(expected)}.")
    return RIGHT


FAMILY = Family("purchases", draw, ask, read, think, write, grade)
