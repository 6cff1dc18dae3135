"""How a lane chooses a token: greedy, or sampled with noise keyed by position.

The noise of a token depends on (seed, phase, index, token id) alone, so whichever
lane, tree or device asks, the same position gives the same choice and verification
is plain equality. Greedy is the lowest id among the largest logits.
Source: Gumbel-max trick; the keyed noise is this project's (shared by all lanes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

GREEDY_BELOW = 1e-5
"""Temperatures below this count as greedy, in every lane alike."""

_MASK64 = (1 << 64) - 1
_PHASE_KEYS = {"reasoning": 0x9E3779B97F4A7C15, "answer": 0xD1B54A32D192ED03}


def _signed(value: int) -> int:
    """A 64-bit pattern as the int64 that torch can hold."""
    value &= _MASK64
    return value - (1 << 64) if value >= 1 << 63 else value


_MULTIPLY_1 = _signed(0xBF58476D1CE4E5B9)
_MULTIPLY_2 = _signed(0x94D049BB133111EB)
_STRIDE = _signed(0x9E3779B97F4A7C15)


def _mix(key: int) -> int:
    """The 64-bit finaliser of splitmix64 on one Python integer."""
    key &= _MASK64
    key = ((key ^ (key >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) & _MASK64
    return key ^ (key >> 31)


def _shift(value: Tensor, bits: int) -> Tensor:
    """Logical right shift: int64 in torch shifts in the sign."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)


def gumbel_noise(seed: int, phase: str, index: int, tokens: Tensor) -> Tensor:
    """Standard Gumbel noise for `tokens` at one position.

    tokens: int64 (K,) vocabulary ids. Returns float64 (K,) on the same device.
    u = (h + 0.5) / 2**52 with a 52-bit hash h, so neither 0 nor 1 occurs and the
    noise is finite.
    Raises KeyError for a phase that does not exist.
    """
    key = _mix(_mix(seed ^ _PHASE_KEYS[phase]) + index)
    hashed = tokens * _STRIDE + _signed(key)
    hashed = (hashed ^ _shift(hashed, 30)) * _MULTIPLY_1
    hashed = (hashed ^ _shift(hashed, 27)) * _MULTIPLY_2
    hashed = hashed ^ _shift(hashed, 31)
    uniform = (_shift(hashed, 12).to(torch.float64) + 0.5) / float(1 << 52)
    return -torch.log(-torch.log(uniform))


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen token and how far the second best was behind (in the units compared)."""

    token: int
    gap: float


def lowest_best(scores: Tensor) -> Choice:
    """The lowest index among the largest of `scores` (K,), and the gap to the next."""
    if scores.device.type == "cpu":
        # numpy's argmax returns the first of equals; torch's promises nothing.
        values = scores.numpy() if scores.dtype != torch.bfloat16 else scores.float().numpy()
        token = int(values.argmax())
        best = float(values[token])
        rest = max(
            float(values[:token].max(initial=-math.inf)),
            float(values[token + 1 :].max(initial=-math.inf)),
        )
        return Choice(token, best - rest)
    best_two = scores.topk(min(2, scores.shape[0])).values
    first = (scores == best_two[0]).nonzero()[0, 0]
    gap = best_two[0] - best_two[-1] if scores.shape[0] > 1 else best_two[0] * 0 + math.inf
    packed = torch.stack([first.to(torch.float64), gap.to(torch.float64)]).tolist()
    return Choice(int(packed[0]), packed[1])


@dataclass(frozen=True, slots=True)
class Sampler:
    """Temperature, then top-k, then top-p (ties by token id), then keyed noise.

    top_k = 0 and top_p = 1 switch the filters off.
    Raises ValueError for settings outside their range.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ValueError(f"temperature {self.temperature} is not 0 or more")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top-p {self.top_p} is not in (0, 1]")
        if self.top_k < 0:
            raise ValueError(f"top-k {self.top_k} is negative")

    @property
    def greedy(self) -> bool:
        """Whether the temperature counts as zero."""
        return self.temperature < GREEDY_BELOW

    def choose(self, logits: Tensor, phase: str, index: int) -> Choice:
        """The token at position `index` of `phase`, from its logits (V,)."""
        if self.greedy:
            return lowest_best(logits)
        scaled = logits.to(torch.float64) / self.temperature
        tokens = self._candidates(scaled)
        noisy = scaled[tokens] + gumbel_noise(self.seed, phase, index, tokens)
        chosen = lowest_best(noisy)
        return Choice(int(tokens[chosen.token]), chosen.gap)

    def _candidates(self, scaled: Tensor) -> Tensor:
        """Ids that pass the filters, ascending, so that equals fall to the lowest id."""
        tokens = torch.arange(scaled.shape[0], device=scaled.device)
        if 0 < self.top_k < scaled.shape[0]:
            least = scaled.topk(self.top_k).values[-1]
            tokens = (scaled >= least).nonzero()[:, 0]
            tokens = _ranked(scaled, tokens)[: self.top_k].sort().values
        if self.top_p < 1:
            tokens = self._nucleus(scaled, tokens)
        return tokens

    def _nucleus(self, scaled: Tensor, tokens: Tensor) -> Tensor:
        """The fewest likeliest of `tokens` that together reach `top_p`."""
        share = torch.softmax(scaled[tokens], dim=0)
        # Tokens each rarer than (1 - p) / V together stay below 1 - p, so none of them
        # is in the nucleus: only the few others need sorting.
        likely = tokens[share * tokens.shape[0] >= 1 - self.top_p]
        ranked = _ranked(scaled, likely)
        total = torch.logsumexp(scaled[tokens], dim=0)
        before = torch.exp(scaled[ranked] - total).cumsum(0).roll(1)
        before[0] = 0.0
        return ranked[before < self.top_p].sort().values


def _ranked(scaled: Tensor, tokens: Tensor) -> Tensor:
    """`tokens` (ascending) by falling score; the sort is stable, so ties stay by id."""
    return tokens[torch.sort(scaled[tokens], descending=True, stable=True).indices]
