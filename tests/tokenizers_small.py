"""Small tokenizers of every kind that is met, built here: no file, no network."""

from __future__ import annotations

from functools import cache
from typing import Any

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from transformers import PreTrainedTokenizerFast

KINDS = ("byte-level", "llama", "llama-legacy", "gemma", "unigram")

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>{% endif %}"
)
CORPUS = [
    "Hello world, the parcel weighs three kilos and the price is 12 euros.",
    "한강이 도시를 가로질러 흐릅니다. 서울은 수도이다.",
    "深圳是一座城市。👩‍👩‍👧 and 👍🏽",
    "def describe(self):\n    return self.name",
]
_WORDS = [
    "▁",
    "▁the",
    "▁Hello",
    "Hello",
    "▁world",
    "world",
    "lo",
    "the",
    "er",
    "한",
    "강",
    "é",
    "\n",
]
_LETTERS = [chr(code) for code in range(0x21, 0x7F)]


@cache
def small(kind: str) -> Any:
    """A transformers tokenizer of this kind with control tokens and a chat template.

    <|im_start|> and <|im_end|> are special; <think> is an added token that is text but
    means something to the template; <note> and é! are added tokens that are text only.
    """
    backend = _byte_level() if kind == "byte-level" else _sentencepiece(kind)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<|im_end|>", clean_up_tokenization_spaces=False
    )
    tokenizer.add_tokens(
        [AddedToken("<|im_start|>", special=True, normalized=False)], special_tokens=True
    )
    tokenizer.add_tokens(
        [AddedToken(text, normalized=False) for text in ("<think>", "<note>", "é!")]
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def _byte_level() -> Tokenizer:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|im_end|>"],
        show_progress=False,
    )
    backend.train_from_iterator(CORPUS, trainer)
    return backend


def _sentencepiece(kind: str) -> Tokenizer:
    vocabulary = ["<unk>", "<s>", "<|im_end|>", *(f"<0x{byte:02X}>" for byte in range(256))]
    vocabulary += [word for word in [*_LETTERS, *_WORDS] if word not in vocabulary]
    if kind == "unigram":
        scored = [(token, -1.0 - len(token) / 10) for token in vocabulary]
        backend = Tokenizer(models.Unigram(scored, unk_id=0, byte_fallback=True))
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
        return backend
    ids = {token: place for place, token in enumerate(vocabulary)}
    merges = [("l", "o"), ("e", "r")]
    backend = Tokenizer(
        models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    spaces = normalizers.Replace(" ", "▁")
    if kind == "gemma":
        backend.normalizer = spaces
    elif kind == "llama-legacy":
        backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), spaces])
        steps.append(decoders.Strip(" ", 1, 0))
    else:
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
        steps.append(decoders.Strip(" ", 1, 0))
    backend.decoder = decoders.Sequence(steps)
    return backend
