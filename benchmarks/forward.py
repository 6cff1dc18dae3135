"""What a forward costs: as loaded and as the engine runs it, sizes in turn in one run."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from transformers import DynamicCache

from benchmarks.device import device_of, timed
from benchmarks.peers import as_loaded
from benchmarks.report import room_for, save, table
from engine.cost import SIZES
from engine.kv import cache_argument
from engine.target import Target
from engine.tree import LOGITS, DraftTree
from slipstream import load

PAST = 300
ROUNDS = 15


def run(args: argparse.Namespace) -> None:
    """Median milliseconds of a forward of 1 … 64 tokens behind a past of 300."""
    room_for(args.json)
    model = load(args.model, device=args.device, dtype=args.dtype)
    device = device_of(model.loaded.model)
    forwards = {"as loaded": _plain(as_loaded(args)), "engine": _engine(model.loaded.model)}
    times: dict[str, dict[int, list[float]]] = {
        name: {size: [] for size in SIZES} for name in forwards
    }
    for _ in range(ROUNDS):
        for size in SIZES:
            for name, forward in forwards.items():
                times[name][size].append(_timed(forward, size, device))
    rows, results = [], {}
    for name, by_size in times.items():
        cost = {size: median(by_size[size]) for size in SIZES}
        results[name] = cost
        rows.append((name, *(f"{cost[size] * 1e3:.1f}" for size in SIZES)))
        rows.append(("  × one", *(f"{cost[size] / cost[1]:.2f}" for size in SIZES)))
    print(f"{model.loaded.name} · {model.loaded.dtype} · past {PAST} · ms a forward")
    print(table(("tokens", *map(str, SIZES)), rows))
    save(args, model, results)


def _engine(model: Any) -> Callable[[int], None]:
    """A forward as the lanes run it: a tree behind their own cache."""
    target = Target(model)
    for _ in target.prefill(_past()):
        pass

    def forward(size: int) -> None:
        tree = DraftTree(1)
        for node in range(size - 1):
            tree.add(node, 2, LOGITS)
        target.score(target.lay_out(tree))
        target.pretend(PAST)

    return forward


@torch.inference_mode()
def _plain(model: Any) -> Callable[[int], None]:
    """A forward as transformers runs it, behind its own cache."""
    device, store = device_of(model), DynamicCache(config=model.config)
    cache = {cache_argument(model): store}
    model(torch.tensor([_past()], device=device), **cache)

    @torch.inference_mode()
    def forward(size: int) -> None:
        model(torch.full((1, size), 2, device=device), **cache)
        store.crop(-size)

    return forward


def _past() -> list[int]:
    return list(range(1, PAST + 1))


def _timed(forward: Callable[[int], None], size: int, device: torch.device) -> float:
    _, seconds = timed(lambda: forward(size), device)
    return seconds
