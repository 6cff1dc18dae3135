"""Prompts that no training has seen: other names, numbers and seeds. No torch."""

from __future__ import annotations

from training.tasks import FAMILIES, FRESH, Example

# Where each use begins, so that none sees another's prompts.
EVALUATION, BENCHMARK, EXAMPLES = 0, 200, 1000


def fresh(count: int, first: int = EVALUATION) -> list[tuple[int, Example]]:
    """`count` examples with their seeds, the families in turn, seeds from `first` on."""
    names = list(FAMILIES)
    found = []
    for at in range(count):
        seed = first + at // len(names)
        found.append((seed, FAMILIES[names[at % len(names)]].make(seed, FRESH)))
    return found
