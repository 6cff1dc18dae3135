"""A race as somebody asked for it, checked before anything runs."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace

from engine.errors import UserError
from slipstream.lanes import DEFAULT_LANES, LANES, SPECULATING
from ssr import Schedule


def _from_environment(name: str, otherwise: int) -> int:
    """A positive number from the environment; anything else there is ignored."""
    value = os.environ.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 10 and int(value) > 0 else otherwise


@dataclass(frozen=True)
class Bounds:
    """What one race may ask for on this host.

    seconds: lane time at most, None for no deadline.
    """

    new_tokens: int = 2048
    default_new_tokens: int = 320
    prompt_tokens: int = 4096
    thinking: int = 4096
    seconds: float | None = None

    @classmethod
    def from_environment(cls) -> Bounds:
        """The customary variables of a Space, each with its default."""
        most = _from_environment("MAX_MAX_NEW_TOKENS", cls.new_tokens)
        seconds = _from_environment("MAX_LANE_SECONDS", 0)
        return cls(
            new_tokens=most,
            default_new_tokens=min(
                most, _from_environment("DEFAULT_MAX_NEW_TOKENS", cls.default_new_tokens)
            ),
            prompt_tokens=_from_environment("MAX_INPUT_TOKEN_LENGTH", cls.prompt_tokens),
            thinking=_from_environment("MAX_THINKING_TOKENS", cls.thinking),
            seconds=seconds or None,
        )


_WHOLE = (
    "max_new_tokens",
    "top_k",
    "seed",
    "thinking_budget",
    "draft_at",
    "draft_every",
    "draft_length",
)


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt, the lanes to race on it, and the settings all of them share.

    capacity: nodes of a draft tree, root included, or "auto" for what pays here.
    temperature 0 is greedy; top_k 0 and top_p 1 filter nothing. max_new_tokens: of the
    answer. think: "on", "off", or "auto": where the model thinks by itself or a lane drafts
    while it does. thinking_budget: reasoning tokens after which the answer is begun.
    draft_at, draft_every, draft_length: SSR's draft points, as in `ssr.Schedule`.
    """

    prompt: str
    lanes: tuple[str, ...] = DEFAULT_LANES
    max_new_tokens: int = 320
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    capacity: str = "auto"
    think: str = "auto"
    thinking_budget: int = 400
    draft_at: int = 64
    draft_every: int = 64
    draft_length: int = 256

    @property
    def schedule(self) -> Schedule:
        """SSR's draft points."""
        return Schedule(self.draft_at, self.draft_every, self.draft_length)

    def thinks(self, native: bool) -> bool:
        """Whether the model is to think first; `native`: it does so by itself."""
        if self.think == "auto":
            return native or any(lane in SPECULATING for lane in self.lanes)
        return self.think == "on"

    def checked(self, bounds: Bounds) -> Request:
        """The same request, held to `bounds`. Raises UserError for what cannot be run."""
        self._check_types()
        if not self.prompt.strip():
            raise UserError("The prompt is empty; write at least one word.")
        named = self.lanes.split(",") if isinstance(self.lanes, str) else self.lanes
        lanes = tuple(dict.fromkeys(named))
        if not lanes:
            raise UserError("No lane is chosen; choose at least one.")
        unknown = [lane for lane in lanes if lane not in LANES]
        if unknown:
            raise UserError(f"There is no lane {unknown[0]!r}; choose from {', '.join(LANES)}.")
        if not (math.isfinite(self.temperature) and 0 <= self.temperature <= 5):
            raise UserError("The temperature is out of range; choose 0 to 5.")
        if not 0 < self.top_p <= 1:
            raise UserError("Top-p is out of range; choose above 0 and up to 1.")
        if self.top_k < 0:
            raise UserError("Top-k is negative; choose 0 for no limit, or more.")
        if not 0 <= self.seed < 1 << 63:
            raise UserError("The seed is out of range; choose 0 or a larger whole number.")
        if self.max_new_tokens < 1:
            raise UserError("The answer has no length; choose one token or more.")
        capacity = str(self.capacity)
        if capacity != "auto" and not (
            capacity.isdecimal() and len(capacity) < 4 and 1 <= int(capacity) <= 256
        ):
            raise UserError("The draft capacity is unknown; choose auto or 1 to 256.")
        self._check_thinking()
        return replace(
            self,
            lanes=lanes,
            capacity=capacity,
            max_new_tokens=min(self.max_new_tokens, bounds.new_tokens),
            thinking_budget=min(self.thinking_budget, bounds.thinking),
        )

    def _check_types(self) -> None:
        """What Python itself does not check: the request may come from anybody's program."""
        if not isinstance(self.prompt, str):
            raise UserError("The prompt is no text; write at least one word.")
        if not isinstance(self.lanes, str | tuple | list):
            raise UserError("The lanes are no list of names; choose at least one.")
        for name in _WHOLE:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise UserError(f"{name} is no whole number; choose one.")
        for name in ("temperature", "top_p"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise UserError(f"{name} is no number; choose one.")

    def _check_thinking(self) -> None:
        if self.think not in ("auto", "on", "off"):
            raise UserError("Thinking first is on, off or auto; choose one of them.")
        if self.thinking_budget < 1:
            raise UserError("The thinking budget is too small; choose one token or more.")
        if self.draft_at < 1 or self.draft_length < 1:
            raise UserError("A draft needs a point and a length; choose one token or more.")
        if self.draft_every < 0:
            raise UserError("The interval of drafts is negative; choose 0 for a single draft.")
