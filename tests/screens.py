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
