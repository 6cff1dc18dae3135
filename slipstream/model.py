"""A model ready to race, and the race itself: the engine and the drafters put together."""

from __future__ import annotations

import os
import platform
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from engine import models
from engine.errors import PromptError
from engine.events import Event, Run
from engine.loop import Limit, Written, decode
from engine.machine import Machine, ready
from engine.phases import Phases
from engine.prompt import PLAIN, Ask, behind_prompt, chat_prompt
from engine.race import Lane, race
from engine.sampling import Sampler
from engine.text import TextPieces
from engine.thinking import SWITCHES, Style, phases_of, start_of, style_of
from slipstream.checked import checked
from slipstream.lanes import capacity_of, drafter_of
from slipstream.request import Bounds, Request

_PACKAGES = ("torch", "transformers", "tokenizers", "gradio")


@dataclass(frozen=True)
class Model:
    """A loaded model on a measured machine."""

    loaded: models.Loaded

    @cached_property
    def machine(self) -> Machine:
        """The model packed, checked and measured; made once, where a forward can run."""
        return ready(self.loaded.model)

    def race(self, request: Request, bounds: Bounds | None = None) -> Iterator[Event]:
        """A Run, then the events of all lanes as each clock allows.

        Behind a lane's end comes the check of its answer, where the prompt is of a kind
        whose answer a program can work out.

        Raises UserError for what cannot be run. Closing the iterator frees the device.
        """
        bounds = bounds or Bounds()
        request = request.checked(bounds)
        ask = self.ask(request)
        prompt = self._prompt(request, bounds, ask)
        phases = self._phases(request, ask)
        self.machine.warm_up()
        tolerance = self.machine.tolerance
        if not Sampler(request.temperature).greedy:
            tolerance /= request.temperature
        yield self._run(request, prompt, phases)
        lanes = [self._lane(key, prompt, request, bounds, phases) for key in request.lanes]
        events = race(lanes, TextPieces(self.loaded.vocabulary), tolerance)
        yield from checked(events, request.prompt)

    @cached_property
    def style(self) -> Style:
        """How this model thinks, or can be asked to."""
        return style_of(self.loaded.tokenizer)

    def prompt_ids(self, prompt: str, ask: Ask = PLAIN) -> list[int]:
        """Ids of `prompt` as one turn of this model's chat, as every lane reads it."""
        return chat_prompt(self.loaded.tokenizer, prompt, ask)

    def ask(self, request: Request) -> Ask:
        """What is put around the prompt, so that the model thinks first or does not."""
        thinks = request.thinks(self.style.native)
        if self.style.native:
            return Ask(options=dict.fromkeys(SWITCHES, thinks))
        if not thinks:
            return PLAIN
        return Ask(self.style.instruction(), self.style.pair[0] + "\n")

    def _phases(self, request: Request, ask: Ask) -> Phases:
        """The rules of thinking and answering behind that prompt."""
        start = start_of(self.style, behind_prompt(self.loaded.tokenizer, ask))
        return phases_of(
            self.loaded.tokenizer,
            self.loaded.vocabulary,
            self.style,
            start,
            request.thinking_budget,
            self.loaded.eos,
        )

    def _prompt(self, request: Request, bounds: Bounds, ask: Ask) -> list[int]:
        """Ids of the prompt as a chat turn; one sentence if it does not fit."""
        ids = self.prompt_ids(request.prompt, ask)
        most = min(bounds.prompt_tokens, self.loaded.context - 1)
        if len(ids) > most:
            raise PromptError(f"The prompt is {len(ids)} tokens long and {most} fit; shorten it.")
        return ids

    def _lane(
        self, key: str, prompt: list[int], request: Request, bounds: Bounds, phases: Phases
    ) -> Lane:
        """One lane, cold: its own cache, drafter, text and clock."""
        written = Written()
        thinking = request.thinking_budget + request.draft_length if phases.thinks else 0
        most = min(request.max_new_tokens + thinking, self.loaded.context - len(prompt))
        events = decode(
            key,
            self.machine.target(len(prompt) + most + 64),
            drafter_of(key, request.capacity, request.schedule),
            Sampler(request.temperature, request.top_k, request.top_p, request.seed),
            prompt,
            Limit(request.max_new_tokens, self.loaded.context, self.loaded.eos, bounds.seconds),
            capacity_of(key, request.capacity, self.machine.cost),
            TextPieces(self.loaded.vocabulary, phases),
            written,
            phases,
        )
        return Lane(key, events, written)

    def _run(self, request: Request, prompt: list[int], phases: Phases) -> Run:
        """The first line of a recording."""
        return Run(
            id=uuid.uuid4().hex[:12],
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            prompt=request.prompt,
            prompt_tokens=len(prompt),
            seed=request.seed,
            lanes=tuple(
                {"key": key, "capacity": "none" if key == "vanilla" else request.capacity}
                for key in request.lanes
            ),
            model=self.about(),
            settings={
                "max_new_tokens": request.max_new_tokens,
                "temperature": request.temperature,
                "top_p": request.top_p,
                "top_k": request.top_k,
                "capacity": request.capacity,
                "thinks": phases.thinks,
                "thinking_budget": request.thinking_budget,
                "draft_at": request.draft_at,
                "draft_every": request.draft_every,
                "draft_length": request.draft_length,
            },
            packages=_versions(),
        )

    def about(self) -> dict[str, Any]:
        """The model in plain values."""
        loaded = self.loaded
        return {
            "name": loaded.name,
            "revision": loaded.revision,
            "dtype": loaded.dtype,
            "device": loaded.device,
            "device_name": loaded.device_name,
            "parameters": loaded.parameters,
        }


def load(
    spec: str = "auto",
    *,
    device: str = "auto",
    dtype: str = "auto",
    progress: Callable[[str], None] | None = None,
) -> Model:
    """Load a model and measure this machine with it; `spec` as in `engine.models.load`.

    Raises ModelError, one sentence, for a model that cannot be had or raced.
    """
    model = Model(models.load(spec, device=device, dtype=dtype, progress=progress))
    if _gpu_is_lent():
        return model
    if progress is not None:
        progress("Measuring this machine …")
    _ = model.machine
    return model


def _gpu_is_lent() -> bool:
    """Whether this is a ZeroGPU Space: there no forward runs outside the race itself."""
    return bool(os.environ.get("SPACES_ZERO_GPU"))


def _versions() -> dict[str, str]:
    """Versions of what decides the numbers."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
