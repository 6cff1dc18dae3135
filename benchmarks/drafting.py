"""Cost of drafting itself: proposing, mask and learning a step, without any model."""

from __future__ import annotations

import argparse
import random
import time
from statistics import median

import torch

from benchmarks.report import save, table
from engine.target import TreeMask
from racer import Racer

CONTEXTS = (500, 2000, 8000, 16000)
VOCABULARY = 50_000
STEPS = 300
SHARES = [0.5, 0.2, 0.1, 0.06, 0.05, 0.04, 0.03, 0.02]


def run(args: argparse.Namespace) -> None:
    """Milliseconds a step, split, behind contexts of 500 to 16,000 tokens."""
    rows, results = [], {}
    for context in CONTEXTS:
        cost = _cost(context, args.capacity, likeliest=not args.paper)
        results[context] = cost
        rows.append((f"{context}", *(f"{cost[part] * 1e3:.3f}" for part in cost)))
    print(f"capacity {args.capacity} · ms a step (median of {STEPS})")
    print(table(("context", *results[CONTEXTS[0]]), rows))
    save(args, None, results)


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


def _cost(context: int, capacity: int, *, likeliest: bool) -> dict[str, float]:
    """Median seconds of each part of a step that commits three tokens."""
    text = _text(context + 3 * STEPS + 1, seed=context)
    draw = random.Random(1)  # noqa: S311
    racer = Racer(likeliest=likeliest)
    following = {token: [draw.choice(text) for _ in range(8)] for token in set(text)}
    racer.learn(text[:context], [following[token] for token in text[:context]], [SHARES] * context)
    racer.observe(text[:context])
    masks = TreeMask(3, torch.float32, torch.device("cpu"))
    parts: dict[str, list[float]] = {"propose": [], "mask": [], "learn": [], "all": []}
    for step in range(STEPS):
        at = context + 3 * step
        began = time.perf_counter()
        tree = racer.propose(text[at - 1], capacity)
        proposed = time.perf_counter()
        masks.of(tree.parents, at)
        masked = time.perf_counter()
        racer.learn(tree.tokens, [following[token] for token in tree.tokens], [SHARES] * len(tree))
        racer.observe(text[at : at + 3])
        ended = time.perf_counter()
        for part, seconds in zip(
            parts,
            (proposed - began, masked - proposed, ended - masked, ended - began),
            strict=True,
        ):
            parts[part].append(seconds)
    return {part: median(seconds) for part, seconds in parts.items()}
