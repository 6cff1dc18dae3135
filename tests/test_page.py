"""The page in Chromium, against a scripted service. What a visitor sees and can do."""

from __future__ import annotations

import gc
import re
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import browser
from tests.scripted import ENGLISH, HOSTILE, KOREAN, Script, Scripted, record
from ui.page import build_page, launch_options
from ui.words import prompts

# Gradio leaves an event loop and its sockets to the garbage collector, and asks pandas
# for an option that pandas is about to drop.
pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*no_silent_downcasting"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
]

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

    def __init__(self, service: Scripted, folder: Path) -> None:
        self.page = build_page(service, folder)

    def __enter__(self) -> str:
        self.page.queue(max_size=8)
        _, url, _ = self.page.launch(
            server_name="127.0.0.1", prevent_thread_lock=True, **launch_options()
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
    opened: list[Any] = []
    wrong: list[str] = []

    def go(url: str, query: str = "lang=en&__theme=light") -> Any:
        page = chromium.new_page()
        opened.append(page)
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda r: (
                None if re.match(r"http://127\.0\.0\.1|data:|blob:", r.url) else wrong.append(r.url)
            ),
        )
        page.goto(f"{url}?{query}")
        page.wait_for_selector("#slip-view .slip", timeout=QUICK)
        page.wait_for_function("document.querySelector('#slip-view .about').textContent")
        return page

    yield go
    for page in opened:
        page.close()
    assert wrong == []


def mode(page: Any, wanted: str) -> None:
    page.wait_for_function(f"window.Slipstream?.page.player?.mode === '{wanted}'", timeout=QUICK)


def race(page: Any, prompt: str = "hello", wanted: str = "finished") -> None:
    page.fill("#slip-prompt textarea", prompt)
    page.click("#slip-race")
    if wanted:
        mode(page, wanted)


def texts(page: Any) -> list[str]:
    return page.eval_on_selector_all(".lane .text-body", "all => all.map(one => one.textContent)")


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
    page.wait_for_function(f"document.querySelector('.text-body').textContent.length > {short}")
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


# ---- racing -------------------------------------------------------------------------


def test_a_race_writes_every_lane_to_its_end(site, visit):
    page = visit(site[1])
    page.click("#slip-more")
    for box in page.query_selector_all("#slip-lanes input"):
        box.check()
    race(page, "Write a class")
    assert texts(page) == [ENGLISH] * 4
    assert page.text_content(".strip .tag") == "Finished"
    badges = page.eval_on_selector_all(".lane .badge", "all => all.map(one => one.textContent)")
    assert badges[0] == "the reference"
    assert all(badge.startswith("✓ identical to vanilla") for badge in badges[1:])
    assert len(page.query_selector_all(".result")) == 3
    sources = page.evaluate(
        "[...document.querySelectorAll('.lane:nth-child(3) .text-body *')]"
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
        details = page.eval_on_selector_all(".detail", "all => all.map(one => one.textContent)")
        assert details == ["stopped", "stopped"]
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
        first.wait_for_selector("#slip-view .slip")
        first.wait_for_function("document.querySelector('#slip-view .about').textContent")
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
    finally:
        service.script = Script()


def test_lost_late_and_foreign_batches_do_no_harm(site, visit):
    page = visit(site[1])
    assert page.evaluate(
        """() => {
          const say = Slipstream.words.dictionary({}), box = document.createElement('div');
          document.querySelector('#slip-view .slip-root').append(box);
          const player = Slipstream.player(box, say, 'en');
          const lane = 'vanilla';
          const step = (i, piece) => ({ kind: 'step', lane, index: i, phase: 'answer', start: i,
            seconds: 1, tokens: [i], pieces: [piece], sources: ['target'], drafted: 0,
            accepted: 0, tree: null });
          const run = { kind: 'run', lanes: [{ key: lane }], model: {}, settings: {},
            prompt: '', date: '' };
          const finish = { kind: 'finish', lane, reason: 'eos', totals: {}, message: '' };
          const all = [run, ...[...'abcd'].map((c, i) => step(i, c)), finish];
          const text = () => box.querySelector('.text-body').textContent;
          const got = [];
          player.receive({ run: 'r', seq: 0, events: [run, step(0, 'a')], done: false, error: '' });
          player.receive({ run: 'r', seq: 1, events: [step(1, 'b')], done: false, error: '' });
          player.receive({ run: 'r', seq: 1, events: [step(1, 'b')], done: false, error: '' });
          player.receive({ run: 'other', seq: 5, events: [step(9, 'X')], done: false, error: '' });
          got.push(text());
          player.receive({ run: 'r', seq: 3, events: [step(3, 'd')], done: false, error: '' });
          player.receive({ run: 'r', seq: 4, events: all, done: true, error: '' });
          got.push(text());
          player.receive({ run: 'r', seq: 4, events: all, done: true, error: '' });
          player.receive({ run: 'r', seq: 5, events: [step(4, 'e')], done: false, error: '' });
          got.push(text());
          box.remove();
          return got;
        }"""
    ) == ["ab", "abcd", "abcd"]


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
    box = "document.querySelector('.lane .text')"
    # Reversed box: 0 is its end, and going up is negative.
    try:
        page = visit(url)
        page.click("#slip-more")
        page.fill("#slip-settings input[type=number]", "2000")
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
        ("녹화", ".strip"), ("초안 트리", ".panel h2"), ("하늘이 파란 까닭", "#slip-examples"),
    ]:  # fmt: skip
        assert words in page.text_content(where)
    page.reload()
    page.wait_for_function("document.querySelector('#slip-race')?.textContent.includes('경주')")


def test_an_example_fills_the_prompt(site, visit):
    page = visit(site[1])
    page.click("#slip-examples .kind:nth-child(2)")
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
        page.fill("#slip-model textarea", "tiny")
        page.click("#slip-load")
        page.wait_for_function(
            "document.querySelector('.notice').textContent === 'tiny is loaded.'"
        )
        assert "tiny" in page.text_content(".about")
        race(page)


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
    assert {one["kind"] for one in listed} == {"chat", "code", "maths", "structured", "korean"}
    assert all(one["title"].keys() == {"en", "ko"} and one["prompt"] for one in listed)
