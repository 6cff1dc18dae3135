"""What a browser sent, as a race request or one sentence that says what is wrong. No gradio.

Gradio's own checks are left out (they end a race with a message that the page never
sees), so everything that arrives is looked at here: anything may.
"""

from __future__ import annotations

import math
from typing import Any

from engine.errors import UserError
from ui.service import LONGEST_PROMPT, THINK, RaceRequest
from ui.words import dictionary

MOST = 1 << 53  # beyond it a number from a browser is no longer exact


def asked(sent: dict[str, Any]) -> RaceRequest:
    """The race that was asked for. Raises UserError, in words that the page can translate."""
    prompt, lanes = sent.get("prompt"), sent.get("lanes")
    if not isinstance(prompt, str) or not prompt.strip():
        raise _refusal("no_prompt")
    if len(prompt) > LONGEST_PROMPT:
        raise _refusal("prompt_large", n=len(prompt), most=LONGEST_PROMPT)
    if not isinstance(lanes, list | tuple) or not lanes:
        raise _refusal("no_lanes")
    think = sent.get("think") or "auto"
    if think not in THINK:
        raise _refusal("think")
    return RaceRequest(
        prompt=prompt,
        lanes=tuple(str(lane) for lane in lanes),
        max_new_tokens=_whole(sent, "max_new_tokens", 1),
        temperature=_number(sent, "temperature", 0.0, 5.0),
        top_p=_number(sent, "top_p", 1e-9, 1.0),
        top_k=_whole(sent, "top_k", 0),
        seed=_whole(sent, "seed", 0),
        capacity=str(sent.get("capacity") or "auto"),
        think=str(think),
        thinking_budget=_whole(sent, "thinking_budget", 1),
        draft_at=_whole(sent, "draft_at", 1),
        draft_every=_whole(sent, "draft_every", 0),
        draft_length=_whole(sent, "draft_length", 1),
    )


def _refusal(key: str, **values: int) -> UserError:
    return UserError(dictionary("en")[f"error.{key}"].format(**values))


def _number(sent: dict[str, Any], name: str, least: float, most: float) -> float:
    """A finite number between the two, both included."""
    value = sent.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refusal(name)
    # Compared first: an integer may be too large to be a float at all.
    if not least <= value <= most or not math.isfinite(value):
        raise _refusal(name)
    return float(value)


def _whole(sent: dict[str, Any], name: str, least: int) -> int:
    value = _number(sent, name, least, MOST)
    if value != int(value):
        raise _refusal(name)
    return int(value)
