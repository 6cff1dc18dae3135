"""The generation of transformers as a peer: plain greedy, and with its prompt lookup."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import GenerationConfig

from engine import attention, models

LOOKUP_TOKENS = 10
"""Tokens that prompt lookup drafts, the value of its documentation."""


@contextmanager
def _own_attention(model: Any) -> Iterator[None]:
    """The library's own sdpa for the time of a peer's run, whatever the lanes use."""
    before = model.config._attn_implementation
    model.set_attn_implementation("sdpa")
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def _generated(
    model: Any, prompt: list[int], new_tokens: int, eos: frozenset[int], **options: Any
) -> tuple[list[int], int]:
    """New ids of a greedy run without hidden penalties, and how many forwards it took."""
    ids = torch.tensor([prompt], device=model.get_input_embeddings().weight.device)
    forwards = 0

    def count(*_: Any) -> None:
        nonlocal forwards
        forwards += 1

    config = GenerationConfig(
        max_new_tokens=new_tokens,
        do_sample=False,
        eos_token_id=sorted(eos),
        pad_token_id=min(eos, default=0),
        **options,
    )
    counting = model.register_forward_hook(count)
    try:
        with torch.inference_mode(), _own_attention(model):
            out = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
    finally:
        counting.remove()
    return out[0, len(prompt) :].tolist(), forwards


def hf_generate(
    model: Any, prompt: list[int], new_tokens: int, eos: frozenset[int]
) -> tuple[list[int], int]:
    """Plain greedy generation of transformers."""
    return _generated(model, prompt, new_tokens, eos)


def hf_prompt_lookup(
    model: Any, prompt: list[int], new_tokens: int, eos: frozenset[int]
) -> tuple[list[int], int]:
    """Greedy generation with transformers' prompt lookup decoding."""
    return _generated(model, prompt, new_tokens, eos, prompt_lookup_num_tokens=LOOKUP_TOKENS)


PEERS: dict[str, Callable[[Any, list[int], int, frozenset[int]], tuple[list[int], int]]] = {
    "hf-generate": hf_generate,
    "hf-prompt-lookup": hf_prompt_lookup,
}


def as_loaded(args: argparse.Namespace) -> Any:
    """The same model once more, as transformers loads it: nothing packed, its own attention."""
    model = models.load(args.model, device=args.device, dtype=args.dtype).model
    if model.config._attn_implementation == attention.NAME:
        model.set_attn_implementation("sdpa")
    return model
