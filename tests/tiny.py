"""Random two-layer models in float64: small enough to re-read everything at every token."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

ARCHITECTURES = ("llama", "qwen2", "qwen3")
VOCABULARY = 64
BYTES = tuple(bytes([0x20 + token]) for token in range(VOCABULARY))
"""A text for every id, one character each."""

_KINDS: dict[str, tuple[Any, Any]] = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
}


def fresh(
    architecture: str,
    seed: int = 0,
    attention: str = "slipstream",
    *,
    dtype: torch.dtype = torch.float64,
    kv_heads: int = 2,
    vocabulary: int = VOCABULARY,
    tied: bool = False,
) -> Any:
    """A model of its own: equal arguments give equal weights, whatever the attention."""
    config_class, model_class = _KINDS[architecture]
    config = config_class(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=kv_heads,
        head_dim=8,
        max_position_embeddings=512,
        initializer_range=0.35,
        tie_word_embeddings=tied,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )
    state = torch.random.get_rng_state()
    torch.manual_seed(seed)
    model = model_class(config)
    # Biases and norms start as zeros and ones, where a mistake with them would not show.
    for name, weight in sorted(model.named_parameters()):
        if weight.ndim == 1:
            torch.nn.init.normal_(weight, 1.0 if "norm" in name else 0.0, 0.3)
    torch.random.set_rng_state(state)
    model = model.to(dtype).eval().requires_grad_(False)
    if attention == "slipstream":
        import engine.attention  # noqa: F401  (registers the name)
    model.set_attn_implementation(attention)
    return model


tiny = cache(fresh)
"""The same model for every test that asks for it; not to be changed."""
