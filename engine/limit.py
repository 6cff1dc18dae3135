"""Where a lane ends."""

from __future__ import annotations

from dataclasses import dataclass

from engine.phases import ANSWER, State


@dataclass(frozen=True, slots=True)
class Limit:
    """Where a lane ends.

    tokens: tokens of the answer at most; the thinking has a budget of its own. context:
    positions the model has, prompt included. eos: ids that end the text (they are
    committed, then nothing more). seconds: lane time at most, None for no deadline.
    Raises ValueError for a limit that leaves no room for one token.
    """

    tokens: int
    context: int
    eos: frozenset[int] = frozenset()
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.tokens < 1 or self.context < 2:
            raise ValueError(f"no room to write in {self.tokens} tokens, context {self.context}")

    def room(self, text: int, state: State) -> int:
        """How many more tokens may be written behind `text` of them, prompt included."""
        room = self.context - text
        return min(room, self.tokens - state.index) if state.mode == ANSWER else room

    def reached(self, text: int, state: State, token: int) -> str | None:
        """Why `token`, the last of `text`, is the last one; None if it is not.

        state: where the text stands behind it.
        """
        if token in self.eos:
            return "eos"
        if self.room(text, state) > 0:
            return None
        done = state.mode == ANSWER and state.index >= self.tokens
        return "length" if done else "context"
