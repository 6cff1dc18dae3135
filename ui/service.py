"""What the page needs from the machine behind it. No gradio, no torch: a protocol.

`app.py` hands in the real one, the tests a scripted one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from engine.events import Event

CAPACITIES = ("auto", "8", "16", "24", "32", "48", "64")
THINK = ("auto", "on", "off")
LONGEST_PROMPT = 20_000  # characters that are taken at all; the service counts tokens


@dataclass(frozen=True)
class RaceRequest:
    """One race as the visitor asked for it.

    lanes: lane keys in the order they are shown. capacity: size of a draft tree, one
    of CAPACITIES; "auto" leaves it to the machine's measured cost of a forward.
    think: one of THINK; "auto" is on where the model thinks by itself or an SSR lane runs.
    thinking_budget: tokens after which the thinking is closed. draft_at, draft_every:
    tokens of thinking after which the answer is first drafted, and again (0: once).
    draft_length: tokens of a draft at most.
    """

    prompt: str
    lanes: tuple[str, ...]
    max_new_tokens: int
    temperature: float
    top_p: float
    top_k: int
    seed: int
    capacity: str
    think: str = "auto"
    thinking_budget: int = 400
    draft_at: int = 64
    draft_every: int = 64
    draft_length: int = 256


class Service(Protocol):
    """A machine with a model on it, or one that has none loaded yet.

    public: a shared host, where visitors load no models.
    """

    public: bool

    def describe(self) -> dict[str, Any]:
        """Plain values: model, device, device_name, dtype, lanes, default_lanes, loaded,
        max_new_tokens, default_new_tokens, max_prompt_tokens and a one-line `note`; where
        the service has a say in them, max_thinking and default_thinking_budget.
        """  # noqa: D205
        ...

    def race(self, request: RaceRequest) -> Iterator[Event]:
        """A Run, then the events of all lanes interleaved.

        Raises engine.errors.UserError, one sentence, for what cannot be run.
        """
        ...

    def load(self, spec: str) -> str:
        """Load another model and return one sentence about it.

        Raises engine.errors.UserError and keeps the old model where that fails.
        """
        ...
