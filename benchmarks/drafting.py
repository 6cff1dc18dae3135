"""Cost of drafting itself: proposing, mask and learning a step, without any model."""

from __future__ import annotations

import argparse
import random
import time
from statistics import median

import torch

from benchmarks.report import room_for, save, table
from engine.drafter import Drafter
from engine.target import TreeMask
from racer import Racer
from ssr import SSR, Schedule

CONTEXTS = (500, 2000, 8000, 16000)
VOCABULARY = 50_000
STEPS = 300
ANSWERED = 4000
DRAFTED = 500
SHARES = [0.5, 0.2, 0.1, 0.06, 0.05, 0.04, 0.03, 0.02]


def run(args: argparse.Namespace) -> None:
    """Milliseconds a step, split, behind contexts of 500 to 16,000 tokens."""
    room_for(args.json)
    rows, results = [], {}
    for context in CONTEXTS:
        cost = _cost(context, args.capacity, likeliest=not args.paper)
        results[context] = cost
        rows.append((f"{context}", *(f"{cost[part] * 1e3:.3f}" for part in cost)))
    print(f"capacity {args.capacity} · ms a step (median of {STEPS})")
    print(table(("context", *results[CONTEXTS[0]]), rows))
    before = _text(ANSWERED, seed=ANSWERED)
    racer = _taught(before, _following(before), likeliest=not args.paper)
    reuse = {
        "ssr": _reuse_cost(None, args.capacity),
        "racer+ssr": _reuse_cost(racer, args.capacity),
    }
    rows = [(lane, *(f"{cost[part] * 1e3:.3f}" for part in cost)) for lane, cost in reuse.items()]
    print(f"\nthe answer behind {ANSWERED} tokens, a draft of {DRAFTED} being recovered")
    print(table(("lane", *reuse["ssr"]), rows))
    save(args, None, {"racer": results, "reuse": reuse})


def _text(length: int, seed: int) -> list[int]:
    """Ids with the repetition of a real text: new words by a power law, and spans again."""
    draw = random.Random(seed)  # noqa: S311 (nothing secret)
    text: list[int] = []
    while len(text) < length:
        if text and draw.random() < 0.25:
            start = draw.randrange(len(text))
            text.extend(text[start : start + draw.randint(2, 12)])
        else:
            text.append(min(VOCABULARY - 1, int(draw.paretovariate(0.7))))
    return text[:length]


def _following(text: list[int]) -> dict[int, list[int]]:
    """For each token of `text` eight that the model might have thought likely after it."""
    draw = random.Random(1)  # noqa: S311
    return {token: [draw.choice(text) for _ in range(8)] for token in sorted(set(text))}


def _taught(text: list[int], following: dict[int, list[int]], *, likeliest: bool) -> Racer:
    """RACER behind `text`."""
    racer = Racer(likeliest=likeliest)
    racer.learn(text, [following[token] for token in text], [SHARES] * len(text))
    racer.observe(text)
    return racer


def _cost(context: int, capacity: int, *, likeliest: bool) -> dict[str, float]:
    """Median seconds of each part of a step that commits three tokens."""
    text = _text(context + 3 * STEPS + 1, seed=context)
    following = _following(text)
    racer = _taught(text[:context], following, likeliest=likeliest)
    return _steps(racer, following, text, context, capacity)


def _reuse_cost(beside: Racer | None, capacity: int) -> dict[str, float]:
    """The same in an answer that differs from its draft in every ninth token."""
    draft = _text(DRAFTED, seed=3)
    answer = [VOCABULARY + i if i % 9 == 8 else token for i, token in enumerate(draft)]
    ssr = SSR(Schedule(1), beside)
    ssr.written(draft)
    ssr.answer()
    ssr.observe(answer[:1])
    text = [0] * (ANSWERED - 1) + answer
    return _steps(ssr, _following(draft + answer), text, ANSWERED, capacity)


def _steps(
    drafter: Drafter, following: dict[int, list[int]], text: list[int], start: int, capacity: int
) -> dict[str, float]:
    """Median seconds of each part of a step, as `text` goes on from `start`."""
    masks = TreeMask(3, torch.float32, torch.device("cpu"))
    parts: dict[str, list[float]] = {"propose": [], "mask": [], "learn": [], "all": []}
    for at in range(start, min(len(text) - 3, start + 3 * STEPS), 3):
        began = time.perf_counter()
        tree = drafter.propose(text[at - 1], capacity)
        proposed = time.perf_counter()
        masks.of(tree.parents, at)
        masked = time.perf_counter()
        rows = [following.get(token, []) for token in tree.tokens]
        drafter.learn(tree.tokens, rows, [SHARES[: len(row)] for row in rows])
        drafter.observe(text[at : at + 3])
        ended = time.perf_counter()
        for part, seconds in zip(
            parts,
            (proposed - began, masked - proposed, ended - masked, ended - began),
            strict=True,
        ):
            parts[part].append(seconds)
    return {part: median(seconds) for part, seconds in parts.items()}
