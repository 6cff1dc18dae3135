"""What a long benchmark has measured so far, kept so that it can be interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.trial import Trial, trials
from engine.errors import UserError
from slipstream import Model, Request


class Kept:
    """Trials in a file, a line a race: all of its lanes or none.

    path: of the file. about: what the trials are measured on; those of another model are
    not comparable. resume: go on with the file's trials, else begin a new file.
    Raises UserError if the file to go on with is another model's or cannot be read.
    """

    def __init__(self, path: Path, about: dict[str, Any], *, resume: bool) -> None:
        self._path = path
        self._found: dict[str, list[Trial]] = {}
        if resume and path.is_file():
            self._read(about)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(about) + "\n", encoding="utf-8")

    def trials(self, model: Model, name: str, request: Request) -> list[Trial]:
        """The trials of this race on `model`, under the name that its question has now."""
        found = self.race(request, partial(trials, model, name, request))
        # The same prompt may stand under another name in the file.
        return [replace(trial, question=name) for trial in found]

    def race(self, request: Request, measure: Callable[[], list[Trial]]) -> list[Trial]:
        """The trials of this very race, measured if they are not in the file."""
        key = json.dumps(asdict(request), sort_keys=True)
        if key not in self._found:
            self._found[key] = done = measure()
            row = {"race": key, "trials": [asdict(each) for each in done]}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        return self._found[key]

    def _read(self, about: dict[str, Any]) -> None:
        try:
            first, *rest = self._path.read_text(encoding="utf-8").splitlines(keepends=True)
            measured_on = json.loads(first)
            # A line that was being written when the run ended is no line.
            whole = [line for line in rest if line.endswith("\n")]
            for row in map(json.loads, whole):
                self._found[row["race"]] = [Trial(**trial) for trial in row["trials"]]
        except (ValueError, TypeError, KeyError) as error:
            raise UserError(
                f"{self._path} cannot be read; leave --resume out to begin anew."
            ) from error
        if measured_on != about:
            raise UserError(
                f"{self._path} was measured on another model; leave --resume out to begin anew."
            )
        self._path.write_text(first + "".join(whole), encoding="utf-8")
