"""A route through a list of one-way connections to a numbered itinerary.

From every stop at most one connection leaves, so a careful walk finds the way without
ever turning back. Every connection is told from its start on: what stands before a name
is much harder to find for a model than what stands behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random

from training.checks import Verdict, compare, unread, wrong
from training.tasks.family import Family
from training.tasks.forms import Form, forms, join_ask, layout, read_all, sentences, split_ask
from training.tasks.pools import MEANS, TOWNS, mixed, numbers


@dataclass(frozen=True, slots=True)
class Leg:
    """One connection."""

    start: str
    end: str
    means: str
    minutes: int


@dataclass(frozen=True, slots=True)
class Network:
    """Start, goal and all connections, in the order of the prompt."""

    start: str
    goal: str
    legs: tuple[Leg, ...]

    def walk(self) -> list[Leg]:
        """The legs from start to goal; none if the goal is not reached."""
        onward = {leg.start: leg for leg in self.legs}
        way: list[Leg] = []
        at = self.start
        while at != self.goal and at in onward and len(way) < len(self.legs):
            way.append(onward[at])
            at = onward[at].end
        return way if at == self.goal else []


WORDINGS = forms(
    """
    Find the way from {start:name} to {goal:name} with these one-way connections and write a \
      numbered itinerary with the minutes so far.
    How do I get from {start:name} to {goal:name}? Number the steps and add up the minutes. The \
      connections run one way.
    Write a numbered list of the steps from {start:name} to {goal:name}, with a running sum of \
      the minutes. Each connection goes one way only.
    I am in {start:name} and want to go to {goal:name}. Please plan the trip step by step, with \
      the minutes so far.
    Plan a journey from {start:name} to {goal:name}. Use only the connections listed, number the \
      steps and keep a running total of the minutes.
    Give me an itinerary from {start:name} to {goal:name}: numbered steps, the means, the \
      minutes, and the minutes so far.
    My trip starts in {start:name} and ends in {goal:name}. Which connections do I take? Answer \
      as a numbered itinerary with running minutes.
    Starting at {start:name}, work out the route to {goal:name}. Number every step and say how \
      many minutes have gone by.
    Please list the stages from {start:name} to {goal:name} in order, with numbers and the time \
      in minutes added up.
    A friend travels from {start:name} to {goal:name}. Write down the steps with numbers, and how \
      long it takes so far after each.
    Use the connections to go from {start:name} to {goal:name}. I need numbered steps and the sum \
      of the minutes.
    Which way leads from {start:name} to {goal:name}? Show it as a numbered itinerary and count \
      the minutes along the way.
    """
)

CONNECTIONS = forms(
    """
    {a:name} to {b:name} by {means:noun}, {n:d} minutes
    {a:name} to {b:name}: {means:noun}, {n:d} minutes
    {a:name} -> {b:name} ({means:noun}, {n:d} min)
    {a:name} - {b:name}, {means:noun}, {n:d} min
    {a:name} > {b:name} | {means:noun} | {n:d}
    {a:name}, {b:name}, {means:noun}, {n:d}
    From {a:name} to {b:name} by {means:noun}, {n:d} min
    From {a:name} to {b:name} goes a {means:noun}, {n:d} minutes
    From {a:name} to {b:name} take the {means:noun}, {n:d} minutes
    {a:name} to {b:name} = {means:noun}, {n:d} min
    """
)

HEAD = Form("From {start:name} to {goal:name}:")
STEP = Form("{i:d}. {a:name} to {b:name}: {means:noun}, {n:d} minutes, {total:total} so far.")
TAIL = Form("In {goal:name} after {total:total} minutes.")
COLUMNS = ("the number", "the start", "the end", "the means", "the minutes", "the sum so far")


def draw(rng: Random, split: str) -> Network:
    """Six to eight legs to the goal and two that lead into the way from elsewhere."""
    length, others = rng.randint(6, 8), 2
    stops = rng.sample(mixed(TOWNS, split), length + 1 + others)
    way, aside = stops[: length + 1], stops[length + 1 :]
    pairs = list(pairwise(way))
    # The others leave from stops that the walk never comes to.
    pairs += [(stop, rng.choice(way[1:])) for stop in aside]
    minutes = numbers(rng, split, len(pairs), 2, 9)
    legs = [Leg(a, b, rng.choice(MEANS), n) for (a, b), n in zip(pairs, minutes, strict=True)]
    rng.shuffle(legs)
    return Network(way[0], way[-1], tuple(legs))


def ask(rng: Random, network: Network) -> str:
    """The connections in one wording, shuffled, as a list."""
    form = rng.choice(CONNECTIONS)
    lines = [
        form.write(a=leg.start, b=leg.end, means=leg.means, n=leg.minutes) for leg in network.legs
    ]
    wording = rng.choice(WORDINGS).write(start=network.start, goal=network.goal)
    return join_ask(rng, wording, layout(rng, lines))


def read(prompt: str) -> Network | None:
    """The connections of a prompt, if they lead from start to goal in one way."""
    for slots, body in split_ask(prompt, WORDINGS):
        found = read_all(CONNECTIONS, sentences(body))
        if not found:
            continue
        legs = tuple(Leg(f["a"], f["b"], f["means"], int(f["n"])) for f in found)
        network = Network(slots["start"], slots["goal"], legs)
        if len({leg.start for leg in legs}) == len(legs) and network.walk():
            return network
    return None


def think(network: Network) -> str:
    """The shape, then the walk stop by stop with every partial sum."""
    lines = [
        f"Numbered steps from {network.start} to {network.goal}, each with means, minutes and "
        f"the minutes so far, and a last line with the sum. I start in {network.start} at 0."
    ]
    total = 0
    for leg in network.walk():
        lines.append(
            f"From {leg.start} to {leg.end}: {leg.means}, {leg.minutes} minutes. "
            f"{total} + {leg.minutes} = {total + leg.minutes}."
        )
        total += leg.minutes
    lines.append(f"In {network.goal}, the goal, I stop. The sum is {total} minutes.")
    return "\n".join(lines)


def steps(network: Network) -> list[list[str]]:
    """The values of every step of the itinerary."""
    rows, total = [], 0
    for at, leg in enumerate(network.walk(), 1):
        total += leg.minutes
        rows.append([str(at), leg.start, leg.end, leg.means, str(leg.minutes), str(total)])
    return rows


def write(network: Network) -> str:
    """The itinerary."""
    rows = steps(network)
    lines = [HEAD.write(start=network.start, goal=network.goal)]
    for i, a, b, means, n, total in rows:
        lines.append(STEP.write(i=i, a=a, b=b, means=means, n=n, total=total))
    lines.append(TAIL.write(goal=network.goal, total=rows[-1][-1]))
    return "\n".join(lines)


def grade(network: Network, answer: str) -> Verdict:
    """Head, steps and tail, value for value."""
    lines = [line.strip() for line in answer.strip().splitlines()]
    head, tail = HEAD.read(lines[0] if lines else ""), TAIL.read(lines[-1] if lines else "")
    found = read_all([STEP], lines[1:-1])
    if head is None or tail is None or found is None:
        return unread("The answer is not an itinerary with a head, numbered steps and a sum.")
    if head != {"start": network.start, "goal": network.goal}:
        return wrong(f"The itinerary is headed from {head['start']} to {head['goal']}.")
    expected = steps(network)
    verdict = compare(expected, [list(step.values()) for step in found], COLUMNS)
    if verdict.right and tail != {"goal": network.goal, "total": expected[-1][-1]}:
        return wrong(f"The last line says {tail['total']} minutes to {tail['goal']}.")
    return verdict


FAMILY = Family("itinerary", draw, ask, read, think, write, grade)
