"""Slots of a topic that follow from others or from a draw, such as a sum and its terms.

All take the same: a source of chance, the split, and the slots that are filled already.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from training import facts
from training.tasks.pools import ANIMALS, JOBS, PEOPLE, part
from training.topic import Slots


def sums(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """Two numbers and a small third, their sum and that of all three."""
    a, b, c = rng.randint(3, 60), rng.randint(3, 39), rng.randint(2, 9)
    return {
        key: str(n) for key, n in (("a", a), ("b", b), ("c", c), ("s", a + b), ("t", a + b + c))
    }


def left(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """A number, a small one to take away, and the rest."""
    b, rest = rng.randint(2, 9), rng.randint(2, 19)
    return {"a": str(b + rest), "b": str(b), "r": str(rest)}


def larger(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """Two numbers, and which is more."""
    a, b = rng.sample(range(10, 100), 2)
    return {"a": str(a), "b": str(b), "more": str(max(a, b)), "less": str(min(a, b))}


def sequence(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """Numbers with the same step between them, and the next one."""
    start, step = rng.randint(1, 20), rng.randint(2, 6)
    terms = [start + step * at for at in range(5)]
    found = {"shown": ", ".join(map(str, terms[:4])), "step": str(step)}
    return found | {"last": str(terms[3]), "next": str(terms[4])}


def members(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """Some members of a group, as lists of several kinds."""
    group = rng.choice(part(sorted(facts.GROUPS), split))
    count = rng.randint(3, 6)
    chosen = rng.sample(facts.GROUPS[group].split(", "), count)
    word = ("three", "four", "five", "six")[count - 3]
    bullets = "\n".join(f"- {each}" for each in chosen)
    numbered = "\n".join(f"{at}. {each}" for at, each in enumerate(chosen, 1))
    found = {"group": group, "n": word, "bullets": bullets, "numbered": numbered}
    return found | {"listed": ", ".join(chosen), "one": chosen[0]}


def odd_one(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """Three words of a group and one of another."""
    group, other = rng.sample(part(sorted(facts.GROUPS), split), 2)
    inside, outside = (facts.GROUPS[name].split(", ") for name in (group, other))
    # An orange is a fruit and a colour: what is in both groups is in no question.
    chosen = rng.sample([word for word in inside if word not in outside], 3)
    odd = rng.choice([word for word in outside if word not in inside])
    shown = rng.sample([*chosen, odd], 4)
    found = {"shown": ", ".join(shown), "odd": odd, "group": group, "other": other}
    return found | {"three": ", ".join(chosen)}


def alphabet(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """Words with different first letters, and in their order."""
    words = rng.sample(part(ANIMALS, split), 4)
    while len({word[0] for word in words}) < 4:
        words = rng.sample(part(ANIMALS, split), 4)
    ordered = sorted(words)
    first = ", ".join(f"{word} with {word[0]}" for word in ordered)
    return {"shown": ", ".join(words), "ordered": ", ".join(ordered), "first": first}


def translation(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """A language and the phrase in it."""
    language = rng.choice(("french", "spanish", "german", "italian"))
    return {"language": language.capitalize(), "there": slots[language]}


def clock(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """A time after noon in both ways of writing it."""
    hour, minute = rng.randint(1, 11), rng.choice(("00", "10", "15", "20", "30", "45"))
    return {"late": f"{hour + 12}:{minute}", "twelve": f"{hour}:{minute} pm", "h": str(hour + 12)}


def lookup(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """A passage of several definitions, one of them asked for."""
    rows = rng.sample(part(facts.CONCEPTS, split), rng.randint(4, 6))
    told = [f"{r['term'].capitalize()} is {r['is']}. In short, {r['use']}." for r in rows]
    asked = rng.choice(rows)
    terms = ", ".join(row["term"] for row in rows)
    return {**asked, "passage": " ".join(told), "terms": terms}


def digest(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """A passage about three animals."""
    rows = rng.sample(part(facts.ANIMALS, split), 3)
    told = [
        f"{r['animal'].capitalize()} has {r['looks']}. It lives {r['lives']} and eats {r['eats']}."
        for r in rows
    ]
    names = [row["animal"] for row in rows]
    return {"passage": "\n\n".join(told), "named": f"{names[0]}, {names[1]} and {names[2]}"}


def small_table(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """Three people with their jobs, in words and as a table."""
    people, jobs = rng.sample(part(PEOPLE, split), 3), rng.sample(part(JOBS, split), 3)
    pairs = list(zip(people, jobs, strict=True))
    told = ", ".join(f"{name} is {'an' if job[0] in 'aeiou' else 'a'} {job}" for name, job in pairs)
    lines = ["| Name | Job |", "| --- | --- |", *(f"| {name} | {job} |" for name, job in pairs)]
    return {"told": told, "table": "\n".join(lines), "named": ", ".join(people)}


def person(rng: Random, split: str, slots: Slots) -> Mapping[str, str]:
    """An age."""
    return {"age": str(rng.randint(19, 80))}
