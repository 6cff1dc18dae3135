"""Ids to text pieces that never split a character. No torch: a tokenizer, or plain bytes.

A token is bytes, not text: one Hangul syllable or one emoji may be spread over several
tokens. `Vocabulary` holds the bytes of every id, `TextPieces` turns a lane's ids into
pieces as they come. Joined, the pieces are the tokenizer's own decode of all ids
(special tokens skipped, spaces not "cleaned up"), with one difference on purpose: bytes
that are no UTF-8, which a decode shows as U+FFFD, are spelled out as ‹ed›, so that what
the model wrote can be seen and compared.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.errors import ModelError
from engine.phases import ANSWER, BEFORE, ONE_PHASE, REASONING, Ends, Phases, State

SPELL = "slipstream-spell"
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
# `Vocabulary.leading` of a decoder that drops every space of the first token.
_FIRST_TOKEN = -1


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Codecs error handler: each byte that is no UTF-8 as its hex digits in guillemets."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.end]
    return "".join(f"‹{byte:02x}›" for byte in stray), error.end


codecs.register_error(SPELL, _spell)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The bytes of every id; made once a model, shared by all lanes.

    tokens: bytes of each id, empty for the special ones, which are not text.
    names: the special tokens by their name, for display.
    leading: spaces the tokenizer's decoder drops at the start of a text; -1 means all
    those of the first token. spelled: as `tokens`, the special ones by their names.
    """

    tokens: Sequence[bytes]
    names: dict[int, str]
    leading: int = 0
    spelled: Sequence[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        spelled = list(self.tokens)
        for token, name in self.names.items():
            if 0 <= token < len(spelled):
                spelled[token] = name.encode()
        object.__setattr__(self, "spelled", spelled)

    @classmethod
    def of(cls, tokenizer: Any) -> Vocabulary:
        """Read a transformers tokenizer. Raises ModelError for a decoder unknown here."""
        special = set(tokenizer.all_special_ids)
        literal = {}
        for token_id, token in tokenizer.added_tokens_decoder.items():
            literal[token_id] = token.content
            if token.special:
                special.add(token_id)
        spell = _Speller(_decoders(tokenizer))
        size = max([len(tokenizer), *(i + 1 for i in literal)])
        strings = tokenizer.convert_ids_to_tokens(list(range(size)))
        tokens = [b""] * size
        for i, string in enumerate(strings):
            if i in special or string is None:
                continue
            tokens[i] = literal[i].encode() if i in literal else spell(string)
        names = {i: strings[i] for i in special if 0 <= i < size}
        return cls(tokens, names, spell.leading)

    def bytes_of(self, token: int) -> bytes:
        """Bytes of one id; none for an id the tokenizer does not know (padded rows)."""
        return self.tokens[token] if 0 <= token < len(self.tokens) else b""

    def label(self, token: int) -> str:
        """One token alone, for display: its text, its stray bytes, or its special name."""
        if token in self.names:
            return self.names[token]
        if not 0 <= token < len(self.tokens):
            return f"‹id {token}›"
        return self.tokens[token].decode("utf-8", SPELL)


def token_bytes(tokenizer: Any) -> list[bytes]:
    """Bytes of every id of a transformers tokenizer; empty for special tokens."""
    return list(Vocabulary.of(tokenizer).tokens)


@dataclass(frozen=True, slots=True)
class Border:
    """Where thinking opens or gives way to the answer, in one token's piece.

    phase: what begins there. cut: characters of the piece that still belong to what was
    before.
    """

    phase: str
    cut: int


class TextPieces:
    """One lane's ids to text, token by token; each piece holds whole characters only.

    A character spread over several tokens comes out with its last one; the pieces
    before it are empty. The markers around the thinking are left out, and what might
    become one is held back until it is known not to be. What is unfinished at the end
    comes with `flush`.
    """

    __slots__ = ("_decoder", "_held", "_leading", "_phases", "borders", "state", "vocabulary")

    def __init__(self, source: Any, phases: Phases = ONE_PHASE) -> None:
        """source: a Vocabulary (shared by lanes), a tokenizer, or the bytes of each id.

        phases: the rules of the run. `borders` holds those in the newest piece.
        """
        if isinstance(source, Vocabulary):
            self.vocabulary = source
        elif isinstance(source, list | tuple):
            self.vocabulary = Vocabulary(source, {})
        else:
            self.vocabulary = Vocabulary.of(source)
        self._decoder = codecs.getincrementaldecoder("utf-8")(SPELL)
        self._leading = self.vocabulary.leading
        self._phases = phases
        # What might be a marker: its bytes as spelled, and those of them that are text.
        self._held: list[bytes] = []
        self.state: State = phases.begin()
        self.borders: list[Border] = []

    def push(self, token: int) -> str:
        """The text that `token` completes."""
        before, ends = self.state, Ends()
        if self._phases.thinks:
            self.state, ends = self._phases.read(before, token)
            self.borders = []
        data = self.vocabulary.bytes_of(token)
        if not self._phases.thinks or before.mode == ANSWER:
            return self._decoder.decode(self._without_leading(data))
        return self._marked(token, data, ends)

    def _marked(self, token: int, data: bytes, ends: Ends) -> str:
        """The piece of a token in which a marker may begin, go on or end."""
        spelled = self._spell(token, data)
        if ends.failed:
            return self._release(0)
        piece, markers = "", self._phases.markers
        assert markers is not None  # only a run that thinks comes here
        for phase, end, marker in (
            (REASONING, ends.opened, markers.open),
            (ANSWER, ends.closed, markers.close),
        ):
            if end is None:
                continue
            tail = self._split(len(spelled) - end)
            # A character that is unfinished here stays so: what follows is another text.
            piece += self._release(len(marker)) + self._decoder.decode(b"", final=True)
            self._held = tail
            # White space before the opening marker goes to the thinking.
            self.borders.append(Border(phase, 0 if phase == REASONING else len(piece)))
        if self.state.mode == BEFORE:
            return piece
        return piece + self._release(self.state.matched if self.state.mode == REASONING else 0)

    def _spell(self, token: int, data: bytes) -> list[bytes]:
        """Hold the token's bytes as spelled; those that are no text are held as nothing."""
        shown = self._without_leading(data)
        known = 0 <= token < len(self.vocabulary.spelled)
        hidden = len(self.vocabulary.spelled[token]) - len(shown) if known else 0
        parts = [b""] * hidden + [shown[i : i + 1] for i in range(len(shown))]
        self._held += parts
        return parts

    def _split(self, behind: int) -> list[bytes]:
        """Take the last `behind` held bytes away and return them."""
        cut = len(self._held) - behind
        tail, self._held = self._held[cut:], self._held[:cut]
        return tail

    def _release(self, keep: int) -> str:
        """The text of what is held but for its last `keep` bytes, which are a marker's (so far)."""
        cut = len(self._held) - keep
        out = b"".join(self._held[:cut])
        self._held = self._held[cut:]
        return self._decoder.decode(out)

    def flush(self) -> str:
        """End of the text: what was held back; the unfinished character, if any, spelled out."""
        tail = self.unheld() + self._decoder.decode(b"", final=True)
        self._decoder.reset()
        self._leading = self.vocabulary.leading
        return tail

    def unheld(self) -> str:
        """What was held back as a possible marker: the text ends here, so it is none."""
        return self._release(0)

    def label(self, token: int) -> str:
        """One token alone, for display in a draft tree."""
        return self.vocabulary.label(token)

    def _without_leading(self, data: bytes) -> bytes:
        """`data` less what the decoder drops at the start of a text, as far as it is the start."""
        if not (self._leading and data):
            return data
        if self._leading == _FIRST_TOKEN:
            self._leading = 0
            return data.replace(b" ", b"")
        while self._leading and data.startswith(b" "):
            data = data[1:]
            self._leading -= 1
        if data:
            self._leading = 0
        return data


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's alphabet: printable bytes stand for themselves, the rest for U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {chr(byte): byte for byte in printable}
    rest = (byte for byte in range(256) if byte not in set(printable))
    return letters | {chr(0x100 + n): byte for n, byte in enumerate(rest)}


_LETTERS = _byte_alphabet()


def _decoders(tokenizer: Any) -> list[dict[str, Any]]:
    """The tokenizer's decoding steps in order, as plain values."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return _guessed(tokenizer.get_vocab())
    if backend.decoder is None:
        return [{"type": "Words"}]
    state = json.loads(backend.decoder.__getstate__())
    return _flat(state)


def _flat(state: dict[str, Any]) -> list[dict[str, Any]]:
    if state["type"] != "Sequence":
        return [state]
    return [step for inner in state["decoders"] for step in _flat(inner)]


def _guessed(vocabulary: Iterable[str]) -> list[dict[str, Any]]:
    """Decoding steps of a tokenizer written in Python, from the look of its tokens."""
    starts = [token[:1] for token in vocabulary]
    if starts.count("Ġ") > starts.count("▁"):
        return [{"type": "ByteLevel"}]
    return [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]


class _Speller:
    """Follows a tokenizer's decoding steps for one token at a time.

    leading: what those steps take away at the start of a whole text.
    """

    def __init__(self, steps: Sequence[dict[str, Any]]) -> None:
        self.leading = 0
        self._replace: list[tuple[str, str]] = []
        self._kinds = {step["type"] for step in steps}
        for step in steps:
            self._read(step)

    def _read(self, step: dict[str, Any]) -> None:
        match step:
            case {"type": "ByteLevel" | "ByteFallback" | "Fuse"}:
                return
            case {"type": "Words"}:  # no decoder at all: tokens joined by spaces
                self.leading = 1
            case {"type": "Replace", "pattern": {"String": old}, "content": new}:
                self._replace.append((old, new))
            case {"type": "Metaspace", "replacement": mark}:
                self._replace.append((mark, " "))
                never = step.get("prepend_scheme", "always") == "never"
                self.leading = 0 if never else _FIRST_TOKEN
            case {"type": "Strip", "content": " ", "start": start, "stop": 0}:
                self.leading = start
            case _:
                raise ModelError(
                    f"This model's tokenizer joins its tokens in a way Slipstream does not "
                    f"know ({step['type']}); choose a model with a byte-level or "
                    f"SentencePiece tokenizer."
                )

    def __call__(self, token: str) -> bytes:
        if "ByteFallback" in self._kinds and (match := _BYTE_TOKEN.fullmatch(token)):
            return bytes([int(match[1], 16)])
        for old, new in self._replace:
            token = token.replace(old, new)
        if "ByteLevel" in self._kinds:
            try:
                return bytes(_LETTERS[letter] for letter in token)
            except KeyError:  # not of the alphabet: such a token stands for itself
                return token.encode()
        return b" " + token.encode() if "Words" in self._kinds else token.encode()
