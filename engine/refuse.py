"""Which models this engine decodes exactly, told from the config before any weight is fetched.

Speculative decoding scores many positions in one forward and takes back those that were
not chosen. That is exact only where every position keeps its own key and value, any
position may attend to any earlier one, and the model takes its positions and its mask
from the caller. Everything else is refused here, with the reason.
"""

from __future__ import annotations

import inspect
from typing import Any

from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

# Config fields that only models with a recurrent or convolutional state have.
_RECURRENT = (
    "ssm_state_size",
    "ssm_cfg",
    "mamba_d_state",
    "mamba_d_conv",
    "linear_num_key_heads",
    "linear_attn_config",
    "lru_width",
    "conv_L_cache",
    "rescale_every",
)
# Models of sound, pictures or bytes whose config does not say so.
_MORE_THAN_TEXT = {"moshi", "phi4_multimodal", "blt"}
_STATEFUL = {"linear_attention", "mamba", "conv", "hybrid", "hybrid_sliding", "moe"}
_SPARSE = ("index_topk", "attention_chunk_size", "block_sparse_attention", "sparse_attention")


def refusal(config: Any) -> str | None:
    """Why a model with this config cannot be decoded exactly, in one sentence; None if it can."""
    reason = _kind(config) or _attention(config) or _architecture(config)
    if reason is None:
        return None
    return f"{reason}; choose a text model with full attention, such as Qwen3, Qwen2.5 or Llama."


def _kind(config: Any) -> str | None:
    """Is it a decoder of text and nothing else?"""
    if getattr(config, "is_encoder_decoder", False):
        return "This model has an encoder beside its decoder, which Slipstream does not drive"
    if config.get_text_config(decoder=True) is not config:
        return "This model also reads pictures or sound, and Slipstream drives text models only"
    if type(config) in MODEL_FOR_MASKED_LM_MAPPING:  # BERT and its kin see what comes after
        return f"A model of type {config.model_type!r} is made to read text, not to write it"
    if config.model_type in _MORE_THAN_TEXT:
        return "This model also reads pictures or sound, and Slipstream drives text models only"
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        return f"A model of type {config.model_type!r} does not write text token by token"
    quantised = getattr(config, "quantization_config", None)
    if isinstance(quantised, dict) and quantised.get("quant_method") != "gguf":
        return "This model's weights are stored quantised, which is read from GGUF files only"
    return None


def _attention(config: Any) -> str | None:
    """Is its attention plain, full and causal, as far as the config tells?"""
    if any(getattr(config, name, None) for name in _RECURRENT):
        return "This model keeps a recurrent state, which cannot be taken back after a wrong draft"
    layers = set(getattr(config, "layer_types", None) or ()) | set(
        getattr(config, "attention_layers", None) or ()
    )
    layers -= {"full_attention", "attention", "global"}
    if layers & {"sliding_attention", "chunked_attention", "local"} or _window(config):
        return "This model's attention is cut to a window, where a draft tree is not exact"
    if layers & _STATEFUL or getattr(config, "layers_block_type", None):
        return "This model keeps a recurrent state, which cannot be taken back after a wrong draft"
    if layers or any(getattr(config, name, None) for name in _SPARSE):
        return "This model attends to chosen positions only, where a draft tree is not exact"
    if getattr(config, "attn_logit_softcapping", None):
        return "This model caps its attention scores, which sdpa attention cannot do"
    if getattr(config, "alibi", False):
        return "This model counts positions by rows (ALiBi), which a draft tree does not keep"
    return None


def _window(config: Any) -> bool:
    """Is a sliding window set that some text within the model's context would feel?"""
    window = getattr(config, "sliding_window", None)
    if not window or getattr(config, "use_sliding_window", None) is False:
        return False
    return bool(window < (getattr(config, "max_position_embeddings", None) or float("inf")))


def _architecture(config: Any) -> str | None:
    """Does its code offer what the engine needs? Imports the model's class, builds nothing."""
    model: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    if getattr(model, "_is_stateful", False):
        return "This model keeps a recurrent state, which cannot be taken back after a wrong draft"
    if not getattr(model, "_supports_sdpa", False):
        return "This model does not work with sdpa attention, the only kind that is exact here"
    takes = set(inspect.signature(model.forward).parameters)
    if not {"position_ids", "attention_mask"} <= takes or not {"past_key_values", "cache"} & takes:
        return "This model does not take its positions from the caller, as a draft tree needs"
    return None
