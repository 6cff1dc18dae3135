"""Bundled recordings: which there are, and the events of one. No gradio, no torch.

`gallery.json` in the folder names them in the order in which they are offered, each with a
title and two sentences in both languages. A folder without one has its recordings all the
same, the newest first, under their own titles.
"""

from __future__ import annotations

import gzip
import json
import logging
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.events import Run, Unreadable, from_dict

ENDINGS = (".jsonl.gz", ".jsonl")
LARGEST = 64 * 1024 * 1024
"""Bytes of a recording, unpacked; more than any run of this program. As in recording.js."""

_TOLD = ("title", "about")  # each by language
_log = logging.getLogger(__name__)

Entry = dict[str, Any]


def text_of(path: Path) -> str:
    """The lines of a recording, packed or not. Raises Unreadable, one sentence."""
    try:
        # No more than that is unpacked: a small file may hold an endless one.
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise Unreadable(f"{path.name} is too large to be a Slipstream recording.")
        return data.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        # An OSError's own words name the folder, which is nobody's business on a page.
        why = getattr(error, "strerror", None) or error
        raise Unreadable(f"{path.name} is not a Slipstream recording ({why}).") from error


def read(path: Path) -> list[dict[str, Any]]:
    """The events of one recording, as plain dicts, the run first.

    Raises Unreadable, one sentence, for a file that is not a recording, or not a whole one.
    """
    text = text_of(path)
    try:
        events = [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError as error:
        raise Unreadable(f"{path.name} is not a Slipstream recording ({error}).") from error
    for number, event in enumerate(events):
        if isinstance(from_dict(event), Run) != (number == 0):
            raise Unreadable(f"{path.name} does not start with one run.")
    if not events:
        raise Unreadable(f"{path.name} is empty.")
    if not _whole(events):
        raise Unreadable(f"{path.name} is cut off.")
    return events


def _whole(events: list[dict[str, Any]]) -> bool:
    """Whether every lane of the run comes to its end."""
    lanes, ended = events[0]["lanes"], [e["lane"] for e in events if e["kind"] == "finish"]
    return isinstance(lanes, list) and all(
        isinstance(lane, dict) and lane.get("key") in ended for lane in lanes
    )


def place(folder: Path, name: str) -> Path | None:
    """The file of the recording called `name`, or None."""
    if Path(name).name != name:
        return None
    found = (folder / f"{name}{ending}" for ending in ENDINGS)
    return next((path for path in found if path.is_file()), None)


def gallery(folder: Path) -> list[Entry]:
    """What is offered: `name`, `title` and `about`, the latter two by language.

    Damaged files are logged and passed over: the page is better off without them.
    """
    try:
        listed = json.loads((folder / "gallery.json").read_text(encoding="utf-8"))
        if not isinstance(listed, list):
            raise ValueError("it is no list")
    except FileNotFoundError:
        return _undescribed(folder)
    except (OSError, ValueError) as error:
        _log.warning("the gallery cannot be read: %s", error)
        return _undescribed(folder)
    shown: list[Entry] = []
    for each in listed:
        try:
            entry: Entry = {key: dict(each[key]) for key in _TOLD} | {"name": str(each["name"])}
        except (KeyError, TypeError, ValueError) as error:
            _log.warning("an entry of the gallery is passed over: %r", error)
            continue
        if place(folder, entry["name"]):
            shown.append(entry)
    return shown


def _undescribed(folder: Path) -> list[Entry]:
    """The recordings of a folder without a list, the newest first."""
    dated: list[tuple[str, str, Entry]] = []
    for path in sorted(folder.glob("*.jsonl*")):
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        try:
            run = json.loads(text_of(path).partition("\n")[0])
            title = {"en": str(run.get("title") or run["prompt"])}
            dated.append((str(run["date"]), name, {"name": name, "title": title, "about": {}}))
        except (Unreadable, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("%s is passed over: %s", path.name, error)
    return [entry for _, _, entry in sorted(dated, key=lambda each: each[:2], reverse=True)]


def opened(folder: Path, name: str) -> tuple[Entry, list[dict[str, Any]]]:
    """A recording that is offered, with its events. Raises Unreadable, one sentence."""
    entry = next((entry for entry in gallery(folder) if entry["name"] == name), None)
    path = place(folder, name) if entry else None
    if entry is None or path is None:
        raise Unreadable(f"There is no recording called {name[:60]!r} here.")
    return entry, read(path)


def first(folder: Path, entries: Sequence[Entry]) -> tuple[Entry, list[dict[str, Any]]] | None:
    """The first of `entries` that can be played, with its events."""
    for entry in entries:
        try:
            path = place(folder, entry["name"])
            if path is not None:
                return entry, read(path)
        except Unreadable as error:
            _log.warning("%s", error)
    return None
