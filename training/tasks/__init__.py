"""Tasks that a small model can learn to think about, and a program can check.

Needs neither torch nor a model: the page checks answers with it.
"""

from __future__ import annotations

from typing import Any

from training.checks import Verdict
from training.tasks import (
    classes,
    itinerary,
    programme,
    pseudocode,
    purchases,
    table,
    tsv,
)
from training.tasks.family import Example, Family
from training.tasks.pools import FRESH, SPLITS, TRAIN

FAMILIES: dict[str, Family[Any]] = {
    family.name: family
    for family in (
        table.FAMILY,
        purchases.FAMILY,
        tsv.FAMILY,
        itinerary.FAMILY,
        programme.FAMILY,
        classes.FAMILY,
        pseudocode.FAMILY,
    )
}


def family_of(prompt: str) -> str | None:
    """The name of the family that a prompt is of, or None."""
    for name, family in FAMILIES.items():
        if family.spec(prompt) is not None:
            return name
    return None


__all__ = ["FAMILIES", "FRESH", "SPLITS", "TRAIN", "Example", "Family", "Verdict", "family_of"]
