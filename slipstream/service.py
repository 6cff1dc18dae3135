"""The machine behind the page: one model, one race at a time, another model on request."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from engine.errors import ModelError, UserError
from engine.events import Event
from slipstream.lanes import DEFAULT_LANES, LANES, THINKING_LANES
from slipstream.model import Model, load
from slipstream.request import Bounds, Request

_Run = Callable[[Request, Bounds], Iterator[Event]]

log = logging.getLogger(__name__)

_PATIENCE = 4.0
"""Seconds; a step of a slow machine, after which a stopped race is really over."""


class PageService:
    """What `ui.service.Service` asks for, on a real model.

    model: None while there is none; the page then plays recordings and says so.
    public: a shared host, where visitors load no models.
    """

    def __init__(
        self, model: Model | None, *, public: bool, bounds: Bounds, **options: str
    ) -> None:
        self.public = public
        self.bounds = bounds
        self._model = model
        self._options = options
        self._busy = threading.Lock()
        self._run: _Run = self._race

    def wrap(self, decorate: Callable[[_Run], _Run]) -> None:
        """Put a decorator around the race, such as the one that lends a GPU for it.

        What it wraps takes the request alone: the model stays where it was loaded.
        """
        self._run = decorate(self._run)

    def describe(self) -> dict[str, Any]:
        """Plain values about the model, the device and what may be asked for."""
        about: dict[str, Any] = {
            "loaded": self._model is not None,
            "lanes": list(LANES),
            "default_lanes": list(DEFAULT_LANES),
            "max_new_tokens": self.bounds.new_tokens,
            "default_new_tokens": self.bounds.default_new_tokens,
            "max_prompt_tokens": self.bounds.prompt_tokens,
            "max_thinking": self.bounds.thinking,
            "thinks": False,
            "model": "",
            "device": "",
            "device_name": "",
            "dtype": "",
            "note": "",
        }
        if self._model is not None:
            loaded = self._model.loaded
            about["max_new_tokens"] = min(self.bounds.new_tokens, loaded.context - 1)
            about["max_thinking"] = min(self.bounds.thinking, loaded.context - 1)
            about["thinks"] = self._model.style.native
            if about["thinks"]:
                about["default_lanes"] = list(THINKING_LANES)
            about["note"] = loaded.note
            about.update(self._model.about(), model=loaded.name)
        return about

    def race(self, request: Any) -> Iterator[Event]:
        """A Run, then the events of all lanes; waits only for a race that is being stopped.

        Raises UserError if there is no model, a race is on, or the request cannot be run.
        """
        if self._model is None:
            raise UserError(
                "No model is loaded here, so nothing can race; play the recording, or start "
                "the program with --model."
            )
        # The page lets the next visitor in before a stopped race has let the machine go.
        if not self._busy.acquire(timeout=_PATIENCE):
            raise UserError("Another race is running on this machine; try again when it ends.")
        try:
            # Checked before a GPU is asked for, so that a refusal costs nothing.
            yield from self._run(_plain(request).checked(self.bounds), self.bounds)
        finally:
            self._busy.release()

    def _race(self, request: Request, bounds: Bounds) -> Iterator[Event]:
        assert self._model is not None  # `race` has looked
        yield from self._model.race(request, bounds)

    def load(self, spec: str) -> str:
        """Load another model; the old one stays until the new one is ready.

        Raises UserError, and keeps the old model, where that fails.
        """
        if self.public:
            raise UserError("Models cannot be changed on a shared host.")
        if not spec.strip():
            raise ModelError("Name a model: embedded, a folder, a .gguf file, or a hub id.")
        if not self._busy.acquire(blocking=False):
            raise UserError("A race is running; load another model when it ends.")
        try:
            self._model = load(spec.strip(), progress=log.info, **self._options)
        finally:
            self._busy.release()
        loaded = self._model.loaded
        return f"{loaded.name} is loaded on {loaded.device_name or loaded.device}."


def _plain(request: Any) -> Request:
    """The page's request, which has the same fields, as this package's own."""
    return Request(**{each.name: getattr(request, each.name) for each in fields(Request)})
