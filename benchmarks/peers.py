"""The generation of transformers as a peer: plain greedy, and with its prompt lookup."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import GenerationConfig

from benchmarks.device import device_of, timed
from engine import attention, models

LOOKUP_TOKENS = 10
"""Tokens that prompt lookup drafts, the value of its documentation."""

_WARM_UP = [1, 2, 3, 4] * 6
"""Repeats itself, so that prompt lookup drafts."""


@dataclass(frozen=True, slots=True)
class Generated:
    """What a peer wrote behind the prompt, in how many forwards and seconds of `generate`."""

    tokens: list[int]
    forwards: int
    seconds: float


@contextmanager
def _as_a_peer(model: Any) -> Iterator[None]:
    """The library's own sdpa and an empty generation config, for the time of a peer's run.

    transformers fills what a run's config leaves open from the model's own: penalties,
    suppressed tokens, stop strings. Not all of them have a value that means none.
    """
    before, own = model.config._attn_implementation, model.generation_config
    model.set_attn_implementation("sdpa")
    model.generation_config = GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = own
        model.set_attn_implementation(before)


def _generated(
    model: Any, prompt: list[int], new_tokens: int, eos: frozenset[int], **options: Any
) -> Generated:
    """A greedy run; nothing but `generate` itself is on the peer's clock."""
    ids = torch.tensor([prompt], device=device_of(model))
    mask = torch.ones_like(ids)
    config = GenerationConfig(
        max_new_tokens=new_tokens,
        do_sample=False,
        eos_token_id=sorted(eos) or None,
        pad_token_id=min(eos, default=0),
        **options,
    )
    forwards = 0

    def count(*_: Any) -> None:
        nonlocal forwards
        forwards += 1

    def generate() -> torch.Tensor:
        out: torch.Tensor = model.generate(ids, attention_mask=mask, generation_config=config)
        return out

    counting = model.register_forward_hook(count)
    try:
        with torch.inference_mode(), _as_a_peer(model):
            out, seconds = timed(generate, ids.device)
    finally:
        counting.remove()
    return Generated(out[0, len(prompt) :].tolist(), forwards, seconds)


def hf_generate(model: Any, prompt: list[int], new_tokens: int, eos: frozenset[int]) -> Generated:
    """Plain greedy generation of transformers."""
    return _generated(model, prompt, new_tokens, eos)


def hf_prompt_lookup(
    model: Any, prompt: list[int], new_tokens: int, eos: frozenset[int]
) -> Generated:
    """Greedy generation with transformers' prompt lookup decoding."""
    return _generated(model, prompt, new_tokens, eos, prompt_lookup_num_tokens=LOOKUP_TOKENS)


PEERS: dict[str, Callable[[Any, list[int], int, frozenset[int]], Generated]] = {
    "hf-generate": hf_generate,
    "hf-prompt-lookup": hf_prompt_lookup,
}


def warm_up(peer: str, model: Any) -> None:
    """One short run outside every clock: the lanes have theirs before each race."""
    PEERS[peer](model, _WARM_UP, 16, frozenset())


def as_loaded(args: argparse.Namespace) -> Any:
    """The same model once more, as transformers loads it: nothing packed, its own attention."""
    model = models.load(args.model, device=args.device, dtype=args.dtype).model
    if model.config._attn_implementation == attention.NAME:
        model.set_attn_implementation("sdpa")
    return model
