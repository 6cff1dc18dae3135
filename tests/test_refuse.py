"""What is refused from the config alone, and that nothing which can be decoded is."""

from __future__ import annotations

import re

import pytest
import transformers as t

from engine.refuse import refusal


def qwen2_with_a_window():
    return t.Qwen2Config(use_sliding_window=True, sliding_window=1024, max_window_layers=0)


def window_switched_off():
    config = t.Qwen2Config()
    config.sliding_window = 4096  # left in the file, as some models do
    return config


ACCEPTED = {
    "Llama": t.LlamaConfig,
    "Llama, dynamic rope": lambda: t.LlamaConfig(
        rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
    ),
    "Qwen2": t.Qwen2Config,
    "Qwen2, window switched off": lambda: t.Qwen2Config(
        use_sliding_window=False, sliding_window=4096
    ),
    "Qwen2, window left in the file": window_switched_off,
    "Qwen3": t.Qwen3Config,
    "Qwen3-MoE": t.Qwen3MoeConfig,
    "Mistral without a window": lambda: t.MistralConfig(sliding_window=None),
    "Mixtral": t.MixtralConfig,
    "GPT-2": t.GPT2Config,
    "GPT-NeoX": t.GPTNeoXConfig,
    "Gemma": t.GemmaConfig,
    "Olmo2": t.Olmo2Config,
    "Phi": t.PhiConfig,
    "Phi-3 without a window": lambda: t.Phi3Config(sliding_window=None),
    "Phi-3, window wider than its context": lambda: t.Phi3Config(
        sliding_window=262_144, max_position_embeddings=131_072
    ),
    "SmolLM3": t.SmolLM3Config,
    "DeepSeek-V3": t.DeepseekV3Config,
    "Llama from a GGUF": lambda: t.LlamaConfig(quantization_config={"quant_method": "gguf"}),
}

REFUSED = {
    "Mistral with a window": (lambda: t.MistralConfig(sliding_window=4096), "window"),
    "Phi-3 with a window": (lambda: t.Phi3Config(sliding_window=2047), "window"),
    "Qwen2 with a window": (qwen2_with_a_window, "window"),
    "Gemma 2": (t.Gemma2Config, "window"),
    "Gemma 2, full attention": (
        lambda: t.Gemma2Config(
            layer_types=["full_attention"] * 2, num_hidden_layers=2, sliding_window=None
        ),
        "caps its attention scores",
    ),
    "Gemma 3 (text)": (t.Gemma3TextConfig, "window"),
    "Gemma 3": (t.Gemma3Config, "pictures"),
    "GPT-Neo, local layers": (t.GPTNeoConfig, "window"),
    "GPT-OSS": (t.GptOssConfig, "window"),
    "GPT-OSS, full attention": (
        lambda: t.GptOssConfig(
            layer_types=["full_attention"] * 2, num_hidden_layers=2, sliding_window=None
        ),
        "sdpa",
    ),
    "Llama 4 (text), chunks": (t.Llama4TextConfig, "window"),
    "Mamba": (t.MambaConfig, "recurrent"),
    "Mamba 2": (t.Mamba2Config, "recurrent"),
    "Falcon-Mamba": (t.FalconMambaConfig, "recurrent"),
    "RWKV": (t.RwkvConfig, "recurrent"),
    "Jamba": (t.JambaConfig, "recurrent"),
    "Bamba": (t.BambaConfig, "recurrent"),
    "Falcon-H1": (t.FalconH1Config, "recurrent"),
    "Zamba 2": (t.Zamba2Config, "recurrent"),
    "LFM2": (t.Lfm2Config, "recurrent"),
    "RecurrentGemma": (t.RecurrentGemmaConfig, "recurrent"),
    "Qwen3-Next": (t.Qwen3NextConfig, "recurrent"),
    "Bloom": (t.BloomConfig, "sdpa|positions"),
    "MPT": (t.MptConfig, "sdpa|positions"),
    "Falcon with ALiBi": (lambda: t.FalconConfig(alibi=True), "ALiBi"),
    "T5": (t.T5Config, "encoder"),
    "Bart": (t.BartConfig, "encoder"),
    "Bert": (t.BertConfig, "read text"),
    "RoBERTa": (t.RobertaConfig, "read text"),
    "ViT": (t.ViTConfig, "does not write"),
    "FP8": (lambda: t.LlamaConfig(quantization_config={"quant_method": "fp8"}), "quantised"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_full_attention_is_accepted(name):
    assert refusal(ACCEPTED[name]()) is None


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_exact_is_refused_in_one_sentence(name):
    config, why = REFUSED[name]
    reason = refusal(config())
    assert reason is not None
    assert reason.endswith(".")
    assert "\n" not in reason
    assert re.search(why, reason)
