"""Checkpoints that can be trusted, and whose run they belong to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.errors import UserError

WHOLE = "whole"
"""A file in a checkpoint that says that it was written to its end."""
_RECIPE = "recipe.json"
_FOLDER = "checkpoints"


def claim(folder: Path, recipe: dict[str, Any]) -> Path:
    """Take a folder for a run of this recipe; returns where its checkpoints go.

    recipe: all that decides what is learned: settings, texts, the weights to begin with.
    Raises UserError if it holds a run of another recipe.
    """
    file = folder / _RECIPE
    folder.mkdir(parents=True, exist_ok=True)
    wanted = json.dumps(recipe, indent=2) + "\n"
    if file.is_file() and file.read_text(encoding="utf-8") != wanted:
        raise UserError(f"{folder} holds a run of other settings or texts; choose another --out.")
    file.write_text(wanted, encoding="utf-8")
    return folder / _FOLDER


def decided(folder: Path, name: str, decide: Callable[[], bool]) -> bool:
    """What was decided when the run in `folder` began; decided now if it begins.

    A decision by a stopwatch could fall otherwise when an interrupted run goes on.
    """
    file = folder / f"{name}.json"
    if not file.is_file():
        file.write_text(json.dumps(decide()) + "\n", encoding="utf-8")
    return bool(json.loads(file.read_text(encoding="utf-8")))


def newest(folder: Path) -> Path | None:
    """The newest whole checkpoint of a run; those cut off in the middle are removed."""
    found = sorted(folder.glob(f"{_FOLDER}/checkpoint-*"), key=_step)
    for each in found:
        if not (each / WHOLE).is_file():
            shutil.rmtree(each)
    whole = [each for each in found if each.is_dir()]
    return whole[-1] if whole else None


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])
