"""The figures of an evaluation as rows, for the screen and for the model card."""

from __future__ import annotations

from collections.abc import Mapping

HEAD = ("family", "prompts", "closed", "parsed", "right", "ran", "loops", "thinking", "answer")


def rows(summary: Mapping[str, Mapping[str, float]]) -> list[tuple[str, ...]]:
    """A row a family and one of all, under `HEAD`. summary: as `evaluate.summary` makes it."""
    return [
        (
            name,
            f"{shares['prompts']:.0f}",
            *(f"{shares[key]:.0%}" for key in ("closed", "parsed", "right")),
            f"{shares['ran']:.0%}" if "ran" in shares else "–",
            f"{shares['loops']:.1%}",
            *(f"{shares[key]:.0f}" for key in ("thinking", "answer")),
        )
        for name, shares in summary.items()
    ]
