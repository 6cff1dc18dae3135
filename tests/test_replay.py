"""Replay, gallery, files, keys, tour, presenting and sharing, in Chromium."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser import MARKS, browser, watched
from tests.scripted import (
    ENGLISH,
    HOSTILE,
    KOREAN_THINKING,
    THINKING,
    Script,
    Scripted,
    record,
)
from tests.test_page import QUICK, all_of, eventually, mode, race, seek, served, texts
from ui.export import page as page_of
from ui.export import site as site_of

pytestmark = MARKS

FOUR = ("vanilla", "racer", "ssr", "racer+ssr")
PLAYER = "window.Slipstream.page.player"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser(viewport={"width": 1440, "height": 900}, locale="en-GB") as context:
        yield context


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two recordings with a list: one of four lanes that think, one of two that do not."""
    made = tmp_path_factory.mktemp("recordings")
    record(made / "thinks.jsonl", Script(thinking=THINKING), FOUR, prompt="Think first")
    record(made / "plain.jsonl", Script(), prompt="Answer at once")
    listed = [
        {
            "name": name,
            "title": {"en": f"{name} title", "ko": f"{name} 제목"},
            "about": {"en": f"{name} is told in a sentence.", "ko": f"{name} 설명입니다."},
        }
        for name in ("thinks", "plain")
    ]
    (made / "gallery.json").write_text(json.dumps(listed), "utf-8")
    return made


@pytest.fixture(scope="module")
def host(folder: Path) -> Iterator[tuple[Scripted, str]]:
    service = Scripted(lanes=FOUR)
    with served(service, folder) as url:
        yield service, url


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages, served or from disk; none may log an error or ask another host."""
    run = "window.Slipstream?.page?.player?.story.run"
    yield from watched(chromium, lambda page: page.wait_for_function(run, timeout=QUICK))


def state(page: Any, t: float | None = None) -> str:
    """The player's own hash of what it shows, at a lane time or now."""
    if t is not None:
        seek(page, t)
    return str(page.evaluate(f"{PLAYER}.hash()"))


# ---- replay -------------------------------------------------------------------------


def test_live_loaded_exported_and_on_a_site_show_the_same(host, visit, folder, tmp_path):
    service, url = host
    service.script = Script(thinking=THINKING)
    live = visit(url)
    race(live, "Think first")
    final = state(live)
    with live.expect_download() as download:
        live.click(".tool-save")
        live.click(".save-item >> nth=0")
    saved = tmp_path / "saved.jsonl.gz"
    download.value.save_as(saved)
    lines = gzip.decompress(saved.read_bytes()).decode()

    loaded = visit(url)
    loaded.set_input_files(".gallery-dialog input[type=file]", saved)
    loaded.wait_for_function(f"{PLAYER}.story.run.prompt === 'Think first'")
    exported = tmp_path / "run.html"
    exported.write_text(page_of(lines), "utf-8")
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings" / "saved.jsonl.gz").write_bytes(saved.read_bytes())
    assert site_of(tmp_path / "recordings", tmp_path / "site") == 1
    pages = [
        loaded,
        visit(exported.as_uri()),
        visit((tmp_path / "site" / "index.html").as_uri()),
    ]
    for t in (0.4, 1.7, 1e9):
        hashes = {state(page, t) for page in pages}
        assert len(hashes) == 1
        if t == 1e9:
            assert hashes == {final}
    assert texts(pages[1]) == texts(live)


def test_a_link_is_given_where_the_run_can_be_found_again(host, visit, folder, tmp_path):
    service, url = host

    def link(page: Any) -> str:
        seek(page, 1)
        page.evaluate("document.querySelector('.notice').textContent = ''")
        page.evaluate(f"{PLAYER}.desk.save('link')")
        page.wait_for_function("document.querySelector('.notice').textContent")
        return str(page.text_content(".notice"))

    page = visit(url)
    assert link(page).endswith("run=thinks&t=1")
    service.script = Script()
    race(page)
    assert "has no address" in link(page)
    exported = tmp_path / "run.html"
    exported.write_text(page_of((folder / "plain.jsonl").read_text("utf-8")), "utf-8")
    alone = visit(exported.as_uri())
    assert link(alone).endswith("t=1")
    alone.set_input_files(".gallery-dialog input[type=file]", folder / "thinks.jsonl")
    alone.wait_for_function(f"{PLAYER}.story.run.prompt === 'Think first'")
    assert "has no address" in link(alone)


