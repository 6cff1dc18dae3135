"""Bundled recordings: find the newest that can be played. No gradio, no torch."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from engine.events import Run, Unreadable, from_dict

_log = logging.getLogger(__name__)


def read(path: Path) -> list[dict[str, Any]]:
    """The events of one recording, as plain dicts, the run first.

    Raises Unreadable, one sentence, for a file that is not a recording.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        events = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path.name} is not a Slipstream recording ({error}).") from error
    for number, event in enumerate(events):
        if isinstance(from_dict(event), Run) != (number == 0):
            raise Unreadable(f"{path.name} does not start with one run.")
    if not events:
        raise Unreadable(f"{path.name} is empty.")
    return events


def newest(folder: Path) -> list[dict[str, Any]]:
    """The events of the recording with the latest date; [] where there is none.

    A damaged file is logged and passed over: the page is better off with an older one.
    """
    dated: list[tuple[str, str, Path]] = []
    for path in sorted(folder.glob("*.jsonl")):
        try:
            with path.open(encoding="utf-8") as lines:
                dated.append((str(json.loads(lines.readline())["date"]), path.name, path))
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("%s is passed over: %s", path.name, error)
    for _, _, path in sorted(dated, reverse=True):
        try:
            return read(path)
        except Unreadable as error:
            _log.warning("%s", error)
    return []
