"""Short exercises in what all families need: adding up, copying words, finding one's place.

A small model goes wrong in single sums and single names, and a text that is nothing but
sums or names trains them with a fraction of a task's tokens.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from random import Random

from training.tasks.family import Example
from training.tasks.pools import GOODS, PEOPLE, THINGS, TOWNS, WARES, mixed, numbers

_LISTS = {"names": PEOPLE, "towns": TOWNS, "things": THINGS, "goods": GOODS, "wares": WARES}


def make(seed: int, split: str) -> Example:
    """The drill of a seed."""
    rng = Random(f"drill {split} {seed}")  # noqa: S311 (nothing secret)
    prompt, thinking, answer = rng.choice((_adding, _copying, _finding))(rng, split)
    return Example("drill", prompt, thinking, answer)


def _adding(rng: Random, split: str) -> tuple[str, str, str]:
    """Every partial sum of small numbers, from zero or from a number on."""
    start = rng.choice((0, 0, rng.randint(1, 60)))
    terms = numbers(rng, split, rng.randint(10, 14), 1, 9)
    shown = rng.choice((", ", " + ", " ")).join(map(str, terms))
    prompt = rng.choice(
        (
            f"Add these numbers one after the other, starting at {start}: {shown}",
            f"Start with {start} and add up: {shown}",
            f"{shown}\n\nWhat is the sum of these, on top of {start}?",
        )
    )
    sums = list(accumulate(terms, initial=start))
    steps = zip(pairwise(sums), terms, strict=True)
    lines = "\n".join(f"{before} + {term} = {after}." for (before, after), term in steps)
    thinking = f"I add one number after the other, starting at {start}.\n{lines}"
    return prompt, thinking, f"The sum is {sums[-1]}."


def _copying(rng: Random, split: str) -> tuple[str, str, str]:
    """A list of words written again, once on a line and once below each other."""
    what = rng.choice(list(_LISTS))
    words = rng.sample(mixed(_LISTS[what], split), rng.randint(8, 11))
    shown = rng.choice((", ", "; ", " / ", "\n* ", "\n- "))
    prompt = rng.choice(
        (
            f"Write these {what} below each other, in the same order:",
            f"Copy the list of {what}, one a line.",
            f"One line for each of these {what}, please:",
        )
    )
    mark = shown.lstrip("\n") if shown.startswith("\n") else ""
    body = f"{prompt}\n\n{mark}{shown.join(words)}"
    thinking = f"The {what} in their order: {', '.join(words)}. Each gets a line."
    return body, thinking, "\n".join(f"- {word}" for word in words)


def _finding(rng: Random, split: str) -> tuple[str, str, str]:
    """Pairs of words, of which some are asked for by the first one, in another order."""
    count = rng.randint(7, 9)
    people = rng.sample(mixed(PEOPLE, split), count)
    things = rng.sample(mixed(rng.choice((THINGS, TOWNS)), split), count)
    sign = rng.choice((": ", " - ", ", ", " = "))
    pairs = dict(zip(people, things, strict=True))
    listed = "\n".join(f"- {name}{sign}{thing}" for name, thing in pairs.items())
    asked = rng.sample(people, rng.randint(5, 6))
    wish = rng.choice(("Give me the entries of", "What belongs to", "Look up"))
    end = "?" if wish.startswith("What") else "."
    prompt = f"{wish} {', '.join(asked)}{end}\n\n{listed}"
    found = " ".join(f"{name}: {pairs[name]}." for name in asked)
    thinking = f"I look for each name in the list and read on from it. {found}"
    return prompt, thinking, "\n".join(f"- {name}: {pairs[name]}" for name in asked)
