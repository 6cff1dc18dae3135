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

_log = logging.getLogger(__name__)

Entry = dict[str, Any]


def text_of(path: Path) -> str:
    """The lines of a recording, packed or not. Raises Unreadable, one sentence."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.name.endswith(".gz") else data).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise Unreadable(f"{path.name} is not a Slipstream recording ({error}).") from error


def read(path: Path) -> list[dict[str, Any]]:
    """The events of one recording, as plain dicts, the run first.

    Raises Unreadable, one sentence, for a file that is not a recording.
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
    return events


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
    except FileNotFoundError:
        return _undescribed(folder)
    except (OSError, ValueError) as error:
        _log.warning("the gallery cannot be read: %s", error)
        return _undescribed(folder)
    shown = [{key: entry[key] for key in ("name", "title", "about")} for entry in listed]
    return [entry for entry in shown if place(folder, entry["name"])]


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
    path = place(folder, name)
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
