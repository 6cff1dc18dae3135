"""Whether the page slows the lanes: `python -m tests.page_speed`.

The same race on the page, with Chromium drawing, and without it, in turn.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.report import save, table
from engine.events import Finish
from slipstream import Model, Request, load
from slipstream.request import Bounds
from slipstream.service import PageService
from tests.browser import arrived, browser
from tests.test_page import served

PROMPT = "Write a Python class Parcel with the fields name, weight and price, and docstrings."


def run(args: argparse.Namespace) -> None:
    """Lane seconds with Chromium drawing and without, `--rounds` of each, and their ratio."""
    model = load(args.model)
    service = PageService(
        model, public=False, bounds=Bounds(default_new_tokens=args.max_new_tokens)
    )
    times: dict[str, dict[str, list[float]]] = {"page": {}, "headless": {}}
    with (
        TemporaryDirectory() as folder,
        served(service, Path(folder)) as url,
        browser(viewport={"width": 1440, "height": 900}) as chromium,
    ):
        page = chromium.new_page()
        page.set_default_timeout(600_000)
        page.goto(url)
        arrived(page)
        request = _request(args)
        _choose(page, service.describe()["lanes"], request)
        for _ in range(args.rounds):
            _add(times["headless"], _headless(model, request))
            _add(times["page"], _on_page(page))
    rows = []
    for lane in times["page"]:
        shown, alone = median(times["page"][lane]), median(times["headless"][lane])
        rows.append((lane, f"{alone:.2f}", f"{shown:.2f}", f"{shown / alone:.3f}"))
    print(table(("lane", "headless s", "page s", "ratio"), rows))
    save(args, model, times)


def _add(times: dict[str, list[float]], seconds: dict[str, float]) -> None:
    for lane, value in seconds.items():
        times.setdefault(lane, []).append(value)


def _request(args: argparse.Namespace) -> Request:
    """The race without the page; with it, the same settings are chosen there."""
    return Request(
        PROMPT,
        lanes=tuple(args.lanes.split(",")),
        max_new_tokens=args.max_new_tokens,
        thinking_budget=args.thinking_budget,
    )


def _choose(page: Any, lanes: list[str], request: Request) -> None:
    """Lanes and thinking budget on the page, as in the request."""
    page.click("#slip-more")
    for box, lane in zip(page.query_selector_all("#slip-lanes input"), lanes, strict=True):
        box.set_checked(lane in request.lanes)
    budget = page.locator("#slip-thinking input[type=number]").first
    budget.fill(str(request.thinking_budget))
    budget.press("Tab")
    page.click("#slip-more")


def _headless(model: Model, request: Request) -> dict[str, float]:
    events = model.race(request)
    return {e.lane: e.totals["seconds"] for e in events if isinstance(e, Finish)}


def _on_page(page: Any) -> dict[str, float]:
    """Race on the page; lane seconds as its player shows them."""
    page.fill("#slip-prompt textarea", PROMPT)
    page.click("#slip-race")
    page.wait_for_function("window.Slipstream.page.player.mode === 'live'")
    page.wait_for_function("window.Slipstream.page.player.mode === 'finished'")
    found: dict[str, float] = page.evaluate(
        "Object.fromEntries([...Slipstream.page.player.story.lanes.values()]"
        ".map(lane => [lane.key, lane.finish.totals.seconds]))"
    )
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.page_speed", description=__doc__)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--lanes", default="vanilla,racer")
    parser.add_argument("--max-new-tokens", type=int, default=96)
    parser.add_argument("--thinking-budget", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=Path("results/page.json"))
    run(parser.parse_args())
