"""Laws of text pieces: whole characters, as early as can be, and joined the full decode."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from engine.errors import ModelError
from engine.text import TextPieces, Vocabulary, token_bytes
from tests.tokenizers_small import KINDS, small

TEXTS = [
    "Hello world",
    " two  spaces ",
    "서울은 대한민국의 수도이다",
    "深圳是一座城市",
    "family 👩‍👩‍👧 thumbs 👍🏽 flag 🇰🇷",
    "e\u0301a\u0308 한\u1100\u1161\u11a8",
    "tabs\tand\nlines\r\n",
    "",
]
UNFINISHED = re.compile(
    rb"[\xc2-\xf4]|\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]?|[\xf1-\xf3][\x80-\xbf]{1,2}|\xf4[\x80-\x8f][\x80-\xbf]?"
)
ANY_TEXT = st.one_of(st.sampled_from(TEXTS), st.text(max_size=30))


def written(source, ids):
    """The pieces of a text, its held-back end last."""
    pieces = TextPieces(source)
    return [*(pieces.push(i) for i in ids), pieces.flush()]


def spelled(data):
    """Stray bytes in guillemets, by another way than the engine's: surrogate escapes."""
    text = data.decode("utf-8", "surrogateescape")
    return "".join(f"‹{ord(c) - 0xDC00:02x}›" if "\udc80" <= c <= "\udcff" else c for c in text)


def decoded(tokenizer, ids):
    return tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("kind", KINDS)
@given(text=ANY_TEXT)
@settings(max_examples=60, deadline=None)
def test_pieces_joined_are_the_decode_of_any_text(kind, text):
    tokenizer = small(kind)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert "".join(written(Vocabulary.of(tokenizer), ids)) == decoded(tokenizer, ids)


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_ids_joined_are_the_decode_but_for_stray_bytes(data):
    tokenizer = small("byte-level")
    last = len(tokenizer) - 2  # the one after it is `é!`, which the tokenizer's decode garbles
    ids = data.draw(st.lists(st.integers(0, last), max_size=24))
    vocabulary = Vocabulary.of(tokenizer)
    joined = b"".join(vocabulary.bytes_of(i) for i in ids)
    assert joined.decode("utf-8", "replace") == decoded(tokenizer, ids)
    assert "".join(written(vocabulary, ids)) == spelled(joined)


@pytest.mark.parametrize("kind", KINDS[1:])
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_any_ids_with_byte_fallback_joined_are_the_decode(kind, data):
    """Where a run of bytes is no text, such a decoder gives up the whole run; pieces do not."""
    tokenizer = small(kind)
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1), max_size=24))
    expected = decoded(tokenizer, ids)
    space = tokenizer.convert_tokens_to_ids("<0x20>")
    if "\ufffd" not in expected and space not in ids:
        assert "".join(written(Vocabulary.of(tokenizer), ids)) == expected


@given(parts=st.lists(st.binary(max_size=5), max_size=12))
@settings(max_examples=300, deadline=None)
def test_pieces_hold_all_whole_characters_so_far_and_no_half_one(parts):
    pieces, seen, shown = TextPieces(parts), b"", ""
    for token, part in enumerate(parts):
        seen += part
        shown += pieces.push(token)
        held = next(n for n in range(4) if spelled(seen[: len(seen) - n]) == shown)
        tail = seen[len(seen) - held :]
        assert not tail or unfinished(tail)
        assert held or not seen or not any(unfinished(seen[-n:]) for n in (1, 2, 3))
    assert shown + pieces.flush() == spelled(seen)


def unfinished(tail):
    """Could more bytes make a character of these? By the table in the Unicode standard."""
    return bool(UNFINISHED.fullmatch(tail))


def test_a_character_comes_out_with_its_last_token():
    bits = [bytes([byte]) for byte in "한👍".encode()]
    assert written(bits, range(7)) == ["", "", "한", "", "", "", "👍", ""]


def test_an_unfinished_end_is_held_back_then_spelled_out():
    assert written([b"a", b"\xed", b"\x95"], [0, 1, 2]) == ["a", "", "", "‹ed›‹95›"]


def test_a_broken_character_is_spelled_out_when_it_is_known_to_be_broken():
    assert written([b"\xed", b"b", b"\xff"], [0, 1, 2]) == ["", "‹ed›b", "‹ff›", ""]


def test_pieces_can_be_used_again_after_flush():
    tokenizer = small("llama")
    ids = tokenizer("Hello world", add_special_tokens=False)["input_ids"]
    pieces = TextPieces(tokenizer)
    first = [pieces.push(i) for i in ids] + [pieces.flush()]
    assert [pieces.push(i) for i in ids] + [pieces.flush()] == first
    assert "".join(first) == "Hello world"


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_are_no_text_but_have_a_name(kind):
    tokenizer = small(kind)
    ids = tokenizer.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>", "<think>"])
    assert "".join(written(tokenizer, ids)) == "<think>"
    vocabulary = Vocabulary.of(tokenizer)
    assert [vocabulary.label(i) for i in ids] == ["<|im_start|>", "<|im_end|>", "<think>"]
    assert [token_bytes(tokenizer)[i] for i in ids] == [b"", b"", b"<think>"]


def test_added_tokens_are_literal():
    """é is in the byte alphabet, where it would mean the byte e9."""
    tokenizer = small("byte-level")
    assert TextPieces(tokenizer).push(tokenizer.convert_tokens_to_ids("é!")) == "é!"


@pytest.mark.parametrize("kind", KINDS)
def test_every_label_can_be_shown(kind):
    vocabulary = Vocabulary.of(small(kind))
    labels = [vocabulary.label(i) for i in range(len(vocabulary.tokens))]
    assert "\ufffd" not in "".join(labels)
    assert all(labels)


def test_ids_beyond_the_tokenizer_are_no_text():
    """A model's table is often padded, and its padding can be drafted."""
    pieces = TextPieces([b"a"])
    assert [pieces.push(0), pieces.push(7), pieces.flush()] == ["a", "", ""]
    assert pieces.label(7) == "‹id 7›"


def test_words_without_a_decoder_are_joined_by_spaces():
    backend = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    assert "".join(written(tokenizer, [0, 1, 1])) == decoded(tokenizer, [0, 1, 1]) == "a b b"


def test_an_unknown_decoder_is_refused():
    backend = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    backend.decoder = decoders.WordPiece()
    with pytest.raises(ModelError, match="WordPiece"):
        Vocabulary.of(PreTrainedTokenizerFast(tokenizer_object=backend))


def test_text_and_prompts_need_no_torch():
    code = "import sys, engine.text, engine.prompt, engine.record; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.model
@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_the_real_tokenizer_agrees(real, data):
    tokenizer, vocabulary = real.tokenizer, real.vocabulary
    of_a_text = ANY_TEXT.map(lambda text: tokenizer(text, add_special_tokens=False)["input_ids"])
    any_ids = st.lists(st.integers(0, len(tokenizer) - 1), max_size=24)
    ids = data.draw(st.one_of(of_a_text, any_ids))
    joined = b"".join(vocabulary.bytes_of(i) for i in ids)
    assert joined.decode("utf-8", "replace") == decoded(tokenizer, ids)
    assert "".join(written(vocabulary, ids)) == spelled(joined)