@contextmanager
def live_run(host: tuple[Any, str], visit: Callable[..., Any], pace: float) -> Iterator[Any]:
    """A page on which a run has begun and goes on. pace: as in `Script`."""
    service, url = host
    service.script = Script(pace=pace)
    try:
        page = visit(url)
        race(page, wanted="live")
        page.wait_for_function("document.querySelectorAll('.lane:first-child .step').length > 5")
        yield page
    finally:
        service.script = Script()


def test_a_live_run_is_held_walked_through_and_followed_again(host, visit):
    with live_run(host, visit, pace=1.0) as page:
        # What is on the page stays on it but for a step of the lanes ahead.
        before, after = page.evaluate(
            "() => { const now = () => document.querySelectorAll('.lane .step').length;"
            " const was = now(); document.querySelector('.transport .play').click();"
            " return [was, now()]; }"
        )
        assert after >= before - len(FOUR)
        held = texts(page)
        count = page.evaluate(f"{PLAYER}.story.count")
        page.wait_for_function(f"{PLAYER}.story.count > {count} + 5")
        assert texts(page) == held
        page.click(".transport .icon-button >> nth=0")
        assert eventually(lambda: texts(page) != held)
        assert page.is_visible(".newest")
        page.click(".newest")
        page.wait_for_function("document.querySelector('.newest').hidden")
        assert all(len(now) >= len(then) for now, then in zip(texts(page), held, strict=True))
        page.click("#slip-stop")
        mode(page, "stopped")


def test_who_looks_at_a_moment_of_a_live_run_is_left_there_when_it_ends(host, visit):
    with live_run(host, visit, pace=0.2) as page:
        page.click(".transport .play")
        held, at = texts(page), page.evaluate(f"{PLAYER}.controls.t")
        mode(page, "finished")
        assert page.evaluate(f"{PLAYER}.controls.t") == at
        assert texts(page) == held


def test_a_page_with_nothing_on_it_is_not_locked_by_its_keys(chromium, tmp_path):
    with served(Scripted(), tmp_path) as url:
        page = chromium.new_page()
        page.goto(f"{url}?lang=en&present=1&run=nothing")
        page.wait_for_selector(".notice[data-kind=bad]", timeout=QUICK)
        assert page.is_visible("#slip-ask")
        page.keyboard.press("?")
        assert page.is_visible(".keys-dialog")
        page.click(".keys-dialog .keys")  # takes the focus out of it
        page.keyboard.press("p")
        page.keyboard.press("Escape")
        assert not page.is_visible(".keys-dialog")
        assert page.is_visible("#slip-ask")
        page.close()


def test_every_key_does_what_the_list_says(host, visit):
    page = visit(host[1])
    page.keyboard.press("End")
    assert page.evaluate(f"{PLAYER}.controls.t") in (None, float("inf"))
    whole = texts(page)
    page.keyboard.press("Home")
    assert page.evaluate(f"{PLAYER}.controls.t") == 0
    assert set(texts(page)) == {""}
    times = []
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        times.append(page.evaluate(f"{PLAYER}.controls.t"))
    assert times == sorted(set(times))
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(f"{PLAYER}.controls.t") == times[1]
    page.keyboard.press("]")
    assert page.input_value(".speed") == "2"
    page.keyboard.press("[")
    page.keyboard.press("[")
    assert page.input_value(".speed") == "0.5"
    page.keyboard.press("Space")
    assert page.evaluate(f"{PLAYER}.controls.playing")
    page.keyboard.press("Space")
    assert not page.evaluate(f"{PLAYER}.controls.playing")
    page.keyboard.press("3")
    assert "chosen" in page.get_attribute(".lane >> nth=2", "class")
    page.keyboard.press("?")
    assert page.is_visible(".keys-dialog")
    page.keyboard.press("Escape")
    assert not page.is_visible(".keys-dialog")
    page.keyboard.press("p")
    assert not page.is_visible("#slip-ask")
    assert "present=1" in page.url
    page.keyboard.press("Escape")
    assert page.is_visible("#slip-ask")
    page.keyboard.press("End")
    assert texts(page) == whole
    page.focus("#slip-prompt textarea")
    page.keyboard.type("p?[ ]1")
    assert page.input_value("#slip-prompt textarea") == "p?[ ]1"
    assert page.is_visible("#slip-ask")


