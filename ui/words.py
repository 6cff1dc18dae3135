"""What the page inlines into its head: dictionaries, example prompts, scripts, styles.

Everything is inlined, so that the page asks its host for nothing but Gradio's own files
and, where somebody opens the close-up charts, Plotly (ui/files.py); it works below any
root path.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).resolve().parent.parent / "assets"
LANGUAGES = ("en", "ko")
# In the order they build on one another.
PLAYER = (
    "words.js",
    "phases.js",
    "fold.js",
    "tree.js",
    "draw.js",
    "chart.js",
    "timeline.js",
    "text.js",
    "draft.js",
    "lane.js",
    "results.js",
    "frame.js",
    "transport.js",
    "token.js",
    "recording.js",
    "share.js",
    "keys.js",
    "dialogs.js",
    "tour.js",
    "closeup.js",
    "desk.js",
    "player.js",
)
"""The player's scripts: on the page, in an exported page, on a static site."""
SCRIPTS = (*PLAYER, "connection.js", "page.js")
STYLES = ("player.css", "page.css")


@cache
def dictionary(language: str) -> dict[str, str]:
    """The page's words in one language, by key."""
    text = (ASSETS / "i18n" / f"{language}.json").read_text(encoding="utf-8")
    words: dict[str, str] = json.loads(text)
    return words


@cache
def prompts() -> list[dict[str, Any]]:
    """The example prompts: kind, titles by language, prompt."""
    listed: list[dict[str, Any]] = json.loads((ASSETS / "prompts.json").read_text(encoding="utf-8"))
    return listed


def inert(name: str, value: Any) -> str:
    """A value as an inert JSON element; `<` is spelled out, so nothing in it is a tag."""
    text = json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="slipstream-{name}">{text}</script>'


def head() -> str:
    """The elements for the page's head."""
    styles = [f"<style>{(ASSETS / name).read_text(encoding='utf-8')}</style>" for name in STYLES]
    scripts = [
        f"<script>{(ASSETS / name).read_text(encoding='utf-8')}</script>" for name in SCRIPTS
    ]
    words = {language: dictionary(language) for language in LANGUAGES}
    icon = '<link rel="icon" href="data:image/svg+xml,' + ICON + '">'
    return "\n".join([icon, *styles, inert("words", words), inert("prompts", prompts()), *scripts])


ICON = (
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Crect width='32' height='32' rx='8' fill='%231b1f27'/%3E"
    "%3Cpath d='M6 10h9M6 16h20M6 22h14' stroke='%23f7f6f2' stroke-width='3' "
    "stroke-linecap='round'/%3E%3C/svg%3E"
)
