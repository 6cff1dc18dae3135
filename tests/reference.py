"""What the engine must equal, written again from the definitions. Imports nothing of it.

Plain decoding re-reads the whole text for every token (no cache, no mask of its own,
transformers' own attention); the chooser is numpy and Python integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

_64 = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_PHASES = {"reasoning": 0x9E3779B97F4A7C15, "answer": 0xD1B54A32D192ED03}

Chooser = Callable[[np.ndarray, int], int]


def splitmix(value: int) -> int:
    """splitmix64's finaliser."""
    value &= _64
    value = ((value ^ (value >> 30)) * _FIRST) & _64
    value = ((value ^ (value >> 27)) * _SECOND) & _64
    return value ^ (value >> 31)


def unsplitmix(value: int) -> int:
    """The value that `splitmix` turns into `value`."""
    value ^= (value >> 31) ^ (value >> 62)
    value = (value * pow(_SECOND, -1, 1 << 64)) & _64
    value ^= (value >> 27) ^ (value >> 54)
    value = (value * pow(_FIRST, -1, 1 << 64)) & _64
    return value ^ (value >> 30) ^ (value >> 60)


def position_key(seed: int, phase: str, index: int) -> int:
    """The 64 bits that a position's noise starts from."""
    return splitmix(splitmix(seed ^ _PHASES[phase]) + index)


def token_with_hash(seed: int, phase: str, index: int, wanted: int) -> int:
    """The (signed) id whose hash at this position is `wanted`."""
    key = position_key(seed, phase, index)
    token = ((unsplitmix(wanted) - key) * pow(_GAMMA, -1, 1 << 64)) & _64
    return token - (1 << 64) if token >> 63 else token


def gumbel(seed: int, phase: str, index: int, token: int) -> float:
    """-log(-log(u)), u the middle of one of 2^52 equal pieces of (0, 1)."""
    hashed = splitmix(token * _GAMMA + position_key(seed, phase, index))
    return -math.log(-math.log(((hashed >> 12) + 0.5) / (1 << 52)))


def greedy(logits: np.ndarray, index: int) -> int:
    """The lowest id among the largest."""
    return int(np.flatnonzero(logits == logits.max())[0])


def allowed(logits: np.ndarray, temperature: float, top_k: int, top_p: float) -> list[int]:
    """Ids left by temperature, top-k, top-p in this order; ties by token id."""
    scaled = logits / temperature
    ranked = sorted(range(len(scaled)), key=lambda token: (-scaled[token], token))
    if top_k:
        ranked = ranked[:top_k]
    if top_p < 1:
        weights = np.exp(scaled[ranked] - scaled[ranked[0]])
        shares = weights / weights.sum()
        kept, reached = 0, 0.0
        while kept < len(ranked) and reached < top_p:
            reached += shares[kept]
            kept += 1
        ranked = ranked[:kept]
    return sorted(ranked)


def sampled(
    temperature: float, top_k: int = 0, top_p: float = 1.0, seed: int = 0, phase: str = "answer"
) -> Chooser:
    """Filter, add keyed noise, take the largest."""

    def choose(logits: np.ndarray, index: int) -> int:
        scaled = logits / temperature
        tokens = allowed(logits, temperature, top_k, top_p)
        noisy = {token: scaled[token] + gumbel(seed, phase, index, token) for token in tokens}
        return max(tokens, key=lambda token: (noisy[token], -token))

    return choose


@torch.inference_mode()
def plain_logits(model: Any, ids: Sequence[int]) -> np.ndarray:
    """Logits (V,) after `ids`, everything read anew."""
    out = model(input_ids=torch.tensor([list(ids)]), use_cache=False)
    return out.logits[0, -1].double().numpy()


def written_plainly(
    model: Any,
    choose: Chooser,
    prompt: Sequence[int],
    tokens: int,
    context: int = 1 << 30,
    eos: frozenset[int] = frozenset(),
) -> tuple[list[int], str]:
    """Re-read everything, choose one token, repeat: the ids and why they end."""
    new: list[int] = []
    while True:
        new.append(choose(plain_logits(model, [*prompt, *new]), len(new)))
        if new[-1] in eos:
            return new, "eos"
        if len(new) == tokens:
            return new, "length"
        if len(prompt) + len(new) == context:
            return new, "context"


def suffixes_counted(text: Sequence[int], depth: int) -> dict[tuple[int, ...], int]:
    """Every n-gram of `text` up to `depth` tokens and how often it occurs."""
    counts: dict[tuple[int, ...], int] = {}
    for end in range(1, len(text) + 1):
        for length in range(1, min(depth, end) + 1):
            gram = tuple(text[end - length : end])
            counts[gram] = counts.get(gram, 0) + 1
    return counts


@dataclass
class NaiveGrams:
    """The bounded n-gram store, every rule spelled out on plain tuples.

    used: the reading at which each stored n-gram was last read. gone: n-grams ever
    forgotten. Which of several equally old leaves goes is not said, so the store that
    is tested is asked (`victim`) and its answer is checked.
    """

    depth: int
    size: int
    text: list[int] = field(default_factory=list)
    counts: dict[tuple[int, ...], int] = field(default_factory=dict)
    used: dict[tuple[int, ...], int] = field(default_factory=dict)
    gone: set[tuple[int, ...]] = field(default_factory=set)

    def read(self, token: int) -> None:
        """Count each suffix of the text whose beginning was stored."""
        stored = set(self.counts)
        self.text.append(token)
        for length in range(1, min(self.depth, len(self.text)) + 1):
            gram = tuple(self.text[-length:])
            if length == 1 or gram[:-1] in stored:
                self.counts[gram] = self.counts.get(gram, 0) + 1
                self.used[gram] = len(self.text)

    def leaves(self) -> list[tuple[int, ...]]:
        """Stored n-grams that begin no longer one."""
        inner = {gram[:-1] for gram in self.counts}
        return [gram for gram in self.counts if gram not in inner]

    def forget(self, kept: set[tuple[int, ...]]) -> None:
        """Forget oldest leaves down to `size`; `kept` is what the tested store still has.

        Raises AssertionError where that store forgot a leaf that was not the oldest.
        """
        while len(self.counts) > self.size:
            oldest = min(self.used[leaf] for leaf in self.leaves())
            candidates = [leaf for leaf in self.leaves() if self.used[leaf] == oldest]
            victims = [leaf for leaf in candidates if leaf not in kept]
            assert victims, f"none of the oldest leaves {candidates} was forgotten"
            victim = max(victims, key=len)
            del self.counts[victim], self.used[victim]
            self.gone.add(victim)