# ---- recordings ---------------------------------------------------------------------


def test_the_gallery_opens_a_recording_in_the_readers_language(host, visit):
    page = visit(host[1])
    assert "thinks title" in page.text_content(".strip")
    page.click(".tool-gallery")
    assert all_of(page, ".gallery-card strong") == ["thinks title", "plain title"]
    page.click(".gallery-card >> nth=1")
    page.wait_for_function(f"{PLAYER}.story.run.prompt === 'Answer at once'")
    assert page.text_content(".told") == "plain is told in a sentence."
    page.click("#slip-header .language")
    assert "plain 제목" in page.text_content(".strip")
    assert page.text_content(".told") == "plain 설명입니다."
    seek(page, 1e9)
    assert texts(page) == [ENGLISH, ENGLISH]
    # The same one again, from its beginning.
    page.click(".tool-gallery")
    page.click(".gallery-card >> nth=1")
    page.wait_for_function(f"{PLAYER}.controls.now < 1e9 && {PLAYER}.controls.playing")


def test_an_address_names_a_recording_and_a_moment(host, visit, chromium):
    page = visit(host[1], "lang=en&run=plain&t=0.9")
    page.wait_for_function(f"{PLAYER}.story.run.prompt === 'Answer at once'")
    assert page.evaluate(f"{PLAYER}.controls.t") == 0.9
    assert not page.evaluate(f"{PLAYER}.controls.playing")
    lost = chromium.new_page()
    lost.goto(host[1] + "?lang=en&run=../secret")
    lost.wait_for_selector(".notice[data-kind=bad]")
    assert "There is no recording called ../secret here." in lost.text_content(".notice")
    assert lost.evaluate(f"{PLAYER}.story.run.prompt") == "Think first"
    lost.close()


