"""The page in Chromium on the real, embedded model: it races, stops, and frees the machine."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from slipstream import Model, Request, load
from slipstream.request import Bounds
from slipstream.service import PageService
from tests.browser import MARKS, arrived, browser
from tests.test_page import FOUR, bars, eventually, mode, race, served, texts
from training.fresh import EXAMPLES
from training.tasks import FAMILIES, FRESH

pytestmark = [
    *MARKS,
    pytest.mark.model,
]

LONG = 120_000
HOSTILE = "Say <img src=x onerror=alert(1)> ${alert(2)} {{alert(3)}} </script><b>hi</b>"


class FourLanes(PageService):
    """A service on whose page all four lanes are chosen."""

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "default_lanes": list(FOUR)}


class Counted:
    """The embedded model behind a page, and how many forwards it has run."""

    def __init__(self, model: Model, new_tokens: int, *, four: bool = False) -> None:
        self.model = model
        self.forwards = 0
        model.loaded.model.register_forward_hook(self._count)
        bounds = Bounds(default_new_tokens=new_tokens)
        self.service = (
            FourLanes(model, public=False, bounds=bounds)
            if four
            else PageService(model, public=False, bounds=bounds)
        )

    def _count(self, *_: Any) -> None:
        self.forwards += 1

    def still(self, seconds: float = 1.5) -> bool:
        """Whether no forward runs for a while."""
        before = self.forwards
        time.sleep(seconds)
        return self.forwards == before


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield load("embedded-base", device="cpu")
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def thinker(model: Model) -> Model:
    """The embedded model with its adapter."""
    return load("embedded", device="cpu")


@pytest.fixture(scope="module")
def short(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(Counted(model, 24).service, tmp_path_factory.mktemp("none")) as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser(viewport={"width": 1440, "height": 900}, locale="en-GB") as context:
        yield context


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[[str], Any]]:
    """Opens pages that may neither fail nor ask another host for anything."""
    opened: list[Any] = []
    wrong: list[str] = []

    def go(url: str) -> Any:
        page = chromium.new_page()
        opened.append(page)
        page.set_default_timeout(LONG)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda r: (
                None
                if r.url.startswith((url.rstrip("/"), "data:", "blob:"))
                else wrong.append(r.url)
            ),
        )
        page.goto(f"{url}?lang=en")
        arrived(page)
        return page

    yield go
    for page in opened:
        page.close()
    assert wrong == []


def finished(page: Any) -> None:
    page.wait_for_function("window.Slipstream?.page.player?.mode === 'finished'", timeout=LONG)


def test_a_race_runs_to_its_end_and_both_lanes_show_the_headless_text(model, short, visit):
    page = visit(short)
    prompt = "Count from one to twenty in words, then do it again."
    race(page, prompt, wanted="")
    finished(page)
    expected: dict[str, str] = {}
    for event in model.race(Request(prompt, max_new_tokens=24)):
        if event.kind == "step":
            expected[event.lane] = expected.get(event.lane, "") + "".join(event.pieces)
    assert texts(page) == [expected["vanilla"], expected["racer"]]
    assert texts(page)[0] == texts(page)[1]
    assert "✓ identical to vanilla" in page.text_content(".lane:nth-child(2) .badge")
    page.locator(".lane:nth-child(2) .step", has_text=re.compile(r"\w")).last.click()
    assert page.locator("#slip-view svg.tree text").count() >= 1


@pytest.mark.parametrize("prompt", [HOSTILE, "안녕하세요! 👩‍💻 🇰🇷 한국어로 인사해 주세요."])
def test_a_prompt_is_shown_as_typed_and_no_character_is_broken(short, visit, prompt):
    page = visit(short)
    race(page, prompt, wanted="")
    finished(page)
    assert prompt in page.text_content(".strip")
    assert page.locator(".slip img, .slip script, .slip b").count() == 0
    assert "\ufffd" not in page.inner_text("body")
    assert texts(page)[0] == texts(page)[1] != ""


def test_stop_ends_the_forwards_within_two_seconds_and_keeps_the_text(model, visit, tmp_path: Path):
    counted = Counted(model, 1500)
    with served(counted.service, tmp_path) as url:
        page = visit(url)
        race(page, "Tell a long story about a river.", wanted="")
        assert eventually(lambda: len(texts(page)) == 2 and len(texts(page)[0]) > 40, 60)
        page.click("#slip-stop")
        time.sleep(2.0)
        assert counted.still()
        mode(page, "stopped")
        kept = texts(page)
        assert len(kept[0]) > 40
        assert "stopped" in page.text_content(".lane:nth-child(1)")
        race(page, "Again.", wanted="")  # the machine is free
        assert eventually(lambda: not counted.still(0.5), 30)
        page.click("#slip-stop")


def test_closing_the_tab_frees_the_machine(model, visit, tmp_path: Path):
    counted = Counted(model, 1500)
    with served(counted.service, tmp_path) as url:
        page = visit(url)
        race(page, "Tell a long story about a mountain.", wanted="")
        assert eventually(lambda: counted.forwards > 12, 60)
        page.close()
        time.sleep(2.0)
        assert counted.still()
        for event in model.race(Request("Hello.", lanes=("vanilla",), max_new_tokens=2)):
            assert event.kind != "finish" or event.reason in ("length", "eos")


def think(page: Any, budget: int, at: int, every: int, length: int) -> None:
    """Set thinking budget and draft points on the page."""
    page.click("#slip-more")
    fields = page.locator("#slip-thinking input[type=number]")
    for place, value in enumerate((budget, at, every, length)):
        fields.nth(place).fill(str(value))
        fields.nth(place).blur()


def test_four_lanes_think_draft_and_answer_and_their_bars_add_up(model, visit, tmp_path: Path):
    with served(Counted(model, 40, four=True).service, tmp_path) as url:
        page = visit(url)
        think(page, 48, 16, 16, 40)
        prompt = "Write a Python class Account with deposit and withdraw."
        race(page, prompt, wanted="")
        finished(page)
        expected: dict[str, list[str]] = {key: ["", ""] for key in FOUR}
        request = Request(
            prompt, lanes=FOUR, max_new_tokens=40, thinking_budget=48, draft_at=16,
            draft_every=16, draft_length=40,
        )  # fmt: skip
        answering: dict[str, int] = {}
        written = dict.fromkeys(FOUR, 0)
        for event in model.race(request):
            if event.kind == "phase" and event.phase == "answer":
                answering[event.lane] = event.at
            elif event.kind == "step":
                for piece in event.pieces:
                    done = written[event.lane] >= answering.get(event.lane, 1 << 30)
                    expected[event.lane][done] += piece
                    written[event.lane] += 1
        shown = [
            page.eval_on_selector_all(
                f".lane .{part} .text-body", "all => all.map(one => one.textContent)"
            )
            for part in ("thinking", "answer")
        ]
        assert list(zip(*shown, strict=True)) == [tuple(expected[key]) for key in FOUR]
        assert len({tuple(texts) for texts in expected.values()}) == 1
        assert all(expected["vanilla"])
        assert "</think" not in page.inner_text(".lanes")
        for key in ("ssr", "racer+ssr"):
            known = page.evaluate(
                "key => { const lane = Slipstream.page.player.story.lanes.get(key);"
                " return [lane.drafts.length, lane.verifies.length]; }",
                key,
            )
            assert known[0] >= 1
            assert known[1] == 1
        clocks = page.evaluate(
            "[...Slipstream.page.player.story.lanes.values()].map(one => one.finish.totals.seconds)"
        )
        for row, clock in zip(bars(page), clocks, strict=True):
            assert sum(bar["end"] - bar["start"] for bar in row) == pytest.approx(clock, abs=1e-6)


def test_a_stop_while_a_draft_is_in_flight_leaves_no_draft_in_the_answer(
    model, visit, tmp_path: Path
):
    counted = Counted(model, 200, four=True)
    with served(counted.service, tmp_path) as url:
        page = visit(url)
        think(page, 400, 8, 0, 300)
        race(page, "Plan a day in Rome for a family with two children.", wanted="")
        page.wait_for_function(
            "document.querySelector('.lane:nth-child(3) .draft-body')?.textContent.length > 20"
        )
        page.click("#slip-stop")
        time.sleep(2.0)
        assert counted.still()
        mode(page, "stopped")
        thinking = page.text_content(".lane:nth-child(3) .thinking .text-body")
        assert thinking
        assert texts(page)[2:] == ["", ""]
        assert page.text_content(".lane:nth-child(3) .draft-body") not in ("", thinking)


def test_a_known_task_is_checked_and_the_page_says_what_headless_says(
    thinker, visit, tmp_path: Path
):
    """Cut off on purpose: the whole answer takes minutes, and that is the benchmark's matter."""
    prompt = FAMILIES["purchases"].make(EXAMPLES, FRESH).prompt
    service = PageService(thinker, public=False, bounds=Bounds(default_new_tokens=24))
    with served(service, tmp_path) as url:
        page = visit(url)
        assert "learned to think" in page.text_content("#slip-view .about")
        assert page.locator("#slip-lanes input:checked").count() == 4
        page.click("#slip-more")
        for place in (2, 3):  # SSR, and RACER + SSR
            page.locator("#slip-lanes input").nth(place).uncheck()
        page.locator("#slip-think input").nth(2).check()  # off
        race(page, prompt, wanted="")
        finished(page)
        request = Request(prompt, lanes=("vanilla", "racer"), max_new_tokens=24, think="off")
        checks = [event for event in thinker.race(request) if event.kind == "check"]
        assert [(check.task, check.right) for check in checks] == [("purchases", False)] * 2
        said = page.eval_on_selector_all(".lane .check", "all => all.map(one => one.textContent)")
        assert said == [f"✗ The answer is wrong: {check.reason}" for check in checks]
