"""Attention that reads grouped keys and values once, for any mask.

transformers' sdpa path copies K and V for every query head as soon as there is a
mask; folding the query heads of a group into rows gives the same numbers without
the copy. Registered under a name of its own through transformers' attention
interface; no model's source is changed.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface

NAME = "slipstream"

# Arguments with which a model changes what attention means; none of them is known here.
_CHANGES_MEANING = ("softcap", "s_aux", "position_bias", "sliding_window")


def causal_mask(queries: int, keys: int, like: Tensor) -> Tensor:
    """Additive mask (1, 1, queries, keys) for the last `queries` of `keys` positions."""
    past = keys - queries
    hidden = torch.ones(queries, keys, dtype=torch.bool, device=like.device).triu(past + 1)
    mask = torch.zeros(queries, keys, dtype=like.dtype, device=like.device)
    return mask.masked_fill_(hidden, -math.inf)[None, None]


def grouped_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Scaled dot-product attention on grouped heads.

    query (B, heads, N, d), key and value (B, kv heads, L, d); `attention_mask` is
    additive, (B or 1, 1, N, L) or already repeated for the heads of a group; None means
    plainly causal. Returns (B, N, heads, d).
    Raises NotImplementedError for attention with a soft cap, sinks, a bias or a window.
    """
    for name in _CHANGES_MEANING:
        if kwargs.get(name) is not None:
            raise NotImplementedError(f"attention with {name} is not supported")
    batch, heads, n, _ = query.shape
    groups, length = key.shape[1], key.shape[2]
    if attention_mask is None and n > 1:
        attention_mask = causal_mask(n, length, query)
    rows = heads // groups * n
    if attention_mask is not None and attention_mask.shape[-2] != rows:
        attention_mask = attention_mask.repeat(1, 1, rows // n, 1)
    out = scaled_dot_product_attention(
        query.reshape(batch, groups, rows, -1),
        key,
        value,
        attn_mask=attention_mask,
        scale=scaling,
    )
    return out.view(batch, heads, n, -1).transpose(1, 2), None


def _no_mask(*args: Any, **kwargs: Any) -> None:
    """`grouped_attention` makes its own causal mask where none is given."""
    return


AttentionInterface.register(NAME, grouped_attention)
AttentionMaskInterface.register(NAME, _no_mask)