BAD = {
    "not a recording": (b"hello\n", "is not a Slipstream recording"),
    "another version": (b'{"kind":"run","schema":99}\n', "schema 99"),
    "empty": (b"", "is empty"),
    "cut off": (None, "is cut off"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_played_is_refused_in_a_sentence(host, visit, folder, name, tmp_path):
    data, said = BAD[name]
    if data is None:
        data = gzip.compress((folder / "plain.jsonl").read_bytes())[:-400]
    page = visit(host[1])
    seek(page, 1e9)
    before = state(page)
    (tmp_path / "x.jsonl").write_bytes(data)
    page.set_input_files(".gallery-dialog input[type=file]", tmp_path / "x.jsonl")
    page.wait_for_selector(".notice[data-kind=bad]")
    assert said in page.text_content(".notice")
    assert state(page) == before


def test_a_file_is_opened_by_dropping_it(host, visit, folder):
    page = visit(host[1])
    text = (folder / "plain.jsonl").read_text("utf-8")
    drop = """([kind, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "a.jsonl"));
        document.body.dispatchEvent(new DragEvent(kind,
            { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(drop, ["dragenter", text])
    assert "dropping" in page.get_attribute(".slip", "class")
    page.evaluate(drop, ["drop", text])
    page.wait_for_function(f"{PLAYER}.story.run.prompt === 'Answer at once'")
    assert "dropping" not in page.get_attribute(".slip", "class")


# ---- explaining ---------------------------------------------------------------------


def test_the_tour_stops_six_times_and_points_at_what_it_tells(host, visit):
    page = visit(host[1])
    seek(page, 1e9)
    page.click(".tool-tour")
    titles = []
    for _ in range(6):
        titles.append(page.text_content(".tour h2"))
        assert page.query_selector_all(".toured")
        assert "{" not in page.text_content(".tour p")
        pointed = page.locator(".toured").bounding_box()
        assert pointed
        assert pointed["y"] < 900
        page.click(".tour .strong")
    assert len(set(titles)) == 6
    assert not page.is_visible(".tour")
    assert page.query_selector(".toured") is None


def test_a_token_says_what_it_is_under_the_mouse_and_by_key(host, visit):
    page = visit(host[1], "lang=en&run=plain")
    page.wait_for_function(f"{PLAYER}.story.run.prompt === 'Answer at once'")
    seek(page, 1e9)
    token = page.locator(".lane:nth-child(2) .text-body .retrieval").first
    token.scroll_into_view_if_needed()
    token.hover()
    card = page.text_content(".token-card")
    for label in ("id", "from", "retrieval", "guess", "forward", "lane time"):
        assert label in card
    page.mouse.move(2, 2)
    page.wait_for_function("document.querySelector('.token-card').hidden")
    page.focus(".lane:nth-child(2) .answer .text")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("!document.querySelector('.token-card').hidden")


def test_every_token_is_reached_by_key_and_told_to_who_does_not_see_it(host, visit):
    page = visit(host[1], "lang=en&run=plain")
    page.wait_for_function(f"{PLAYER}.story.run.prompt === 'Answer at once'")
    seek(page, 1e9)
    page.focus(".lane:nth-child(2) .answer .text")
    written = page.evaluate(f"{PLAYER}.story.lanes.get('racer').steps.map(step => step.pieces)")
    pieces = [piece for step in written for piece in step]
    assert max(len(step) for step in written) > 1  # else the arrows alone would reach them all
    told = []
    for _ in pieces:
        page.keyboard.press("Shift+ArrowLeft")
        told.append(page.text_content(".token-card dl"))
        assert page.text_content(".token-card .token-title") in page.text_content("[role=status]")
    forwards = [f"forward{n}" for n, step in enumerate(written, 1) for _ in step]
    for words, forward in zip(told, reversed(forwards), strict=True):
        assert forward in words.replace(" ", "")
    page.keyboard.press("Shift+ArrowLeft")  # there is none before the first
    assert page.text_content(".token-card dl") == told[-1]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowLeft")  # from the third step to the end of the second
    assert page.text_content(".token-card dl") == told[-len(written[0] + written[1])]
    page.keyboard.press("Shift+ArrowRight")
    assert page.text_content(".token-card dl") == told[-len(written[0] + written[1]) - 1]


def test_the_close_up_draws_every_chart_and_keeps_its_zoom(host, visit):
    page = visit(host[1])
    seek(page, 1e9)
    page.click(".closeup .panel-head .toggle")
    page.wait_for_selector(".js-plotly-plot .main-svg", timeout=QUICK)
    tabs = page.locator(".closeup-tabs .toggle")
    page.keyboard.press("2")
    for i in range(5):
        tabs.nth(i).click()
        page.wait_for_function(
            "document.querySelector('.closeup-plot').data?.length > 0", timeout=QUICK
        )
        assert "{" not in page.text_content(".closeup .how")
    tabs.nth(2).click()
    page.evaluate(
        "Plotly.relayout(document.querySelector('.closeup-plot'),"
        " {'xaxis.range[0]': 1, 'xaxis.range[1]': 2})"
    )
    seek(page, 1.2)
    page.wait_for_function(
        "document.querySelector('.closeup-plot').layout.shapes[0]?.x0 === 1.2", timeout=QUICK
    )
    zoom = "document.querySelector('.closeup-plot').layout.xaxis.range.map(Number)"
    assert page.evaluate(zoom) == [1, 2]


# ---- sharing ------------------------------------------------------------------------


def test_everything_that_can_be_saved_is_a_whole_file(host, visit, tmp_path):
    page = visit(host[1])
    seek(page, 1e9)
    endings = [".jsonl.gz", ".html", ".csv", "lanes.png", "treepanel.png", "timepanel.png"]
    for i, ending in enumerate(endings):
        page.click(".tool-save")
        with page.expect_download() as download:
            page.click(f".save-item >> nth={i}")
        assert download.value.suggested_filename.endswith(ending)
        path = tmp_path / f"{i}"
        download.value.save_as(path)
        data = path.read_bytes()
        if ending.endswith(".png"):
            assert data.startswith(b"\x89PNG")
            width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
            assert width > 800
            assert height > 200
            assert len(data) > 8000
    saved = visit((tmp_path / "1").rename(tmp_path / "p.html").as_uri())
    assert state(saved, 1e9) == state(page)
    assert saved.text_content(".told") == page.text_content(".told") != ""
    page.click(".tool-save")
    page.click(".save-item >> nth=6")
    page.wait_for_selector(".notice:not([hidden])")
    assert "run=thinks" in page.text_content(".notice")


def test_a_picture_is_made_whatever_the_model_wrote(host, visit, tmp_path):
    page = visit(host[1])
    record(tmp_path / "odd.jsonl", Script(text=HOSTILE + "\ufffe"), prompt="Odd text")
    page.set_input_files(".gallery-dialog input[type=file]", tmp_path / "odd.jsonl")
    page.wait_for_function(f"{PLAYER}.story.run.prompt === 'Odd text'")
    seek(page, 1e9)
    page.click(".tool-save")
    with page.expect_download() as download:
        page.click(".save-item >> nth=3")
    download.value.save_as(tmp_path / "lanes.png")
    assert (tmp_path / "lanes.png").read_bytes().startswith(b"\x89PNG")


def test_a_korean_run_from_end_to_end(host, visit):
    service, url = host
    service.script = Script(thinking=KOREAN_THINKING)
    try:
        page = visit(url, "lang=ko&__theme=dark")
        race(page, "한국어로 생각해 줘")
        said = page.text_content(".slip")
        assert "�" not in said
        english = set(re.findall(r"[A-Za-z]{4,}", page.text_content(".say")))
        assert english <= {"RACER"}
        page.click(".tool-tour")
        assert re.search("[가-힣]", page.text_content(".tour p"))
    finally:
        service.script = Script()


@pytest.mark.parametrize("width", [360, 1440, 2560])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_runs_over_the_edge_at_any_width(host, visit, width, theme, tmp_path):
    page = visit(host[1], f"lang=en&__theme={theme}")
    page.set_viewport_size({"width": width, "height": 900})
    seek(page, 1e9)
    for query in ("", "present"):
        if query:
            page.keyboard.press("p")
        wide = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide[0] <= wide[1]
    page.screenshot(path=tmp_path / "page.png", full_page=True)


# ---- for everybody ------------------------------------------------------------------


def serious(page: Any) -> list[str]:
    """What axe-core calls serious or critical, with where it is."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['target']} {each['nodes'][0]['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(host, visit, folder, tmp_path, theme):
    page = visit(host[1], f"lang=en&__theme={theme}")
    seek(page, 1e9)
    page.click("#slip-more")
    assert serious(page) == []
    for tool, dialog in (("gallery", "gallery"), ("save", "save"), ("keys", "keys")):
        page.click(f".tool-{tool}")
        assert serious(page) == []
        page.click(f".{dialog}-dialog .dialog-head .toggle")
    page.click(".tool-tour")
    assert serious(page) == []
    page.click(".tour .toggle >> nth=2")
    page.keyboard.press("p")
    assert serious(page) == []
    exported = tmp_path / "run.html"
    exported.write_text(page_of((folder / "thinks.jsonl").read_text("utf-8")), "utf-8")
    alone = visit(exported.as_uri(), f"lang=ko&__theme={theme}")
    seek(alone, 1e9)
    assert serious(alone) == []
