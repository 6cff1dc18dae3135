"""Make the gallery's recordings anew: `python -m slipstream.gallery`.

Which there are, with their titles, prompts and settings, is written in `gallery.json`
beside them; every figure in them is this machine's own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import UserError
from engine.events import Compare, Finish, Run
from engine.record import Writer, check
from slipstream.cli import fail
from slipstream.lanes import THINKING_LANES
from slipstream.model import Model, load
from slipstream.request import Request

FOLDER = Path(__file__).parents[1] / "assets" / "recordings"
LIST = "gallery.json"


def entries(folder: Path) -> list[dict[str, Any]]:
    """What the gallery is to hold. Raises UserError if its list cannot be read."""
    try:
        listed: list[dict[str, Any]] = json.loads((folder / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{folder / LIST} cannot be read; it names what to record.") from error
    return listed


def request_of(entry: dict[str, Any]) -> Request:
    """The race of an entry; its lanes are the four unless it names others."""
    made = dict(entry["make"])
    made["lanes"] = tuple(made.get("lanes", THINKING_LANES))
    made.pop("model", None)
    return Request(**made)


def record(model: Model, entry: dict[str, Any], folder: Path) -> Path:
    """Race an entry and write its recording, checked as one that is opened would be."""
    path = folder / f"{entry['name']}.jsonl.gz"
    events = [
        replace(event, title=entry["title"]["en"]) if isinstance(event, Run) else event
        for event in model.race(request_of(entry))
    ]
    check(events)
    failed = [event for event in events if isinstance(event, Finish) and event.reason == "error"]
    if failed:
        raise UserError(f"{entry['name']}: lane {failed[0].lane} failed; look at the log.")
    with Writer(path) as writer:
        for event in events:
            writer.write(event)
    differing = [
        event.lane for event in events if isinstance(event, Compare) and not event.identical
    ]
    ends = {event.lane: event.totals for event in events if isinstance(event, Finish)}
    lanes = ", ".join(f"{lane} {totals['seconds']:.1f} s" for lane, totals in ends.items())
    said = f" DIFFERS from vanilla: {', '.join(differing)}." if differing else ""
    print(f"{entry['name']}: {path.stat().st_size:,} bytes; {lanes}.{said}", flush=True)
    return path


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m slipstream.gallery", description=__doc__)
    parser.add_argument("names", nargs="*", help="of the recordings to make (default: all)")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    args = parser.parse_args(argv)
    try:
        listed = entries(args.folder)
        known = [entry["name"] for entry in listed]
        for name in args.names:
            if name not in known:
                raise UserError(f"There is no entry {name}; choose from {', '.join(known)}.")
        wanted = [entry for entry in listed if not args.names or entry["name"] in args.names]
        models: dict[str, Model] = {}
        for entry in wanted:
            spec = entry["make"].get("model", "embedded")
            if spec not in models:
                models[spec] = load(spec)
            record(models[spec], entry, args.folder)
    except UserError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
