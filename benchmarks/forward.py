"""What a forward costs: as loaded and as the engine runs it, sizes in turn in one run."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from transformers import DynamicCache

from benchmarks.peers import as_loaded
from benchmarks.report import save, table
from engine.cost import SIZES
from engine.target import Target
from engine.tree import LOGITS, DraftTree
from slipstream import load

PAST = 300
ROUNDS = 15


def run(args: argparse.Namespace) -> None:
    """Median milliseconds of a forward of 1 … 64 tokens behind a past of 300."""
    args.device = "auto"
    model = load(args.model, dtype=args.dtype)
    engine, plain = _engine(Target(model.loaded.model)), _plain(as_loaded(args))
    times: dict[str, dict[int, list[float]]] = {
        name: {size: [] for size in SIZES} for name in ("as loaded", "engine")
    }
    for _ in range(ROUNDS):
        for size in SIZES:
            for name, forward in (("as loaded", plain), ("engine", engine)):
                times[name][size].append(_timed(forward, size))
    rows, results = [], {}
    for name, by_size in times.items():
        cost = {size: median(by_size[size]) for size in SIZES}
        results[name] = cost
        rows.append((name, *(f"{cost[size] * 1e3:.1f}" for size in SIZES)))
        rows.append(("  × one", *(f"{cost[size] / cost[1]:.2f}" for size in SIZES)))
    print(f"{model.loaded.name} · {model.loaded.dtype} · past {PAST} · ms a forward")
    print(table(("tokens", *map(str, SIZES)), rows))
    save(args, model, results)


def _engine(target: Target) -> Callable[[int], None]:
    for _ in target.prefill(list(range(1, PAST + 1))):
        pass

    def forward(size: int) -> None:
        tree = DraftTree(1)
        for node in range(size - 1):
            tree.add(node, 2, LOGITS)
        target.score(target.lay_out(tree))
        target.synchronise()
        target.pretend(PAST)

    return forward


@torch.inference_mode()
def _plain(model: Any) -> Callable[[int], None]:
    cache = DynamicCache(config=model.config)
    name = Target(model)._cache_name
    model(torch.tensor([list(range(1, PAST + 1))]), **{name: cache})

    @torch.inference_mode()
    def forward(size: int) -> None:
        model(torch.full((1, size), 2), **{name: cache})
        cache.crop(-size)

    return forward


def _timed(forward: Callable[[int], None], size: int) -> float:
    began = time.perf_counter()
    forward(size)
    return time.perf_counter() - began
