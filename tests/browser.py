"""Chromium for tests: where it is, with which flags, and what happens without it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

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
