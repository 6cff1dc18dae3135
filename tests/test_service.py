"""The machine behind the page: one race at a time, and a model that stays until a better one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models
from transformers import PreTrainedTokenizerFast

from engine.cost import SIZES, ForwardCost
from engine.errors import ModelError, PromptError, UserError
from engine.events import Compare, Draft, Finish, Phase, Run, Step, from_dict
from engine.machine import Machine
from engine.models import Loaded
from engine.record import check
from engine.text import Vocabulary
from slipstream import LANES, service
from slipstream.lanes import SPECULATING
from slipstream.model import Model
from slipstream.request import Bounds, Request
from slipstream.service import PageService
from tests.reference import greedy, sampled, written_plainly
from tests.tiny import BYTES, tiny
from ui.service import RaceRequest

CONTEXT = 200
PROMPT = "ABBA 2 ABBA 3"
BOUNDS = Bounds(new_tokens=64)


def tokenizer() -> Any:
    """One character a token."""
    vocabulary = {text.decode(): token for token, text in enumerate(BYTES)}
    backend = Tokenizer(models.BPE(vocabulary, []))
    return PreTrainedTokenizerFast(tokenizer_object=backend)


def model(name: str = "tiny", eos: frozenset[int] = frozenset()) -> Model:
    cost = ForwardCost([0.01 + 0.0005 * size for size in SIZES], [0.0] * len(SIZES))
    vocabulary = Vocabulary(BYTES, {})
    loaded = Loaded(
        model=tiny("llama"), tokenizer=tokenizer(), vocabulary=vocabulary, name=name, revision="",
        device="cpu", device_name="this CPU", dtype="float64", parameters=1, context=CONTEXT,
        eos=eos, has_chat_template=False, note="A note.",
    )  # fmt: skip
    model = Model(loaded)
    vars(model)["machine"] = Machine(tiny("llama"), cost, 1e-9, 0, 0.0)  # nothing is measured
    return model


def asked(**values: Any) -> Any:
    """What the page asks with."""
    usual: dict[str, Any] = {
        "prompt": PROMPT, "lanes": tuple(LANES), "max_new_tokens": 24, "temperature": 0.0,
        "top_p": 1.0, "top_k": 0, "seed": 3, "capacity": "auto", "think": "off",
    }  # fmt: skip
    return RaceRequest(**{**usual, **values})


@pytest.fixture
def page() -> PageService:
    return PageService(model(), public=False, bounds=BOUNDS)


def ids_of(text: str) -> list[int]:
    return [BYTES.index(letter.encode()) for letter in text]


@pytest.mark.parametrize("capacity", ["auto", "1", "24"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_every_lane_there_is_writes_the_plain_text(
    capacity: str, temperature: float, page: PageService
) -> None:
    choose = sampled(temperature, 0, 0.9, 3) if temperature else greedy
    text, _ = written_plainly(tiny("llama", 0, "sdpa"), choose, ids_of(PROMPT), 24)
    events = list(page.race(asked(capacity=capacity, temperature=temperature, top_p=0.9)))
    first = events[0]
    assert isinstance(first, Run)
    assert [lane["key"] for lane in first.lanes] == list(LANES)
    assert first.prompt_tokens == len(PROMPT)
    for lane in LANES:
        steps = [event for event in events if isinstance(event, Step) and event.lane == lane]
        assert [token for step in steps for token in step.tokens] == text
        shown = "".join(piece for step in steps for piece in step.pieces)
        assert shown == b"".join(BYTES[token] for token in text).decode()
    ends = [event for event in events if isinstance(event, Finish)]
    assert {end.lane: end.reason for end in ends} == dict.fromkeys(LANES, "length")
    verdicts = [event for event in events if isinstance(event, Compare) and event.complete]
    assert {each.lane for each in verdicts} == set(LANES) - {"vanilla"}
    assert all(each.identical and each.checked == 24 for each in verdicts)
    for event in events:
        assert from_dict(event.as_dict()).kind == event.kind


CLOSING = 25
"""The id whose text is the closing marker, in a tokenizer made so that it has one."""


def thinking_model(native: bool) -> Model:
    """Knows </think>, which is a part of its template or only of its vocabulary."""
    texts = [text.decode() for text in BYTES]
    texts[CLOSING], texts[CLOSING + 1] = "</think>", "<think>"
    backend = Tokenizer(models.BPE({text: token for token, text in enumerate(texts)}, []))
    made = PreTrainedTokenizerFast(tokenizer_object=backend)
    # A vocabulary with both markers is that of a model that thinks by itself.
    known = texts[CLOSING : CLOSING + (2 if native else 1)]
    made.add_tokens([AddedToken(text, normalized=False) for text in known])
    if native:
        made.chat_template = (
            "{{ messages[0]['content'] }}{% if enable_thinking %}<think>"
            "{% else %}<think></think>{% endif %}"
        )
    found = model()
    vocabulary = Vocabulary.of(made)
    return Model(replace(found.loaded, tokenizer=made, vocabulary=vocabulary))


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_with_thinking_every_lane_writes_what_the_vanilla_lane_does(
    native: bool, temperature: float
) -> None:
    made = thinking_model(native)
    vars(made)["machine"] = vars(model())["machine"]
    page = PageService(made, public=False, bounds=BOUNDS)
    budget = 13
    events = list(
        page.race(
            asked(
                think="on",
                thinking_budget=budget,
                draft_at=3,
                draft_every=4,
                draft_length=9,
                temperature=temperature,
            )
        )
    )
    check(events)
    run = events[0]
    assert isinstance(run, Run)
    assert run.settings["thinks"] is True
    assert run.settings["thinking_budget"] == budget
    opening = "" if native else "\n\n" + made.style.instruction()
    prompt = made.loaded.tokenizer(PROMPT + opening, add_special_tokens=False)["input_ids"]
    assert made.style.native == native
    assert run.prompt_tokens >= len(prompt)
    for lane in LANES:
        own = [event for event in events if getattr(event, "lane", "") == lane]
        phases = [event for event in own if isinstance(event, Phase)]
        assert [event.phase for event in phases] == ["reasoning", "answer"]
        assert phases[0].by == "template"
        tokens = [token for event in own if isinstance(event, Step) for token in event.tokens]
        assert tokens[phases[1].at] == CLOSING
        assert phases[1].at <= budget
        assert len(tokens) - phases[1].at - 1 == 24
        shown = "".join(piece for e in own if isinstance(e, Step) for piece in e.pieces)
        written = [made.loaded.vocabulary.label(token) for token in tokens]
        # These tokens are words, with a space before each but the first.
        expected = "".join(written[: phases[1].at] + written[phases[1].at + 1 :])
        assert shown == expected.removeprefix(" ")
        assert bool([e for e in own if isinstance(e, Draft)]) == (lane in SPECULATING)
    verdicts = [event for event in events if isinstance(event, Compare) and event.complete]
    assert {each.lane for each in verdicts if each.identical} == set(LANES) - {"vanilla"}


def test_thinking_that_is_off_is_one_phase_even_for_a_model_that_could() -> None:
    made = thinking_model(native=True)
    vars(made)["machine"] = vars(model())["machine"]
    page = PageService(made, public=False, bounds=BOUNDS)
    events = list(page.race(asked(lanes=("vanilla", "ssr"))))
    assert not [event for event in events if isinstance(event, Phase | Draft)]
    ends = {event.lane: event for event in events if isinstance(event, Finish)}
    assert ends["ssr"].note == "no-thinking"


def test_a_text_ends_at_the_models_own_end_token() -> None:
    text, _ = written_plainly(tiny("llama", 0, "sdpa"), greedy, ids_of(PROMPT), 24)
    eos = frozenset({text[7]})
    page = PageService(model(eos=eos), public=False, bounds=BOUNDS)
    ends = [event for event in page.race(asked()) if isinstance(event, Finish)]
    assert {end.reason for end in ends} == {"eos"}
    assert {end.totals["tokens"] for end in ends} == {text.index(text[7]) + 1}


@pytest.mark.parametrize(
    "values",
    [
        {"prompt": "  "}, {"lanes": ()}, {"lanes": ("warp",)}, {"temperature": -1.0},
        {"top_p": 0.0}, {"top_k": -2}, {"seed": -1}, {"max_new_tokens": 0}, {"capacity": "all"},
        {"prompt": "A" * CONTEXT},
    ],
    ids=lambda values: next(iter(values)),
)  # fmt: skip
def test_a_race_that_cannot_be_run_is_refused_and_the_machine_is_free(
    values: dict[str, Any], page: PageService
) -> None:
    with pytest.raises(UserError) as raised:
        list(page.race(asked(**values)))
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)
    assert len(list(page.race(asked(max_new_tokens=2, lanes=("vanilla",))))) > 3


def test_a_prompt_longer_than_the_host_allows_is_refused() -> None:
    page = PageService(model(), public=False, bounds=Bounds(prompt_tokens=5))
    with pytest.raises(PromptError, match="13 tokens long and 5 fit"):
        next(page.race(asked()))


def test_while_a_race_runs_there_is_no_second_one(page: PageService) -> None:
    running = page.race(asked())
    for _ in range(5):
        next(running)
    with pytest.raises(UserError, match="Another race is running"):
        next(page.race(asked()))
    with pytest.raises(UserError, match="A race is running"):
        page.load("embedded")
    assert len(list(running)) > 20, "the first one goes on"
    assert isinstance(next(page.race(asked())), Run)


def test_closing_a_race_in_the_middle_frees_the_machine(page: PageService) -> None:
    for read in (1, 2, 9):
        running = page.race(asked())
        for _ in range(read):
            next(running)
        running.close()  # type: ignore[attr-defined]
    assert len(list(page.race(asked(max_new_tokens=1)))) > 3


def test_a_failing_race_frees_the_machine(page: PageService) -> None:
    def broken(*given: Any) -> Iterator[Any]:
        raise RuntimeError("planted")
        yield

    whole = page._run
    page._run = broken
    with pytest.raises(RuntimeError, match="planted"):
        list(page.race(asked()))
    page._run = whole
    assert isinstance(next(page.race(asked())), Run)


def test_without_a_model_the_page_says_so() -> None:
    page = PageService(None, public=False, bounds=BOUNDS)
    assert page.describe()["loaded"] is False
    with pytest.raises(UserError, match="No model is loaded"):
        next(page.race(asked()))


class TestLoad:
    def test_the_new_model_takes_the_old_ones_place(
        self, page: PageService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        specs = []
        monkeypatch.setattr(
            service, "load", lambda spec, **options: specs.append(spec) or model("another")
        )
        assert page.load("  folder ") == "another is loaded on this CPU."
        assert specs == ["folder"]
        assert page.describe()["model"] == "another"

    @pytest.mark.parametrize("error", [ModelError("It is not there."), RuntimeError("bug")])
    def test_a_load_that_fails_keeps_the_old_model_and_frees_the_machine(
        self, error: Exception, page: PageService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def failing(spec: str, **options: Any) -> Model:
            raise error

        monkeypatch.setattr(service, "load", failing)
        with pytest.raises(type(error), match=str(error)):
            page.load("folder")
        assert page.describe()["model"] == "tiny"
        assert len(list(page.race(asked(max_new_tokens=2)))) > 3

    def test_on_a_shared_host_visitors_load_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "load", lambda *a, **k: pytest.fail("loaded"))
        public = PageService(model(), public=True, bounds=BOUNDS)
        with pytest.raises(UserError, match="shared host"):
            public.load("embedded")

    @pytest.mark.parametrize("spec", ["", "  "])
    def test_a_model_has_a_name(self, spec: str, page: PageService) -> None:
        with pytest.raises(ModelError, match="Name a model"):
            page.load(spec)


def test_the_page_is_told_what_there_is(page: PageService) -> None:
    about = page.describe()
    assert about["loaded"] is True
    assert (about["model"], about["device_name"], about["note"]) == ("tiny", "this CPU", "A note.")
    assert about["lanes"] == list(LANES)
    assert set(about["default_lanes"]) <= set(about["lanes"])
    assert about["max_new_tokens"] == 64
    assert PageService(model(), public=False, bounds=Bounds()).describe()["max_new_tokens"] == (
        CONTEXT - 1
    )


def test_a_decorator_wraps_the_race(page: PageService) -> None:
    seen = []

    def lend(run: Any) -> Any:
        def lent(*given: Any) -> Iterator[Any]:
            seen.append("taken")
            yield from run(*given)
            seen.append("given back")

        return lent

    page.wrap(lend)
    assert isinstance(next(iter(list(page.race(asked(max_new_tokens=1))))), Run)
    assert seen == ["taken", "given back"]


def test_no_run_remembers_another() -> None:
    made = model()
    request = Request(PROMPT, ("vanilla", "racer"), 16, capacity="24")
    runs = [
        [
            event.tree
            for event in made.race(request, BOUNDS)
            if isinstance(event, Step) and event.lane == "racer"
        ]
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert any(tree is not None for tree in runs[0])
