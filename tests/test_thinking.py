"""How a model thinks, read off its template and tokenizer; what a prompt holds never counts."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from engine.phases import ANSWER, BEFORE, REASONING, Markers, Phases, State
from engine.prompt import PLAIN, Ask, behind_prompt, chat_prompt
from engine.text import TextPieces, Vocabulary
from engine.thinking import PAIRS, SWITCHES, Style, markers_of, phases_of, start_of, style_of
from tests.test_text import ANY_TEXT
from tests.tokenizers_small import KINDS, small

OPEN, CLOSE = PAIRS[0]
PAIR_IDS = [pair[1] for pair in PAIRS]
TURN = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
)
OPENED = TURN + "<think>\n{% endif %}{# splits at '</think>' #}"
SWITCHED = (
    TURN + "{% if enable_thinking is defined and enable_thinking is false %}"
    "<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
UNKNOWING = TURN + "{% endif %}"


def like(kind: str, template: str | None, *added: str) -> Any:
    """A small tokenizer with another template and further added tokens."""
    made = copy.deepcopy(small(kind))
    made.add_tokens([AddedToken(text, normalized=False) for text in added])
    made.chat_template = template
    return made


@cache
def line_ending() -> Any:
    """A byte-level tokenizer that, as Qwen's, has `</`, `think` and `>` with the line's ends."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [
        ("<", "/"), ("t", "h"), ("th", "i"), ("thi", "n"), ("thin", "k"), (">", "Ċ"),
        (">Ċ", "Ċ"), ("h", "i"), ("hi", "n"), ("hin", "k"), ("n", "k"), ("i", "nk"),
    ]  # fmt: skip
    words = [*alphabet, *(a + b for a, b in merges)]
    backend = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, merges))
    split = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(split), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=backend)


TOKENIZERS = {
    **{kind: lambda kind=kind: small(kind) for kind in KINDS},
    **{f"{kind}, one token": lambda kind=kind: like(kind, None, CLOSE, OPEN) for kind in KINDS},
    "byte-level, special": lambda: special(),
    "line ending": line_ending,
}


def special() -> Any:
    made = like("byte-level", None)
    made.add_tokens(
        [AddedToken(text, special=True, normalized=False) for text in (OPEN, CLOSE)],
        special_tokens=True,
    )
    return made


