"""Chromium for tests: where it is, with which flags, and what happens without it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# Of a module of tests in Chromium. Gradio leaves an event loop and its sockets to the garbage
# collector, and asks pandas for an option that pandas is about to drop.
MARKS = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*no_silent_downcasting"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
]

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium_path() -> str | None:
    """Debian's chromium, or the one named in CHROMIUM; None where there is none."""
    named = os.environ.get("CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser")


def need_chromium() -> str:
    """The path of chromium. Without one the test is skipped, or fails where CI is set."""
    path = chromium_path()
    reason = "chromium is not installed (set CHROMIUM to its path)"
    try:
        import playwright  # noqa: F401
    except ImportError:
        path, reason = None, "playwright is not installed"
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@contextmanager
def browser(**options: Any) -> Iterator[Any]:
    """A headless Chromium with a new, empty user folder; closed at the end."""
    path = need_chromium()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        context = play.chromium.launch_persistent_context(
            folder, executable_path=path, headless=True, args=FLAGS, **options
        )
        try:
            yield context
        finally:
            context.close()


def arrived(page: Any) -> None:
    """Wait until the page is drawn and knows what the server told it about itself."""
    page.wait_for_selector("#slip-view .slip")
    page.wait_for_function("document.querySelector('#slip-view .about').textContent")


def watched(
    context: Any, ready: Callable[[Any], object], query: str = "lang=en&__theme=light"
) -> Iterator[Callable[..., Any]]:
    """For a fixture: opens pages and, at its end, holds that none logged an error or left its host.

    ready: waits until a page that was opened can be used. A page from disk may ask nobody.
    """
    opened: list[Any] = []
    wrong: list[str] = []

    def go(url: str, query: str = query) -> Any:
        page = context.new_page()
        opened.append(page)
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        own = "file:" if url.startswith("file:") else r"http://127\.0\.0\.1"
        allowed = re.compile(f"{own}|data:|blob:")
        page.on("request", lambda r: None if allowed.match(r.url) else wrong.append(r.url))
        page.goto(f"{url}?{query}")
        ready(page)
        return page

    yield go
    for page in opened:
        page.close()
    assert wrong == []
