"""Tables for people, JSON for programs."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from engine.errors import UserError
from slipstream import Model


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table: the first column left, the others right."""
    widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]

    def text(line: Sequence[str]) -> str:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        return "  ".join(cells)

    return "\n".join([text(head), "  ".join("─" * width for width in widths), *map(text, rows)])


def signed(share: float | None) -> str:
    """A share in percent with its sign; a dash for none."""
    return "–" if share is None else f"{share:+.1%}"


def counted(verdicts: Iterable[bool | None]) -> str:
    """How many of the verdicts are a yes; a dash where none was given."""
    given = [verdict for verdict in verdicts if verdict is not None]
    return f"{sum(given)}/{len(given)}" if given else "–"


def room_for(path: Path) -> None:
    """Make the folder of `path` before anything is measured: hours must not end at a slip.

    Raises UserError where no such file can be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path.parent} cannot be made a folder; name another file.") from error
    if path.is_dir():
        raise UserError(f"{path} is a folder; name a file in it.")


def save(args: argparse.Namespace, model: Model | None, results: Any) -> None:
    """Write what was measured, on what, and with which arguments."""
    path: Path = args.json
    path.parent.mkdir(parents=True, exist_ok=True)
    data: dict[str, Any] = {
        "arguments": {key: str(value) for key, value in vars(args).items()},
        "cores": os.cpu_count(),
        "results": _plain(results),
    }
    if model is not None:
        data["model"] = model.about()
        data["tolerance"] = model.machine.tolerance
        data["packed_layers"] = model.machine.packed
        data["forward_seconds"] = model.machine.cost.base
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten to {path}")


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value
