"""How fast the player is in Chromium: `python -m tests.player_speed`. Figures, not a test.

A scripted run of four lanes: opening it, scrubbing through it (lanes and cursor, laid out),
memory over ten replays; then the same run live at 500 tokens a second.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.browser import browser
from tests.scripted import ENGLISH, THINKING, Script, Scripted, record, tokenize
from tests.test_page import served

FOUR = ("vanilla", "racer", "ssr", "racer+ssr")
PLAYER = "window.Slipstream.page.player"

SCRUB = """count => {
    const { controls } = window.Slipstream.page.player, times = [];
    const end = controls.jump(Infinity) || window.Slipstream.fold.duration(
        window.Slipstream.page.player.story);
    let seed = 1;
    for (let i = 0; i < count; i += 1) {
        seed = (seed * 16807) % 2147483647;
        const before = performance.now();
        controls.seek(end * (seed / 2147483647));
        void document.querySelector('.slip').offsetHeight;
        times.push(performance.now() - before);
    }
    return times;
}"""

RATE = """() => {
    const { story } = window.Slipstream.page.player, lanes = [...story.lanes.values()];
    const tokens = lanes.reduce((sum, lane) => sum + lane.tokens.at(-1), 0);
    return tokens / window.Slipstream.fold.computed(story);
}"""


class Long(Scripted):
    """A service whose races are as long as its text."""

    def describe(self) -> dict[str, Any]:
        """The same, without the usual limit."""
        return {**super().describe(), "default_new_tokens": 4096}


def share(times: list[float], part: float) -> float:
    """The time below which that part of them lies."""
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def opening(page: Any, path: Path) -> float:
    """Milliseconds from the file being there to its last state being drawn."""
    text = path.read_text("utf-8")
    return float(
        page.evaluate(
            """async text => {
                const player = window.Slipstream.page.player;
                const file = new File([text], 'run.jsonl');
                const before = performance.now();
                await player.desk.file(file);
                player.controls.jump(Infinity);
                player.draw();
                void document.querySelector('.slip').offsetHeight;
                return performance.now() - before;
            }""",
            text,
        )
    )


def memory(page: Any, rounds: int) -> list[float]:
    """Megabytes of the JavaScript heap after each replay from beginning to end."""
    found = []
    for _ in range(rounds):
        page.evaluate(
            """async () => {
                const { controls, story } = window.Slipstream.page.player;
                const end = window.Slipstream.fold.duration(story);
                for (let i = 0; i <= 40; i += 1) {
                    controls.seek(end * i / 40);
                    await new Promise(done => setTimeout(done, 4));
                }
            }"""
        )
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        session.detach()
        found.append(page.evaluate("performance.memory.usedJSHeapSize") / 2**20)
    return found


def live(page: Any, service: Scripted, script: Script) -> dict[str, float]:
    """How long after the server the page is done, and how many batches a second it got."""
    service.script = script
    page.fill("#slip-prompt textarea", "hello")
    page.click("#slip-race")
    start = time.monotonic()
    while service.closed < service.opened or not service.opened:
        page.wait_for_timeout(20)
    served_in = time.monotonic() - start
    page.wait_for_function(f"{PLAYER}.mode === 'finished'", timeout=120_000)
    behind = time.monotonic() - start - served_in
    batches = page.evaluate(f"{PLAYER}.cost.batches")
    tokens = page.evaluate(
        f"[...{PLAYER}.story.lanes.values()].reduce((n, lane) => n + lane.tokens.at(-1), 0)"
    )
    return {
        "tokens": tokens,
        "seconds": served_in,
        "tokens a second": tokens / served_in,
        "behind": behind,
        "batches a second": batches / (served_in + behind),
        "milliseconds a batch": page.evaluate(f"{PLAYER}.cost.milliseconds") / batches,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=4000, help="of all lanes together")
    parser.add_argument("--json", type=Path, default=Path("results/player.json"))
    args = parser.parse_args()
    text = ENGLISH * -(-args.tokens // len(FOUR) // len(tokenize(ENGLISH)))
    service = Long(lanes=FOUR)
    with (
        tempfile.TemporaryDirectory() as name,
        browser(viewport={"width": 1440, "height": 900}) as chromium,
    ):
        folder = Path(name)
        script = Script(text=text, thinking=THINKING)
        record(folder / "long.jsonl", script, FOUR, prompt="Long", max_new_tokens=4096)
        with served(service, folder) as url:
            page = chromium.new_page()
            page.goto(f"{url}?lang=en")
            page.wait_for_function("window.Slipstream?.page?.player?.mode === 'recording'")
            page.evaluate(f"{PLAYER}.controls.jump(0)")
            opened = [opening(page, folder / "long.jsonl") for _ in range(5)]
            times = page.evaluate(SCRUB, 200)
            # So that the tokens of all lanes come at 500 a second.
            pace = page.evaluate(RATE) / 500
            heap = memory(page, 10)
            found = {
                "opening ms": sorted(opened)[2],
                "scrub p50 ms": share(times, 0.5),
                "scrub p95 ms": share(times, 0.95),
                "heap MB first": heap[0],
                "heap MB last": heap[-1],
                **live(page, service, replace(script, pace=pace)),
            }
    for key, value in found.items():
        print(f"{key:24} {value:,.1f}")
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