def own(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


class TestMarkers:
    @pytest.mark.parametrize("name", TOKENIZERS)
    @pytest.mark.parametrize("pair", PAIRS, ids=PAIR_IDS)
    def test_the_closing_ids_are_those_the_model_itself_writes(
        self, name: str, pair: tuple[str, str]
    ) -> None:
        """On a line of its own, as templates have it; they spell it and nothing else but white."""
        tokenizer = TOKENIZERS[name]()
        vocabulary = Vocabulary.of(tokenizer)
        markers = markers_of(tokenizer, vocabulary, Style(pair, native=True))
        ids = own(tokenizer, f"a\n{pair[1]}\n\n")
        assert any(
            tuple(ids[i : i + len(markers.closing)]) == markers.closing for i in range(len(ids))
        )
        spelled = b"".join(vocabulary.spelled[token] for token in markers.closing)
        assert spelled.strip() == markers.close == pair[1].encode()
        assert markers.open == pair[0].strip().encode()

    @pytest.mark.parametrize("name", TOKENIZERS)
    @pytest.mark.parametrize("pair", PAIRS, ids=PAIR_IDS)
    def test_however_far_a_marker_is_written_its_rest_completes_it(
        self, name: str, pair: tuple[str, str]
    ) -> None:
        """With its last token the answer begins, not before; in between it says the same."""
        tokenizer = TOKENIZERS[name]()
        vocabulary = Vocabulary.of(tokenizer)
        phases = phases_of(tokenizer, vocabulary, Style(pair, native=True), REASONING, 3)
        assert phases.markers is not None
        for written in range(len(phases.markers.close)):
            state = State(REASONING, 5, 5, written)
            rest = phases.forced(state)
            assert rest
            for place, token in enumerate(rest):
                assert phases.forced(state) == rest[place:]
                state = phases.advance(state, token)
            assert (state.mode, state.index) == (ANSWER, 0)

    @pytest.mark.parametrize("name", ["byte-level", "line ending"])
    @pytest.mark.parametrize("pair", PAIRS, ids=PAIR_IDS)
    def test_only_what_is_missing_is_appended(self, name: str, pair: tuple[str, str]) -> None:
        """Every byte has a token there, so nothing is written twice."""
        tokenizer = TOKENIZERS[name]()
        vocabulary = Vocabulary.of(tokenizer)
        markers = markers_of(tokenizer, vocabulary, Style(pair, native=True))
        for written in range(len(markers.close)):
            text = b"".join(vocabulary.spelled[token] for token in markers.rests[written])
            missing = markers.close[written:]
            if written and not _character_begins(markers.close, written):
                continue  # in the middle of a character: the whole marker may be written
            if written:
                assert text.startswith(missing)
            assert text.strip() == missing.strip()

    @pytest.mark.parametrize("kind", ["llama", "llama-legacy", "gemma", "unigram"])
    @pytest.mark.parametrize("written", range(1, len(CLOSE)))
    def test_a_tokenizer_with_spaces_before_words_completes_a_marker_without_one(
        self, kind: str, written: int
    ) -> None:
        tokenizer = small(kind)
        vocabulary = Vocabulary.of(tokenizer)
        markers = markers_of(tokenizer, vocabulary, Style(PAIRS[0], native=True))
        text = b"".join(vocabulary.spelled[token] for token in markers.rests[written])
        assert text.rstrip() == markers.close[written:]

    def test_a_marker_that_is_one_token_is_appended_as_that_token(self) -> None:
        for name in ("byte-level, one token", "byte-level, special", "gemma, one token"):
            tokenizer = TOKENIZERS[name]()
            markers = markers_of(tokenizer, Vocabulary.of(tokenizer), Style(PAIRS[0], native=True))
            assert markers.closing == (tokenizer.convert_tokens_to_ids(CLOSE),)
            assert markers.rests[0] == markers.closing

    def test_the_lines_end_that_is_one_token_with_the_marker_belongs_to_it(self) -> None:
        tokenizer = line_ending()
        vocabulary = Vocabulary.of(tokenizer)
        markers = markers_of(tokenizer, vocabulary, Style(PAIRS[0], native=True))
        assert [vocabulary.label(token) for token in markers.closing] == ["</", "think", ">\n\n"]
        assert markers.rests[2] == markers.closing[1:]
        assert markers.rests[7] == markers.closing[2:]
        # In the middle of a token the same last token is reached.
        assert markers.rests[3][-1] == markers.closing[-1]

    def test_white_space_behind_the_marker_is_the_answers(self) -> None:
        tokenizer = line_ending()
        vocabulary = Vocabulary.of(tokenizer)
        phases = phases_of(tokenizer, vocabulary, Style(PAIRS[0], native=True), REASONING, None)
        pieces = TextPieces(vocabulary, phases)
        shown, borders = "", []
        for token in own(tokenizer, "So.\n</think>\n\nYes"):
            shown += pieces.push(token)
            borders += [(len(shown) - 2, border.phase, border.cut) for border in pieces.borders]
        assert shown == "So.\n\n\nYes"
        assert borders == [(len("So.\n"), ANSWER, 0)]

    def test_a_tokenizer_that_cannot_spell_a_marker_is_said_so_and_runs_with_one_phase(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        backend = Tokenizer(models.WordLevel({"a": 0, "?": 1}, unk_token="?"))
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
        vocabulary = Vocabulary.of(tokenizer)
        with pytest.raises(ValueError, match="does not spell"):
            markers_of(tokenizer, vocabulary, Style(PAIRS[0], native=True))
        phases = phases_of(tokenizer, vocabulary, Style(PAIRS[0], native=True), REASONING, 5)
        assert not phases.thinks
        assert "cannot be told" in caplog.text


def _character_begins(data: bytes, place: int) -> bool:
    return data[place] & 0xC0 != 0x80


class TestStyle:
    @pytest.mark.parametrize(
        ("template", "pair"),
        [
            # As the chat templates of current open models write or split at their markers.
            ("{%- set content = content.split('</think>')[-1] %}<think>", 0),  # Qwen3
            ("{{ '<think>\\n\\n</think>\\n\\n' }}", 0),
            ("{% if '</think>' in m.content %}", 0),  # DeepSeek R1: never writes the opening one
            ("[THINK]{{ x }}[/THINK]", 1),  # Magistral
            ("{{ '<|channel>thought\\n<channel|>' }}", 2),  # Gemma 4
            ("<seed:think></seed:think>", 3),  # Seed-OSS
            ("<|START_THINKING|><|END_THINKING|>", 4),  # Command A Reasoning
            ("<|inner_prefix|>{{ x }}<|inner_suffix|>", 5),  # Apertus
            ("{{ '◁think▷' }}{{ '◁/think▷' }}", 6),  # Kimi
            ("<thought>{{ x }}</thought>", 7),  # EXAONE Deep
            ("<|start|>assistant<|channel|>analysis<|message|>{{ x }}<|end|>", 8),  # gpt-oss
        ],
    )
    def test_a_template_says_which_markers_its_model_uses(self, template: str, pair: int) -> None:
        assert style_of(like("byte-level", template)) == Style(PAIRS[pair], native=True)

    @pytest.mark.parametrize("pair", PAIRS[:-1], ids=PAIR_IDS[:-1])
    def test_so_does_a_vocabulary_with_both_markers(self, pair: tuple[str, str]) -> None:
        made = like("llama", UNKNOWING, *pair)
        assert style_of(made) == Style(pair, native=True)
        if pair != PAIRS[0]:  # the small tokenizers know <think>, and that alone says nothing
            assert not style_of(like("llama", UNKNOWING, pair[1])).native

    @pytest.mark.parametrize("template", [None, "", UNKNOWING])
    def test_a_model_that_knows_none_has_to_be_asked(self, template: str | None) -> None:
        style = style_of(like("byte-level", template))
        assert style == Style(PAIRS[0], native=False)
        assert CLOSE in style.instruction()
        assert "{" not in style.instruction()


class TestStart:
    def start(self, tokenizer: Any, ask: Ask = PLAIN) -> str:
        return start_of(style_of(tokenizer), behind_prompt(tokenizer, ask))

    def test_a_template_that_opens_the_tag_begins_in_the_thinking(self) -> None:
        assert self.start(like("byte-level", OPENED)) == REASONING

    def test_a_template_that_closes_an_empty_one_begins_with_the_answer(self) -> None:
        tokenizer = like("byte-level", SWITCHED)
        assert self.start(tokenizer, Ask(options={"enable_thinking": False})) == ANSWER
        assert self.start(tokenizer, Ask(options={"enable_thinking": True})) == BEFORE
        assert self.start(tokenizer) == BEFORE

    def test_a_template_that_knows_no_thinking_begins_with_the_answer(self) -> None:
        for template in (UNKNOWING, None):
            tokenizer = like("byte-level", template)
            assert self.start(tokenizer) == ANSWER
            asked = Ask(style_of(tokenizer).instruction(), OPEN + "\n")
            assert self.start(tokenizer, asked) == REASONING

    @pytest.mark.parametrize("pair", PAIRS, ids=PAIR_IDS)
    @pytest.mark.parametrize("native", [True, False])
    def test_only_the_last_marker_behind_the_prompt_counts(
        self, pair: tuple[str, str], native: bool
    ) -> None:
        style, (opening, close) = Style(pair, native), pair
        assert start_of(style, f"x{opening}") == REASONING
        assert start_of(style, f"x{opening}\n\n{close}\n\n") == ANSWER
        assert start_of(style, f"{opening}{close}{opening}\n") == REASONING
        assert start_of(style, "<|im_end|>\nassistant\n") == (BEFORE if native else ANSWER)

    @pytest.mark.parametrize("template", [OPENED, SWITCHED, UNKNOWING, None])
    @pytest.mark.parametrize(
        "prompt",
        [CLOSE, OPEN, f"{OPEN}\n{CLOSE}", f"a {CLOSE} b {OPEN}", f"x\n\n{OPEN}", "\ue0f0"],
    )
    @pytest.mark.parametrize("asks", [True, False])
    def test_what_a_prompt_holds_never_counts(
        self, template: str | None, prompt: str, asks: bool
    ) -> None:
        """What the template writes behind it is looked at without it."""
        tokenizer = like("byte-level", template)
        ask = Ask(Style(PAIRS[0], native=False).instruction(), OPEN) if asks else PLAIN
        assert OPEN not in behind_prompt(tokenizer, ask).removesuffix(OPEN).removesuffix(
            f"{OPEN}\n"
        )
        expected = self.start(tokenizer, ask)
        assert expected == (
            REASONING
            if asks or template == OPENED
            else BEFORE
            if template == SWITCHED or CLOSE in (template or "")
            else ANSWER
        )
        ids = chat_prompt(tokenizer, prompt, ask)
        assert ids
        phases = Phases(
            Vocabulary.of(tokenizer).spelled,
            Markers(OPEN.encode(), CLOSE.encode(), (1,), ((1,),) * len(CLOSE)),
            expected,
        )
        assert phases.begin() == State(expected)

    def test_an_instruction_that_names_the_marker_closes_nothing(self) -> None:
        style = Style(PAIRS[0], native=False)
        for template in (UNKNOWING, None):
            tokenizer = like("byte-level", template)
            after = behind_prompt(tokenizer, Ask(style.instruction(), OPEN + "\n"))
            assert CLOSE not in after
            assert start_of(style, after) == REASONING
            assert CLOSE not in behind_prompt(tokenizer, Ask(style.instruction()))


class TestAsk:
    ASK = Ask("Think first, then write </think>.", "<think>\n")

    @pytest.mark.parametrize("kind", KINDS)
    @given(prompt=ANY_TEXT)
    @settings(max_examples=30, deadline=None)
    def test_what_is_asked_stands_behind_the_prompt_in_its_turn(
        self, kind: str, prompt: str
    ) -> None:
        """And the opening is what the model has begun to write."""
        tokenizer = small(kind)
        turn = [{"role": "user", "content": f"{prompt}\n\n{self.ASK.instruction}"}]
        text = tokenizer.apply_chat_template(turn, add_generation_prompt=True, tokenize=False)
        expected = own(tokenizer, text + self.ASK.opening)
        assert chat_prompt(tokenizer, prompt, self.ASK) == expected

    @pytest.mark.parametrize("prompt", ["<|im_end|>", "a <think> b", "\n<think>\n<|im_start|>"])
    def test_a_prompt_that_spells_a_control_token_stays_text(self, prompt: str) -> None:
        tokenizer = small("byte-level")
        control = tokenizer.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>", OPEN])

        def of(ids: list[int]) -> list[int]:
            return [token for token in ids if token in control]

        ids, harmless = (chat_prompt(tokenizer, each, self.ASK) for each in (prompt, "x"))
        assert of(ids) == of(harmless)
        assert tokenizer.decode(ids) == tokenizer.decode(harmless).replace("x", prompt, 1)

    def test_without_a_template_it_is_a_paragraph_and_a_line(self) -> None:
        tokenizer = like("byte-level", None)
        expected = own(tokenizer, f"Hello\n\n{self.ASK.instruction}\n<think>\n")
        assert chat_prompt(tokenizer, "Hello", self.ASK) == expected
        assert behind_prompt(tokenizer, self.ASK) == "<think>\n"

    def test_options_reach_the_template(self) -> None:
        tokenizer = like("byte-level", SWITCHED)
        off = chat_prompt(tokenizer, "Hello", Ask(options={"enable_thinking": False}))
        on = chat_prompt(tokenizer, "Hello", Ask(options={"enable_thinking": True}))
        assert tokenizer.decode(off) == tokenizer.decode(on) + "<think>\n\n</think>\n\n"

    def test_nothing_asked_changes_nothing(self) -> None:
        for kind in KINDS:
            tokenizer = small(kind)
            assert chat_prompt(tokenizer, "Hello", Ask()) == chat_prompt(tokenizer, "Hello")


@pytest.mark.model
class TestReal:
    """The embedded model, which thinks by itself, and its base, which has to be asked."""

    def test_the_base_is_asked_and_its_thinking_is_opened_for_it(self, base: Any) -> None:
        style = style_of(base.tokenizer)
        assert not style.native
        ask = Ask(style.instruction(), OPEN + "\n")
        assert start_of(style, behind_prompt(base.tokenizer)) == ANSWER
        assert start_of(style, behind_prompt(base.tokenizer, ask)) == REASONING
        for prompt in ("Hello", f"a {CLOSE} <|im_end|> b"):
            ids = chat_prompt(base.tokenizer, prompt, ask)
            text = base.tokenizer.decode(ids)
            assert text.endswith(OPEN + "\n")
            assert f"{prompt}\n\n{style.instruction()}" in text

    def test_the_template_of_the_adapter_opens_the_thinking_or_the_answer(self, real: Any) -> None:
        style = style_of(real.tokenizer)
        assert style == Style((OPEN, CLOSE), native=True)
        for thinks, start in ((True, REASONING), (False, ANSWER)):
            ask = Ask(options=dict.fromkeys(SWITCHES, thinks))
            assert start_of(style, behind_prompt(real.tokenizer, ask)) == start
            text = real.tokenizer.decode(chat_prompt(real.tokenizer, "Hello", ask))
            assert text.count(CLOSE) == (not thinks)
            assert f"user\nHello<|im_end|>\n<|im_start|>assistant\n{OPEN}\n" in text

    def test_its_own_spelling_of_the_marker_closes_it(self, real: Any) -> None:
        style = style_of(real.tokenizer)
        markers = markers_of(real.tokenizer, real.vocabulary, style)
        phases = Phases(real.vocabulary.spelled, markers, REASONING, 1)
        for written in range(len(markers.close)):
            state = State(REASONING, 5, 5, written)
            rest = phases.forced(state)
            spelled = b"".join(real.vocabulary.spelled[token] for token in rest)
            assert spelled.strip() == markers.close[written:]
            for place, token in enumerate(rest):
                assert phases.forced(state) == rest[place:]
                state = phases.advance(state, token)
            assert (state.mode, state.index) == (ANSWER, 0)

    @given(
        thinking=st.sampled_from(["So.", " I see\n", "x <", "a </", "</thin", "한글 <", "ok>\n"]),
        answer=st.sampled_from(["Yes.", "\n\nYes", "\n", " </think>", "한국어", ">", "\t\tx"]),
    )
    @settings(max_examples=49, deadline=None)
    def test_a_text_with_a_marker_is_told_apart(
        self, real: Any, thinking: str, answer: str
    ) -> None:
        phases = phases_of(
            real.tokenizer, real.vocabulary, style_of(real.tokenizer), REASONING, None
        )
        pieces = TextPieces(real.vocabulary, phases)
        shown, at = "", None
        for token in own(real.tokenizer, thinking + CLOSE + answer):
            piece = pieces.push(token)
            at = len(shown) + pieces.borders[0].cut if pieces.borders else at
            shown += piece
        shown += pieces.flush()
        assert at is not None
        assert (shown[:at], shown[at:]) == (thinking, answer)
