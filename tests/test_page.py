"""The page in Chromium, against a scripted service. What a visitor sees and can do."""

from __future__ import annotations

import gc
import re
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.browser import MARKS, arrived, browser, watched
from tests.scripted import (
    ENGLISH,
    HOSTILE,
    KOREAN,
    KOREAN_THINKING,
    THINKING,
    Script,
    Scripted,
    record,
)
from ui.page import build_page, launch_options
from ui.words import prompts

pytestmark = MARKS

QUICK = 15_000  # milliseconds a state of the page is waited for


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser(viewport={"width": 1440, "height": 900}, locale="en-GB") as context:
        yield context


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scripted, str, Path]]:
    """One server for most tests: its service, its address, its folder of recordings."""
    folder = tmp_path_factory.mktemp("recordings")
    record(folder / "a.jsonl", Script(), prompt="A recorded prompt")
    service = Scripted()
    with served(service, folder) as url:
        yield service, url, folder


class served:
    """A page at an address of its own, while the block runs."""

    def __init__(self, service: Scripted, folder: Path, port: int | None = None) -> None:
        self.page, self.port = build_page(service, folder), port

    def __enter__(self) -> str:
        self.page.queue(max_size=8)
        _, url, _ = self.page.launch(
            server_name="127.0.0.1",
            server_port=self.port,
            prevent_thread_lock=True,
            **launch_options(),
        )
        return url

    def __exit__(self, *_: object) -> None:
        self.page.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages; at the end of the test none may have logged an error or left the host."""
    yield from watched(chromium, arrived)


def mode(page: Any, wanted: str) -> None:
    page.wait_for_function(f"window.Slipstream?.page.player?.mode === '{wanted}'", timeout=QUICK)


def race(page: Any, prompt: str = "hello", wanted: str = "finished") -> None:
    known = page.evaluate("window.Slipstream.page.player.story.run?.id || ''")
    page.fill("#slip-prompt textarea", prompt)
    page.click("#slip-race")
    if wanted:
        page.wait_for_function(
            "([known, wanted]) => { const { mode, story } = window.Slipstream.page.player;"
            " return mode === wanted && story.run.id !== known; }",
            arg=[known, wanted],
            timeout=QUICK,
        )


def all_of(page: Any, selector: str) -> list[str]:
    return page.eval_on_selector_all(selector, "all => all.map(one => one.textContent)")


def texts(page: Any) -> list[str]:
    """The answer of each lane."""
    return all_of(page, ".lane .answer .text-body")


def seek(page: Any, seconds: float) -> None:
    page.evaluate(
        "t => { const { controls } = Slipstream.page.player; controls.pause(); controls.seek(t); }",
        seconds,
    )


def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


# ---- the first visit ----------------------------------------------------------------


def test_a_recording_is_there_labelled_and_plays_by_itself(site, visit):
    page = visit(site[1])
    mode(page, "recording")
    assert page.text_content(".strip .tag") == "Recording"
    strip = page.text_content(".strip")
    for fact in ("A recorded prompt", "Scripted-135M", "CPU", "July 1, 2026"):
        assert fact in strip
    page.wait_for_function("document.querySelectorAll('.lane .step').length > 6")
    short = len(texts(page)[0])
    page.wait_for_function(
        f"document.querySelector('.answer .text-body').textContent.length > {short}"
    )
    page.click(".transport .play")
    page.evaluate("Slipstream.page.player.controls.seek(1e9)")
    assert texts(page) == [ENGLISH, ENGLISH]
    assert "✓ identical to vanilla" in page.text_content(".lane:nth-child(2) .badge")
    assert "× sooner" in page.text_content(".result .big")


def test_where_motion_is_unwelcome_the_recording_stands_at_its_end(site, visit, chromium):
    page = chromium.new_page()
    page.emulate_media(reduced_motion="reduce")
    page.goto(site[1] + "?lang=en")
    mode(page, "recording")
    assert texts(page) == [ENGLISH, ENGLISH]
    page.close()


def test_without_recording_and_model_the_page_says_what_can_be_done(visit, tmp_path):
    with served(Scripted(loaded=False, public=True), tmp_path) as url:
        page = visit(url)
        assert "No recording is bundled" in page.text_content(".hint")
        assert page.query_selector("#slip-load") is None
        race(page, wanted="")
        page.wait_for_selector(".notice[data-kind=bad]")
        assert "No model is loaded here" in page.text_content(".notice")
        page.goto(url + "?lang=ko")
        page.wait_for_selector("#slip-view .hint")
        race(page, wanted="")
        page.wait_for_selector(".notice[data-kind=bad]")
        assert "불러온 모델이 없어" in page.text_content(".notice")


def test_a_notice_speaks_the_language_that_is_chosen_after_it(visit, tmp_path):
    with served(Scripted(loaded=False), tmp_path) as url:
        page = visit(url)
        race(page, wanted="")
        page.wait_for_selector(".notice[data-kind=bad]")
        assert "No model is loaded here" in page.text_content(".notice")
        page.click(".language")
        page.wait_for_function("document.querySelector('.notice').textContent.includes('모델이')")
        page.click(".language")
        assert "No model is loaded here" in page.text_content(".notice")


# ---- racing -------------------------------------------------------------------------


def test_a_race_writes_every_lane_to_its_end(site, visit):
    page = visit(site[1])
    page.click("#slip-more")
    for box in page.query_selector_all("#slip-lanes input"):
        box.check()
    race(page, "Write a class")
    assert texts(page) == [ENGLISH] * 6
    assert page.text_content(".strip .tag") == "Finished"
    badges = all_of(page, ".lane .badge")
    assert badges[0] == "the reference"
    assert all(badge.startswith("✓ identical to vanilla") for badge in badges[1:])
    assert len(page.query_selector_all(".result")) == 5
    sources = page.evaluate(
        "[...document.querySelectorAll('.lane:nth-child(5) .text-body *')]"
        ".flatMap(one => [...one.classList])"
    )
    assert "retrieval" in sources
    assert "logits" not in sources
    assert page.is_enabled("#slip-race")
    assert page.is_disabled("#slip-stop")


@pytest.mark.parametrize("text", [HOSTILE, KOREAN])
def test_text_of_model_and_visitor_is_never_markup(site, visit, text):
    service, url, _ = site
    service.script = Script(text=text)
    try:
        page = visit(url)
        before = page.evaluate("document.querySelectorAll('script, img, iframe').length")
        race(page, HOSTILE)
        page.click(".legend .toggle")
        page.locator(".lane:nth-child(2) .step").nth(4).click()
        page.hover(".tree .node.kept >> nth=0")
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.querySelectorAll('script, img, iframe').length") == before
        assert page.query_selector(".slip b, .slip i, .slip a") is None
        page.click(".legend .toggle")
        assert texts(page) == [text, text]
        assert page.get_attribute(".strip .prompt", "title") == HOSTILE
    finally:
        service.script = Script()


def test_stop_keeps_the_text_and_frees_the_machine(site, visit):
    service, url, _ = site
    service.script = Script(pace=2)  # far longer than the test waits
    try:
        page = visit(url)
        race(page, wanted="live")
        page.wait_for_function("document.querySelectorAll('.lane .step').length > 6")
        page.click("#slip-stop")
        mode(page, "stopped")
        assert eventually(lambda: service.closed == service.opened, 4)
        kept = texts(page)
        assert all(text and ENGLISH.startswith(text) for text in kept)
        assert all_of(page, ".detail") == ["stopped", "stopped"]
        time.sleep(0.3)
        assert texts(page) == kept
        service.script = Script()
        race(page)
        assert texts(page) == [ENGLISH, ENGLISH]
    finally:
        service.script = Script()


def test_closing_the_tab_frees_the_machine_and_a_second_visitor_is_told_to_wait(
    site, visit, chromium
):
    service, url, _ = site
    service.script = Script(pace=0.5)
    try:
        first = chromium.new_page()
        first.goto(url + "?lang=en")
        arrived(first)
        race(first, wanted="live")
        second = visit(url)
        service.script = Script()
        race(second, wanted="")
        second.wait_for_selector(".notice[data-kind=wait]", timeout=QUICK)
        assert "Waiting for the machine" in second.text_content(".notice")
        assert service.closed == service.opened - 1
        first.close()
        mode(second, "finished")
        assert service.closed == service.opened
        assert texts(second) == [ENGLISH, ENGLISH]
    finally:
        service.script = Script()


def test_a_race_that_breaks_keeps_the_text_and_says_one_sentence(site, visit):
    service, url, _ = site
    service.script = Script(break_after=60)
    try:
        page = visit(url)
        race(page, wanted="failed")
        assert page.text_content(".notice").startswith("Something went wrong on this machine")
        assert all(text and ENGLISH.startswith(text) for text in texts(page))
        assert "secret" not in page.content()
        service.script = Script(refuse="The prompt has 5000 tokens; 4096 is the most.")
        kept = texts(page)
        race(page, wanted="")
        page.wait_for_function("document.querySelector('.notice').textContent.includes('4096')")
        assert texts(page) == kept
        assert page.is_enabled("#slip-race")
    finally:
        service.script = Script()


def test_a_run_outlives_the_connection_and_the_reload_that_mends_it(chromium, tmp_path):
    page = chromium.new_page()  # a page without its server logs errors
    service = Scripted()
    service.script = Script(pace=2)
    with served(service, tmp_path) as url:
        page.goto(url + "?lang=en")
        arrived(page)
        race(page, "still there", wanted="live")
        page.wait_for_function("document.querySelectorAll('.lane .step').length > 6")
    mode(page, "failed")
    assert "connection to the machine was lost" in page.text_content(".notice")
    kept = texts(page)
    assert all(text and ENGLISH.startswith(text) for text in kept)
    page.evaluate("window.same = true")
    with served(Scripted(), tmp_path, int(url.rstrip("/").rsplit(":", 1)[1])):
        page.wait_for_function("window.same === undefined", timeout=2 * QUICK)
        arrived(page)
        page.wait_for_function(
            "document.querySelector('.notice').textContent.includes('connection')"
        )
        assert page.text_content(".strip .prompt") == "still there"
        assert texts(page) == kept
        race(page, wanted="")  # another server may give a run the same name
        mode(page, "finished")
        assert texts(page) == [ENGLISH, ENGLISH]
    page.close()


def test_the_whole_prompt_can_be_read_and_put_away_again(site, visit):
    prompt = "A long prompt. " * 60 + "Its end."
    page = visit(site[1])
    race(page, prompt)
    assert not page.is_visible(".slip .whole")
    page.click(".strip button")
    assert page.is_visible(".slip .whole")
    assert page.text_content(".slip .whole") == prompt
    assert page.get_attribute(".strip button", "aria-expanded") == "true"
    page.keyboard.press("Enter")
    assert not page.is_visible(".slip .whole")


def test_a_tree_is_walked_by_key_and_told_to_who_does_not_see_it(site, visit):
    page = visit(site[1])
    race(page)
    how = page.text_content(".panel:has(.tree-scroll) .how")
    page.focus(".tree-scroll")
    told = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        assert len(page.query_selector_all(".tree-scroll .node.walked")) == 1
        told.append(page.text_content("[role=status]"))
        assert told[-1] == page.text_content(".panel:has(.tree-scroll) .how")
    assert told[0] == told[2] != told[1]
    assert "where this tree starts" in told[0]
    page.keyboard.press("Tab")
    assert page.query_selector(".node.walked") is None
    assert page.text_content(".panel:has(.tree-scroll) .how") == how


def test_a_difference_is_shown_with_both_tokens_gap_and_tie(site, visit):
    service, url, _ = site
    service.script = Script(differs=("racer", 20, True))
    try:
        page = visit(url)
        race(page)
        foot = page.text_content(".lane:nth-child(2) .foot")
        assert "differs at token 21" in foot
        assert "·other" in foot
        assert "0.0031" in foot
        assert "rounding tie" in foot
        assert "identical" not in foot
        assert all_of(page, ".lane .text-body .differs") == [" other"]
        seek(page, 0.2)
        assert page.query_selector(".differs.tie, .text-body .differs") is None
        seek(page, 1e9)
        assert all_of(page, ".lane:nth-child(2) .text-body .differs") == [" other"]
    finally:
        service.script = Script()


def test_lost_late_and_foreign_batches_do_no_harm(site, visit):
    page = visit(site[1])
    assert page.evaluate(
        """() => {
          const say = Slipstream.words.dictionary({}), box = document.createElement('div');
          document.querySelector('#slip-view .slip-root').append(box);
          const asked = [];
          const player = Slipstream.player(box, say, 'en', { missing: (one) => asked.push(one) });
          const lane = 'vanilla';
          const step = (i, piece) => ({ kind: 'step', lane, index: i, phase: 'answer', start: i,
            seconds: 1, tokens: [i], pieces: [piece], sources: ['target'], drafted: 0,
            accepted: 0, tree: null });
          const run = { kind: 'run', lanes: [{ key: lane }], model: {}, settings: {},
            prompt: '', date: '' };
          const finish = { kind: 'finish', lane, reason: 'eos', totals: {}, message: '' };
          const all = [run, ...[...'abcd'].map((c, i) => step(i, c)), finish];
          const text = () => {
            player.draw();
            return box.querySelector('.answer .text-body').textContent;
          };
          const got = [];
          const send = (from, to, more) => player.receive({ run: 'r', seq: 0, from, done: false,
            events: all.slice(from, to), error: '', ...more });
          send(0, 2);
          send(2, 3);
          send(2, 3);
          send(1, 3, { run: 'other' });
          got.push(text());
          send(4, 5);
          send(5, 6, { done: true });
          got.push(text(), player.mode, JSON.stringify(asked));
          send(3, 6, { done: true, mended: true });
          got.push(text(), player.mode);
          send(3, 6, { done: true });
          send(6, 7, { events: [step(4, 'e')] });
          got.push(text());
          box.remove();
          return got;
        }"""
    ) == ["ab", "ab", "live", '[{"run":"r","have":3}]', "abcd", "finished", "abcd"]


@pytest.mark.parametrize("last", [False, True])
def test_a_batch_lost_on_the_way_is_sent_again(site, visit, last):
    service, url, _ = site
    service.script = Script(pace=0.05)
    try:
        page = visit(url)
        page.evaluate(
            """last => {
              const { player } = Slipstream.page, receive = player.receive;
              window.lost = 0;
              player.receive = (batch) => {
                if (batch.mended || window.lost > 1 || (last ? !batch.done : batch.seq < 3)) {
                  return receive(batch);
                }
                window.lost += 1;
              };
            }""",
            last,
        )
        race(page)
        assert page.evaluate("window.lost") == (1 if last else 2)
        assert texts(page) == [ENGLISH, ENGLISH]
        assert page.text_content(".lane:nth-child(2) .badge").startswith("✓ identical to vanilla")
    finally:
        service.script = Script()


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (2, None, "The answer length is not"), (3, "warm", "The temperature is not"),
        (4, 7, "Top-p is not"), (5, -2, "Top-k is not"), (6, -1, "The seed is not"),
        (6, None, "The seed is not"), (8, "maybe", "“Think first” is"),
        (9, 0, "The thinking budget is not"), (1, None, "Choose at least one lane"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_refused_in_one_sentence(site, visit, place, value, sentence):
    page = visit(site[1])
    page.evaluate(
        """([place, value]) => {
          const { asked } = Slipstream.page;
          Slipstream.page.asked = (settings) =>
            asked(settings.map((one, i) => (i === place ? value : one)));
        }""",
        [place, value],
    )
    race(page, wanted="")
    page.wait_for_selector(".notice[data-kind=bad]", timeout=QUICK)
    assert page.text_content(".notice").startswith(sentence)
    assert page.is_enabled("#slip-race")


def test_a_length_beyond_the_slider_is_left_to_the_service(site, visit):
    page = visit(site[1])
    page.evaluate(
        "() => { const { asked } = Slipstream.page;"
        "  Slipstream.page.asked = (all) => asked(all.map((one, i) => (i === 2 ? 1e6 : one))); }"
    )
    race(page)
    assert site[0].asked.max_new_tokens == 1_000_000


def test_what_is_loaded_is_said_anew_with_every_race(visit, tmp_path):
    service = Scripted()
    with served(service, tmp_path) as url:
        page = visit(url)
        assert "Scripted-135M" in page.text_content(".about")
        service.load("another-model")  # by another visitor
        race(page)
        assert "another-model" in page.text_content(".about")


# ---- thinking, drafting, checking ---------------------------------------------------

FOUR = ("vanilla", "racer", "ssr", "racer+ssr")


@pytest.fixture(scope="module")
def thought(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scripted, str]]:
    """A server whose four lanes think first."""
    service = Scripted(Script(thinking=THINKING), lanes=FOUR)
    with served(service, tmp_path_factory.mktemp("none")) as url:
        yield service, url


@pytest.fixture
def ran(thought, visit) -> Any:
    """A page on which a race with thinking has just ended."""
    page = visit(thought[1])
    race(page)
    return page


def shown(page: Any) -> list[list[str]]:
    """Everything that is written in the lanes: thinking, draft, answer, and the words above."""
    return [
        all_of(page, f".lane {part}")
        for part in (
            ".thinking .text-body", ".draft .draft-body", ".answer .text-body", ".part-head",
            ".badge", ".clock", ".figures",
        )
    ]  # fmt: skip


def test_thinking_and_answer_are_apart_in_every_lane(ran):
    assert all_of(ran, ".lane .thinking .text-body") == [THINKING] * 4
    assert texts(ran) == [ENGLISH] * 4
    assert all_of(ran, ".lane .thinking h4") == ["Thinking · 105 tokens"] * 4
    assert all_of(ran, ".lane .thinking .aside") == ["closed by the model"] * 4
    assert all_of(ran, ".lane .answer h4") == ["Answer · 181 tokens"] * 4
    assert "105 + 181 tokens" in ran.text_content(".lane .figures")
    box = "document.querySelector('.lane:nth-child(3) {}').getBoundingClientRect()"
    thinking, draft, answer = (
        ran.evaluate(box.format(part) + ".toJSON()") for part in (".thinking", ".draft", ".answer")
    )
    assert thinking["bottom"] <= draft["top"] < draft["bottom"] <= answer["top"]
    assert min(thinking["height"], draft["height"], answer["height"]) > 100
    seek(ran, 0.5)
    assert texts(ran) == [""] * 4
    assert all_of(ran, ".lane .thinking .aside") == [""] * 4
    # Nothing moves while the race is played.
    assert ran.evaluate(box.format(".answer") + ".top") == answer["top"]


def test_a_border_inside_a_token_and_a_spent_budget(thought, visit):
    service, url = thought
    service.script = Script(thinking=THINKING, cut=True, closed_by="budget")
    try:
        page = visit(url)
        race(page)
        assert all_of(page, ".lane .thinking .text-body") == [THINKING] * 4
        assert texts(page) == [ENGLISH] * 4
        assert all_of(page, ".lane .thinking .aside") == ["closed by the budget"] * 4
    finally:
        service.script = Script(thinking=THINKING)


def test_the_draft_grows_beside_the_thinking_and_is_no_part_of_the_answer(ran):
    page = ran
    lane = page.evaluate(
        "(({ drafts: [{ steps }], ends }) => ({ opens: ends[steps[0]], grown: ends[steps[9]] }))"
        "(Slipstream.page.player.story.lanes.get('ssr'))"
    )
    draft = ".lane:nth-child(3) .draft"
    seek(page, lane["opens"] - 0.01)
    assert page.text_content(f"{draft} .draft-body") == ""
    assert page.text_content(f"{draft} .part-more") == "begins after 24 tokens of thinking"
    seek(page, lane["grown"])
    assert page.text_content(f"{draft} h4") == "Draft 1 · 10 of 96 tokens"
    assert page.text_content(f"{draft} .part-opened") == "opened after 24 tokens of thinking"
    assert "rides in the forwards" in page.text_content(f"{draft} .part-more")
    written = page.text_content(f"{draft} .draft-body")
    assert ENGLISH.startswith(written)
    assert len(written) > 10
    assert texts(page)[2] == ""
    assert page.is_hidden(".lane:nth-child(1) .draft")
    page.click(".lane:nth-child(3) .lane-name")
    assert "rode in the same forward" in page.text_content(".say")


def test_the_check_of_the_draft_and_what_was_recovered_are_marked(ran):
    page, draft = ran, ".lane:nth-child(3) .draft"
    assert page.get_attribute(draft, "data-tone") == "good"
    words = page.text_content(f"{draft} .part-more")
    assert re.fullmatch(r"✓ 30 of \d+ stand, then “·d30”: the model chose “·and”", words)
    stands = "".join(all_of(page, f"{draft} .stands"))
    assert ENGLISH.startswith(stands)
    assert len(stands) > 60
    assert all_of(page, f"{draft} .broke") == [" d30"]
    answer = ".lane:nth-child(3) .answer .text-body"
    for source in ("prefix", "suffix"):
        marked = page.locator(f"{answer} .{source}")
        assert marked.count() > 10
        assert page.is_visible(f".legend .{source}")
    look = "one => { const s = getComputedStyle(one);"
    assert "gradient" in page.locator(f"{answer} .prefix").first.evaluate(
        look + " return s.backgroundImage; }"
    )
    assert "wavy" in page.locator(f"{answer} .suffix").first.evaluate(
        look + " return s.textDecorationLine + s.textDecorationStyle; }"
    )
    lane = "Slipstream.page.player.story.lanes.get('ssr')"
    seek(page, page.evaluate(f"Slipstream.phases.answerBegins({lane}) + 0.01"))
    assert page.text_content(f"{draft} .part-more") == "being checked"
    assert page.query_selector(f"{draft} .stands") is None


def test_later_drafts_replace_earlier_ones(thought, visit):
    service, url = thought
    service.script = Script(thinking=THINKING, draft_every=16)
    try:
        page = visit(url)
        race(page)
        head = page.text_content(".lane:nth-child(3) .draft .part-head")
        assert head.startswith("Draft 6 · ")
        assert "opened after 104 tokens of thinking" in head
        assert page.locator(".timeline .lane-row:nth-child(3) .span.draft").count() == 6
        seek(page, 3)
        assert page.text_content(".lane:nth-child(3) .draft h4").startswith("Draft 2 · ")
    finally:
        service.script = Script(thinking=THINKING)


def bars(page: Any) -> list[list[dict[str, Any]]]:
    """The bars of each row of the timeline, as drawn."""
    return page.evaluate(
        """[...document.querySelectorAll('.timeline .lane-row')].map((row) =>
          [...row.querySelectorAll('.span:not(.draft)')].map((one) => ({ ...one.bar,
            x: one.x.baseVal.value, width: one.width.baseVal.value })))"""
    )


def test_the_bars_of_the_timeline_add_up_to_the_clocks(ran):
    clocks = [float(clock.split()[0]) for clock in all_of(ran, ".lane .clock")]
    rows = bars(ran)
    assert len(rows) == 4
    assert [bar["kind"] for bar in rows[0]] == ["prefill", "thinking", "answer"]
    assert [bar["kind"] for bar in rows[2]] == ["prefill", "thinking", "verify", "answer"]
    scale = max(row[-1]["x"] + row[-1]["width"] - row[0]["x"] for row in rows) / max(clocks)
    for row, clock in zip(rows, clocks, strict=True):
        assert sum(bar["end"] - bar["start"] for bar in row) == pytest.approx(clock, abs=0.006)
        drawn = sum(bar["width"] for bar in row) / scale
        assert drawn == pytest.approx(clock, abs=0.05)
        for before, after in pairwise(row):
            assert after["start"] == before["end"]


def test_the_timeline_tells_its_seconds_by_mouse_and_by_key(ran):
    page = ran
    page.hover(".timeline .lane-row:nth-child(3) .span.verify")
    assert "SSR: checking the draft, from" in page.text_content(".time-say")
    page.hover(".timeline .lane-row:nth-child(3) .span.draft")
    assert "draft 1, opened at thinking token 24" in page.text_content(".time-say")
    page.focus(".timeline .lane-row:nth-child(1)")
    assert re.match(r"Vanilla: prompt .* \+ answer .* = \d", page.text_content(".time-say"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "Vanilla: thinking, from" in page.text_content(".time-say")
    seek(page, 3)
    x = page.evaluate("document.querySelector('.timeline .cursor').x1.baseVal.value")
    seek(page, 6)
    assert page.evaluate("document.querySelector('.timeline .cursor').x1.baseVal.value") > x + 50


def test_cards_say_first_and_last_answer_token_reuse_and_forwards(ran):
    card = ran.text_content(".result:nth-child(2)")
    totals = ran.evaluate("Slipstream.page.player.story.lanes.get('ssr').finish.totals")
    assert "sooner" in card
    assert re.search(r"First answer token\d+\.\d\d sinstead of \d+\.\d\d s", card)
    assert re.search(r"Last token\d+\.\d\d sinstead of \d+\.\d\d s", card)
    forwards = int(totals["forwards"])
    assert f"Forwards{forwards}instead of 286 · {286 - forwards} saved" in card
    reused = int(totals["prefix_tokens"]), int(totals["suffix_tokens"])
    assert f"{sum(reused)}{reused[0]} as prefix, {reused[1]} as suffix" in card
    assert min(reused) > 5
    assert ran.locator(".result .note:visible").count() == 0


def test_a_stop_while_a_draft_is_written_leaves_none_of_it_in_the_answer(thought, visit):
    service, url = thought
    service.script = Script(thinking=THINKING, pace=0.15)
    try:
        page = visit(url)
        race(page, wanted="live")
        page.wait_for_function(
            "document.querySelector('.lane:nth-child(3) .draft-body').textContent.length > 30"
        )
        page.click("#slip-stop")
        mode(page, "stopped")
        lanes = page.locator(".lane")
        for place, key in enumerate(FOUR):
            lane = f".lane:nth-child({place + 1})"
            thinking = page.text_content(f"{lane} .thinking .text-body")
            assert THINKING.startswith(thinking)
            if "ssr" in key:
                draft = page.text_content(f"{lane} .draft-body")
                assert draft
                if thinking != THINKING:
                    assert page.text_content(f"{lane} .answer .text-body") == ""
            assert ENGLISH.startswith(page.text_content(f"{lane} .answer .text-body"))
        assert lanes.count() == 4
        assert page.text_content(".lane:nth-child(3) .answer .text-body") == ""
        assert page.text_content(".lane:nth-child(3) .part-more") == "stopped with the lane"
        assert eventually(lambda: service.closed == service.opened, 4)
    finally:
        service.script = Script(thinking=THINKING)


def test_where_drafting_saved_nothing_the_page_says_why(thought, visit):
    service, url = thought
    try:
        service.script = Script(note="no-thinking")
        page = visit(url)
        race(page)
        assert "does not think first" in page.text_content(".result:nth-child(2) .note")
        assert page.is_hidden(".lane:nth-child(3) .draft")
        assert page.is_hidden(".lane:nth-child(3) .answer .part-head")
        service.script = Script(thinking=THINKING, draft_at=9999, note="short-thinking")
        race(page)
        why = "The thinking ended before a draft was opened"
        assert why in page.text_content(".result:nth-child(2) .note")
        assert why in page.text_content(".lane:nth-child(3) .draft .part-more")
    finally:
        service.script = Script(thinking=THINKING)


def test_the_replay_shows_at_every_moment_what_the_live_race_showed(thought, visit):
    service, url = thought
    service.script = Script(thinking=THINKING, draft_every=20, pace=0.1)
    try:
        page = visit(url)
        page.evaluate(
            """() => {
              const { player } = Slipstream.page, receive = player.receive;
              const parts = ['.thinking .text-body', '.draft-body', '.answer .text-body',
                '.draft .part-head'];
              const all = (part) => [...document.querySelectorAll('.lane ' + part)];
              window.now = () => parts.map((part) => all(part).map((one) => one.textContent));
              window.seen = [];
              player.receive = (batch) => {
                receive(batch);
                if (player.mode !== 'live' || batch.seq % 3) return;
                player.draw();
                // A batch may end between a step and what is told of its draft.
                const lanes = [...player.story.lanes.values()];
                window.seen.push({ at: window.now(), told: lanes.map((lane) => [lane.steps.length,
                  lane.verifies.length, lane.drafts.map((one) => one.steps.length).join()]) });
              };
            }"""
        )
        race(page)
        end = shown(page)
        same = page.evaluate(
            """() => {
              const { player } = Slipstream.page, lanes = [...player.story.lanes.values()];
              const at = (lane, n) => (n ? lane.ends[n - 1] : 0);
              let checked = 0;
              const wrong = [];
              for (const { told, at: live } of window.seen) {
                lanes.forEach((lane, i) => {
                  const [n, verifies, drafts] = told[i];
                  const known = lane.drafts.map((one) => one.steps.filter((at) => at < n).length);
                  const checks = lane.verifies.filter((one) => one.after <= n).length;
                  if (!n || checks !== verifies || known.filter(Boolean).join() !== drafts) return;
                  player.controls.seek(at(lane, n) + 1e-7);
                  const mine = (all) => all.map((part) => part[i]).join('|');
                  const now = window.now();
                  checked += 1;
                  if (mine(now) !== mine(live)) wrong.push([mine(live), mine(now)]);
                });
              }
              return { checked, wrong };
            }"""
        )
        assert same["checked"] > 20
        assert same["wrong"] == []
        seek(page, 0)
        seek(page, 1e9)
        assert shown(page) == end
        seek(page, 4)
        forwards = shown(page)
        seek(page, 1e9)
        seek(page, 4)
        assert shown(page) == forwards
    finally:
        service.script = Script(thinking=THINKING)


def test_thinking_and_drafting_in_korean(thought, visit):
    service, url = thought
    service.script = Script(text=KOREAN, thinking=KOREAN_THINKING, draft_at=8)
    try:
        page = visit(url, "lang=ko")
        race(page)
        assert all_of(page, ".lane .thinking .text-body") == [KOREAN_THINKING] * 4
        assert texts(page) == [KOREAN] * 4
        assert re.match(r"생각 · \d+ 토큰", page.text_content(".thinking h4"))
        assert page.text_content(".lane .thinking .aside") == "모델이 닫음"
        draft = page.text_content(".lane:nth-child(3) .draft")
        assert draft.startswith("초안 1 · 96 토큰 중 ")
        assert "생각 8 토큰 뒤에 시작" in draft
        assert "답의 첫 토큰" in page.text_content(".result")
        assert page.text_content(".time-panel h2") == "시간이 쓰인 곳"
        assert "먼저 생각하기" in page.text_content("#slip-thinking")
        # Any English left is a name or a unit of the program's own.
        kept = re.sub("Vanilla|RACER|SSR", "", page.text_content(".time-panel"))
        assert not re.search(r"[A-Za-z]{2,}", kept)
    finally:
        service.script = Script(thinking=THINKING)


def test_settings_of_thinking_and_drafting_reach_the_machine(thought, visit):
    service, url = thought
    page = visit(url)
    page.click("#slip-more")
    page.click("#preset-again")
    page.wait_for_function(
        "document.querySelectorAll('#slip-thinking input[type=number]')[3].value === '500'"
    )
    race(page)
    got = service.asked
    assert (got.think, got.thinking_budget, got.draft_at) == ("auto", 2000, 750)
    assert (got.draft_every, got.draft_length) == (750, 500)
    page.click("#slip-think label:nth-child(3)")
    page.click("#preset-small")
    page.wait_for_function(
        "document.querySelectorAll('#slip-thinking input[type=number]')[3].value === '256'"
    )
    race(page)
    got = service.asked
    assert (got.think, got.thinking_budget, got.draft_at) == ("off", 400, 64)
    assert (got.draft_every, got.draft_length) == (64, 256)
    assert page.is_hidden(".lane .thinking")


def test_names_in_the_chart_never_touch_and_nothing_sticks_out_on_a_phone(ran):
    page = ran
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(400)
    boxes = page.evaluate(
        "[...document.querySelectorAll('.chart .names text')].map(one => {"
        " const { left, right, top, bottom } = one.getBoundingClientRect();"
        " return { left, right, top, bottom }; })"
    )
    room = page.evaluate("document.querySelector('.chart').getBoundingClientRect().right")
    assert len(boxes) == 4
    for one in boxes:
        assert one["right"] <= room
        assert sum(
            one["left"] < other["right"] and other["left"] < one["right"]
            and one["top"] < other["bottom"] and other["top"] < one["bottom"]
            for other in boxes
        ) == 1  # fmt: skip
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# ---- looking at it ------------------------------------------------------------------


@pytest.fixture
def played(site, visit) -> Any:
    """A page with its recording at the end."""
    page = visit(site[1])
    mode(page, "recording")
    page.evaluate(
        "Slipstream.page.player.controls.pause(); Slipstream.page.player.controls.seek(1e9)"
    )
    return page


def test_a_step_is_looked_at_by_click_by_key_and_let_go_again(played):
    page = played
    step = page.locator(".lane:nth-child(2) .text .step").nth(5)
    step.click()
    number = page.evaluate("document.querySelector('.marked').step") + 1
    assert page.text_content(".panel h2").endswith(f"forward {number}")
    page.keyboard.press("ArrowRight")
    assert page.text_content(".panel h2").endswith(f"forward {number + 1}")
    assert f"RACER, forward {number + 1}:" in page.text_content(".say")
    page.click(".panel .toggle")
    steps = page.evaluate("Slipstream.page.player.story.lanes.get('racer').steps.length")
    page.mouse.move(2, 2)
    page.wait_for_function(
        f"document.querySelector('.panel h2').textContent.endsWith('forward {steps}')"
    )
    page.click(".lane:nth-child(1) .lane-name")
    assert "Vanilla" in page.text_content(".panel h2")
    assert "Vanilla drafts nothing" in page.text_content(".nothing")


def test_stepping_back_and_forth_gives_the_same_text(played):
    page = played
    whole = texts(page)
    page.click(".transport button:nth-child(1)")
    page.click(".transport button:nth-child(1)")
    cut = texts(page)
    assert whole[1].startswith(cut[1])
    assert len(cut[1]) < len(whole[1])
    page.evaluate("Slipstream.page.player.controls.seek(0.8)")
    middle = texts(page)
    page.evaluate("Slipstream.page.player.controls.seek(0)")
    assert texts(page) == ["", ""]
    assert "reading the prompt 0/96" in page.text_content(".lane .reading")
    page.evaluate("Slipstream.page.player.controls.seek(0.8)")
    assert texts(page) == middle
    page.evaluate("Slipstream.page.player.controls.seek(1e9)")
    assert texts(page) == whole


def test_rejected_guesses_come_on_request_and_leave_the_text_alone(played):
    page = played
    assert page.query_selector(".rejected s") is None
    page.click(".legend .toggle")
    assert page.query_selector(".lane:nth-child(2) .rejected s")
    assert page.query_selector(".lane:nth-child(1) .rejected s") is None
    page.click(".legend .toggle")
    assert texts(page) == [ENGLISH, ENGLISH]


def test_the_newest_text_is_followed_unless_the_visitor_scrolled_up(site, visit):
    service, url, _ = site
    service.script = Script(text=ENGLISH * 4, pace=0.05)
    box = "document.querySelector('.lane .answer .text')"
    # Reversed box: 0 is its end, and going up is negative.
    try:
        page = visit(url)
        page.click("#slip-more")
        page.fill("#slip-settings input[type=number]", "2000")
        page.click("#slip-more")  # lanes below the window are not laid out
        race(page, wanted="live")
        page.wait_for_function(f"{box}.scrollHeight > 2 * {box}.clientHeight", timeout=QUICK)
        newest = f"""(() => {{ const room = {box}.getBoundingClientRect();
            const one = [...{box}.querySelectorAll('.step')].at(-1).getBoundingClientRect();
            return one.top > room.top && one.bottom <= room.bottom + 2; }})()"""
        assert page.evaluate(newest)
        page.evaluate(f"{box}.scrollTop = -200")
        page.wait_for_timeout(150)
        first = f"""(() => {{ const room = {box}.getBoundingClientRect();
            const one = [...{box}.querySelectorAll('.step')].find(
                one => one.getBoundingClientRect().top >= room.top);
            return [one.step, one.getBoundingClientRect().top]; }})()"""
        assert not page.evaluate(newest)
        seen, size = page.evaluate(first), len(texts(page)[0])
        mode(page, "finished")
        assert len(texts(page)[0]) > size + 100
        assert page.evaluate(first) == pytest.approx(seen, abs=3)
    finally:
        service.script = Script()


def test_the_language_changes_everywhere_and_stays_in_the_address(site, visit):
    page = visit(site[1])
    page.click("#slip-header .language")
    page.wait_for_function("document.querySelector('#slip-race').textContent.includes('경주')")
    assert "lang=ko" in page.url
    assert page.evaluate("document.documentElement.lang") == "ko"
    for words, where in [
        ("멈춤", "#slip-stop"), ("답의 길이", "#slip-settings"), ("검색만", "#slip-lanes"),
        ("녹화", ".strip"), ("초안 트리", ".panel h2"), ("길 찾기", "#slip-examples"),
    ]:  # fmt: skip
        assert words in page.text_content(where)
    page.reload()
    page.wait_for_function("document.querySelector('#slip-race')?.textContent.includes('경주')")


def test_an_example_fills_the_prompt(site, visit):
    page = visit(site[1])
    page.click("#slip-examples .kind:nth-child(3)")
    page.click("#slip-examples .example:nth-child(2)")
    wanted = [one for one in prompts() if one["kind"] == "code"][1]["prompt"]
    page.wait_for_function("document.querySelector('#slip-prompt textarea').value")
    assert page.input_value("#slip-prompt textarea") == wanted


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_phone_has_lanes_below_one_another_and_nothing_sticks_out(site, visit, lang):
    page = visit(site[1], f"lang={lang}")
    mode(page, "recording")
    tops = "[...document.querySelectorAll('.lane')].map(one => one.getBoundingClientRect().top)"
    assert len(set(page.evaluate(tops))) == 1
    page.set_viewport_size({"width": 390, "height": 844})
    page.click("#slip-more")
    assert len(set(page.evaluate(tops))) == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(
        """[...document.querySelectorAll('button')].every(one => one.offsetParent === null
            || one.textContent.trim() || one.getAttribute('aria-label'))"""
    )


def test_a_model_is_loaded_or_the_reason_why_not_is_given(visit, tmp_path):
    with served(Scripted(loaded=False), tmp_path) as url:
        page = visit(url)
        page.click("#slip-more")
        page.fill("#slip-model textarea", "<b>missing</b>")
        page.click("#slip-load")
        page.wait_for_function(
            "document.querySelector('.notice').textContent"
            " === 'There is no model called <b>missing</b>.'"
        )
        page.evaluate("Slipstream.page.player.notice('')")
        page.click("#slip-load")  # the same again: it is said again
        page.wait_for_function(
            "document.querySelector('.notice').textContent.includes('<b>missing</b>.')"
        )
        page.fill("#slip-model textarea", "tiny")
        page.click("#slip-load")
        page.wait_for_function(
            "document.querySelector('.notice').textContent === 'tiny is loaded.'"
        )
        assert "tiny" in page.text_content(".about")
        race(page)


def test_names_of_lanes_stay_korean_when_another_model_is_loaded(visit, tmp_path):
    with served(Scripted(loaded=False), tmp_path) as url:
        page = visit(url, "lang=ko")
        page.click("#slip-more")
        page.fill("#slip-model textarea", "tiny")
        page.click("#slip-load")
        page.wait_for_function("document.querySelector('.about').textContent.includes('tiny')")
        page.wait_for_timeout(600)
        assert "RACER, 검색만" in page.text_content("#slip-lanes")
        assert "only" not in page.text_content("#slip-lanes")
        checked = page.eval_on_selector_all(
            "#slip-lanes input", "all => all.map(one => one.checked)"
        )
        assert checked == [True, True, False, False, False, False]


# ---- what visitors cannot see -------------------------------------------------------


def test_only_the_race_is_public_and_one_race_runs_at_a_time(tmp_path):
    page = build_page(Scripted(), tmp_path)
    public = [fn for fn in page.fns.values() if fn.api_visibility == "public"]
    assert [fn.api_name for fn in public] == ["race"]
    assert public[0].concurrency_limit == 1
    assert not page.analytics_enabled


def test_there_are_enough_examples_of_every_kind():
    listed = prompts()
    assert len(listed) >= 12
    assert sum(one["kind"] == "korean" for one in listed) >= 3
    assert {one["kind"] for one in listed} == {
        "think", "chat", "code", "maths", "structured", "korean",
    }  # fmt: skip
    assert all(one["title"].keys() == {"en", "ko"} and one["prompt"] for one in listed)
