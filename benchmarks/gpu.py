"""One script for a CUDA machine without network: identity, cost of a forward, RACER, memory.

With a model folder it races on real text; without one it makes random weights in a
real model's shape, where costs and identity are real and acceptance means nothing.
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any

import torch
from transformers import AutoModelForCausalLM, Qwen3Config

from benchmarks.report import room_for, save, table
from engine.capacity import Auto, Capacity, Fixed
from engine.cost import SIZES
from engine.drafter import Drafter, NoDraft
from engine.errors import UserError
from engine.events import Compare, Finish
from engine.loop import Limit, Written, decode
from engine.machine import Machine, ready, timed_forward
from engine.models import load
from engine.placement import choose_device, choose_dtype, device_name
from engine.race import Lane, race
from engine.sampling import Sampler
from engine.text import TextPieces
from racer import Racer

PASTS = (64, 512, 2048, 8192)

SHAPES: dict[str, dict[str, Any]] = {
    "qwen3-1.7b": {
        "vocab_size": 151_936,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "tie_word_embeddings": True,
    },
    "qwen3-8b": {
        "vocab_size": 151_936,
        "hidden_size": 4096,
        "intermediate_size": 12_288,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "tie_word_embeddings": False,
    },
    "tiny": {
        "vocab_size": 512,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "tie_word_embeddings": True,
    },
}


def run(args: argparse.Namespace) -> None:
    """Measure on `--device`; prints tables and writes JSON.

    Raises UserError where the device, the number format or the shape does not exist, or
    where a lane fails.
    """
    room_for(args.json)
    device = choose_device(args.device)
    model, prompt = _model(args, device)
    machine = ready(model)
    results: dict[str, Any] = {
        "device": device_name(device),
        "dtype": str(model.dtype),
        "load_cost": machine.cost.base,
        "tolerance": machine.tolerance,
        "forward": _forward_costs(machine),
        "lanes": _lanes(machine, prompt, args.max_new_tokens),
    }
    if device.type == "cuda":
        results["peak_bytes"] = torch.cuda.max_memory_allocated(device)
        print(f"\npeak memory {results['peak_bytes'] / 2**30:.2f} GiB")
    save(args, None, results)


def _model(args: argparse.Namespace, device: torch.device) -> tuple[Any, list[int]]:
    """The model, and a prompt of 300 ids for it."""
    if args.model:
        loaded = load(args.model, device=args.device, dtype=args.dtype)
        text = "Explain step by step how a bill becomes a law, then list the steps again. " * 40
        return loaded.model, loaded.tokenizer(text)["input_ids"][:300]
    if args.shape not in SHAPES:
        raise UserError(f"There is no shape {args.shape!r}; choose from {', '.join(SHAPES)}.")
    dtype = choose_dtype(args.dtype, device)
    torch.manual_seed(0)
    config = Qwen3Config(max_position_embeddings=40_960, **SHAPES[args.shape])
    with device:
        model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
    return model.eval().requires_grad_(False), [(31 * i) % 997 % 500 for i in range(300)]


def _forward_costs(machine: Machine) -> dict[str, list[float]]:
    """Median seconds by size at several pasts, sizes in turn."""
    target = machine.target(room=PASTS[-1] + 128)
    costs: dict[str, list[float]] = {}
    for past in PASTS:
        timed_forward(target, SIZES[-1], past)
        rounds = [[timed_forward(target, s, past) for s in SIZES] for _ in range(9)]
        costs[str(past)] = [median(column) for column in zip(*rounds, strict=True)]
    print(f"{'ms a forward':12} (rows: past)")
    rows = [(past, *(f"{s * 1e3:.2f}" for s in row)) for past, row in costs.items()]
    print(table(("tokens", *map(str, SIZES)), rows))
    return costs


def _lanes(machine: Machine, prompt: list[int], new_tokens: int) -> list[dict[str, Any]]:
    """Vanilla, RACER at the paper's 64, and RACER auto: greedy, then sampled."""
    found = []
    for sampler in (Sampler(), Sampler(temperature=0.8, top_p=0.95, seed=1)):
        found.extend(_race(machine, prompt, new_tokens, sampler))
    head = ("lane", "choice", "seconds", "tokens", "forwards", "MAT", "identical", "gap")
    rows = [
        (
            r["lane"],
            "greedy" if r["temperature"] == 0 else "sampled",
            f"{r['seconds']:.3f}",
            f"{r['tokens']:.0f}",
            f"{r['forwards']:.0f}",
            f"{(r['tokens'] - 1) / max(1, r['forwards'] - 1):.2f}",
            "reference" if r["lane"] == "vanilla" else str(r["identical"]),
            "–" if r["gap"] is None else f"{r['gap']:.3g}",
        )
        for r in found
    ]
    print("\n" + table(head, rows))
    return found


def _race(
    machine: Machine, prompt: list[int], new_tokens: int, sampler: Sampler
) -> list[dict[str, Any]]:
    machine.warm_up()
    text = TextPieces([b"?"] * int(machine.model.config.vocab_size))
    parts: dict[str, tuple[Drafter, Capacity]] = {
        "vanilla": (NoDraft(), Fixed(1)),
        "racer-64": (Racer(), Fixed(64)),
        "racer-auto": (Racer(), Auto(machine.cost)),
    }
    lanes = []
    for key, (drafter, capacity) in parts.items():
        target, written = machine.target(len(prompt) + new_tokens + 64), Written()
        limit = Limit(new_tokens, 40_960)
        events = decode(key, target, drafter, sampler, prompt, limit, capacity, text, written)
        lanes.append(Lane(key, events, written))
    rows: dict[str, dict[str, Any]] = {}
    for event in race(lanes, text, machine.tolerance / max(sampler.temperature, 1e-5)):
        if isinstance(event, Finish):
            if event.reason == "error":
                raise UserError(f"Lane {event.lane} failed: {event.message}")
            extra = {"lane": event.lane, "temperature": sampler.temperature, "gap": None}
            rows[event.lane] = {**event.totals, **extra, "reason": event.reason, "identical": True}
        elif isinstance(event, Compare) and event.complete:
            rows[event.lane].update(identical=event.identical, gap=event.gap, tie=event.tie)
    return [rows[key] for key in parts]
