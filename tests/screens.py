"""Screenshots of the running page for the README: `python -m tests.screens`.

Plays the first bundled recording to its end on the real page and takes it at 1440 and 390
pixels, light and dark, in English and Korean, and in the presenter view at 1920.
"""

from __future__ import annotations

from pathlib import Path

from slipstream.request import Bounds
from slipstream.service import PageService
from tests.browser import browser
from tests.test_page import served

ROOT = Path(__file__).parent.parent
SCREENS = ROOT / "assets" / "screens"
SHOTS = (
    ("page-light", 1440, "light", "en"),
    ("page-dark", 1440, "dark", "en"),
    ("phone-light", 390, "light", "en"),
    ("phone-dark", 390, "dark", "en"),
    ("page-korean", 1440, "light", "ko"),
    ("presenter", 1920, "dark", "en"),
)
# Looks at the step near the end of the second lane, RACER, of whose guesses most stood: the
# last step of a run shows little, for behind the end of a text all guesses are in vain.
STEP = """
() => {
  const steps = [...document.querySelectorAll(".lane:nth-child(2) .answer .step")].slice(-24);
  steps.reduce((best, step) => (step.children.length > best.children.length ? step : best)).click();
}
"""


def main() -> None:
    """Take them all."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    service = PageService(None, public=False, bounds=Bounds())
    with served(service, ROOT / "assets" / "recordings") as url, browser() as chromium:
        for name, width, theme, language in SHOTS:
            page = chromium.new_page()
            presenting = name == "presenter"
            page.set_viewport_size({"width": width, "height": 1080 if presenting else 900})
            view = "&present=1" if presenting else ""
            page.goto(f"{url}?__theme={theme}&lang={language}{view}")
            page.wait_for_function("window.Slipstream?.page.player?.mode === 'recording'")
            page.click(".transport .play")
            page.evaluate("Slipstream.page.player.controls.seek(1e9)")
            page.evaluate(STEP)
            # What is outside the window is not drawn, so the window takes the whole page in.
            if not presenting:
                height = page.evaluate("document.documentElement.scrollHeight")
                page.set_viewport_size({"width": width, "height": height})
            page.evaluate("scrollTo(0, 0)")
            page.mouse.move(1, 1)  # over nothing, so that no token is looked at
            page.wait_for_timeout(1500)
            page.screenshot(path=SCREENS / f"{name}.png", full_page=not presenting)
            page.close()


if __name__ == "__main__":
    main()
