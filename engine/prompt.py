"""A prompt to ids: one turn of the model's chat, or plain text. No torch.

What a visitor types is text and nothing else: `<|im_end|>` in a prompt is eleven
characters, never the token that ends a turn.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tokenizers import Tokenizer, pre_tokenizers

from engine.errors import PromptError

log = logging.getLogger(__name__)

# Stands for the prompt while the template around it is looked at; private-use
# characters, so no template and no tokenizer gives them a meaning.
_HOLE = "\ue0f0\ue0f1\ue0f2"


@dataclass(frozen=True, slots=True)
class Ask:
    """What is put around a visitor's prompt.

    instruction: a paragraph behind it, in the same turn. opening: what the model is made
    to begin its answer with. options: what the chat template is told.
    """

    instruction: str = ""
    opening: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def turn(self, prompt: str) -> str:
        """The whole turn."""
        return f"{prompt}\n\n{self.instruction}" if self.instruction else prompt


PLAIN = Ask()


def chat_prompt(tokenizer: Any, prompt: str, ask: Ask = PLAIN) -> list[int]:
    """Ids of `prompt` as one turn of chat, answer about to begin; plain ids without a template.

    Equal to the tokenizer's own chat ids for every prompt that does not spell a
    control token. Raises PromptError if nothing is left to read, or if the template
    or the tokenizer cannot keep such a prompt plain.
    """
    # A browser can send half a surrogate pair, which no tokenizer takes.
    prompt = prompt.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if getattr(tokenizer, "chat_template", None):
        whole = _render(tokenizer, prompt, ask)
        ids = _ids(tokenizer, whole, prompt, _around(tokenizer, whole, ask))
    else:
        start, end = _frame(tokenizer)
        behind = ask.turn("") + ("\n" + ask.opening if ask.opening else "")
        ids = [*start, *_ids(tokenizer, prompt + behind, prompt, ("", prompt, behind)), *end]
    if not ids:
        raise PromptError("The prompt is empty; write at least one word.")
    return ids


def behind_prompt(tokenizer: Any, ask: Ask = PLAIN) -> str:
    """What the template writes between the visitor's text and the model's own.

    Empty where the template rewrites its text, so that the two cannot be told apart.
    """
    if not getattr(tokenizer, "chat_template", None):
        return ask.opening
    _, hole, after = _render(tokenizer, _HOLE, ask).partition(_HOLE)
    return after.removeprefix(ask.turn("")) if hole else ""


def _ids(tokenizer: Any, whole: str, prompt: str, parts: tuple[str, str, str] | None) -> list[int]:
    """Ids of the rendered text `whole`, its middle part (what the visitor wrote) kept plain."""
    spelled = [token for token in _control_tokens(tokenizer) if token.content in prompt]
    if not spelled:
        return _encode(tokenizer, whole)
    ids = _plain_inside(tokenizer, *parts) if parts else None
    if ids is None:
        raise PromptError(
            f"This model cannot take {spelled[0].content} as plain text; "
            f"leave it out of the prompt."
        )
    return ids


def _encode(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _frame(tokenizer: Any) -> tuple[list[int], list[int]]:
    """What the tokenizer itself puts before and after a plain text (mostly one BOS)."""
    inner = _encode(tokenizer, "a")
    whole = list(tokenizer("a")["input_ids"])
    for cut in range(len(whole) - len(inner) + 1):
        if whole[cut : cut + len(inner)] == inner:
            return whole[:cut], whole[cut + len(inner) :]
    return [], []


def _render(tokenizer: Any, prompt: str, ask: Ask) -> str:
    turn = [{"role": "user", "content": ask.turn(prompt)}]
    try:
        text = tokenizer.apply_chat_template(
            turn, add_generation_prompt=True, tokenize=False, **ask.options
        )
    except Exception as error:  # templates raise what they like
        log.info("the chat template refuses", exc_info=True)
        raise PromptError(
            "This model's chat template does not accept a single question; choose another model."
        ) from error
    return str(text) + ask.opening


def _around(tokenizer: Any, whole: str, ask: Ask) -> tuple[str, str, str] | None:
    """The chat text in three parts: what precedes the prompt, the prompt, what follows.

    None where the template rewrites its text, so that the parts cannot be told apart.
    """
    before, hole, after = _render(tokenizer, _HOLE, ask).partition(_HOLE)
    if not hole or len(before) + len(after) > len(whole):
        return None
    if not (whole.startswith(before) and whole.endswith(after)):
        return None
    return before, whole[len(before) : len(whole) - len(after)], after


def _control_tokens(tokenizer: Any) -> list[Any]:
    """Tokens with a meaning to the model: special ones, and those its template writes."""
    template = str(getattr(tokenizer, "chat_template", None) or "")
    return [
        token
        for token in tokenizer.added_tokens_decoder.values()
        if token.special or (token.content in template and not token.content.isspace())
    ]


def _plain_inside(tokenizer: Any, before: str, text: str, after: str) -> list[int] | None:
    """Ids of the three parts with the control tokens in `text` read as plain text.

    A tokenizer splits a text at its control tokens and reads each stretch alone, so the
    stretch around `text` can be read by a tokenizer that knows no control tokens. The
    way is tried first on the same text with its control tokens blotted out, where the
    tokenizer itself says what is right. None if that fails.
    """
    control = _control_tokens(tokenizer)
    head, left, strip_left = _cut(before, control, last=True)
    tail, right, strip_right = _cut(after, control, last=False)

    def stretch(middle: str) -> str:
        middle = left + middle + right
        middle = middle.lstrip() if strip_left else middle
        return middle.rstrip() if strip_right else middle

    head_ids, tail_ids = _encode(tokenizer, head), _encode(tokenizer, tail)
    blotted = _blot(text, [token.content for token in control])
    expected = _encode(tokenizer, before + blotted + after)
    for read in _plain_readers(tokenizer, control):
        if [*head_ids, *read(stretch(blotted)), *tail_ids] == expected:
            inner = read(stretch(text))
            ids = set(tokenizer.convert_tokens_to_ids([token.content for token in control]))
            return None if ids & set(inner) else [*head_ids, *inner, *tail_ids]
    return None


def _cut(text: str, control: list[Any], *, last: bool) -> tuple[str, str, bool]:
    """Cut at the control token nearest to the prompt.

    Returns the part with that token, the part between it and the prompt, and whether
    the token swallows the white space on that side. Without one, all of it is between.
    """
    found = [(text.rfind(t.content) if last else text.find(t.content), t) for t in control]
    found = [(at, token) for at, token in found if at >= 0]
    if not found:
        return "", text, False
    if last:
        at, token = max(found, key=lambda each: each[0] + len(each[1].content))
        end = at + len(token.content)
        return text[:end], text[end:], bool(token.rstrip)
    at, token = min(found, key=lambda each: each[0])
    return text[at:], text[:at], bool(token.lstrip)


def _blot(text: str, contents: list[str]) -> str:
    """`text` with every control token in it replaced by a letter."""
    for content in contents:
        text = text.replace(content, "x")
    return text


def _plain_readers(tokenizer: Any, control: list[Any]) -> Iterator[Callable[[str], list[int]]]:
    """Ways to read a stretch of text without control tokens, likeliest first."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        yield lambda text: list(
            tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        )
        return
    known = {token.content for token in control}
    harmless = [t for t in tokenizer.added_tokens_decoder.values() if t.content not in known]
    splitters = [backend.pre_tokenizer]
    if isinstance(backend.pre_tokenizer, pre_tokenizers.Metaspace):
        # Mid-text, such a tokenizer puts no space before a stretch.
        mark = backend.pre_tokenizer
        splitters.append(
            pre_tokenizers.Metaspace(mark.replacement, prepend_scheme="never", split=mark.split)
        )
    for splitter in splitters:
        yield _reader(backend, splitter, harmless)


def _reader(backend: Any, splitter: Any, harmless: list[Any]) -> Callable[[str], list[int]]:
    """A tokenizer of the same model that knows only the `harmless` added tokens."""
    plain = Tokenizer(backend.model)
    if backend.normalizer is not None:
        plain.normalizer = backend.normalizer
    if splitter is not None:
        plain.pre_tokenizer = splitter
    plain.add_tokens(harmless)
    # Added tokens outside the model's own vocabulary are numbered anew: number them back.
    back = {plain.token_to_id(t.content): backend.token_to_id(t.content) for t in harmless}
    return lambda text: [back.get(i, i) for i in plain.encode(text, add_special_tokens=False).ids]
