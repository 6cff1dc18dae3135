"""The loss over a part of the vocabulary: what the texts use, and random others.

A text uses a few thousand of fifty thousand tokens, and scoring all of them costs a small
model a sixth of its step. The output layer is not trained, so a token that is never a
choice keeps its weights; that the model does not drift towards such tokens is the work of
the random ones, drawn anew for every text (sampled softmax, Jean et al. 2015, section 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

OTHERS = 6000


class Choices:
    """What the model may choose from while it is trained.

    weight: of the output layer, (vocabulary, width). texts: ids of all texts; their tokens
    are always among the choices. others: random tokens beside them, drawn for each text.
    """

    def __init__(
        self, weight: Tensor, texts: Iterable[Sequence[int]], others: int = OTHERS
    ) -> None:
        self._weight = weight.detach()
        used = sorted({token for text in texts for token in text})
        self._used = torch.tensor(used, device=weight.device)
        spare = torch.ones(len(weight), dtype=torch.bool)
        spare[used] = False
        self._spare = spare.nonzero()[:, 0]
        self._others = min(others, len(self._spare))

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Sum of the cross entropies in nats. hidden: (n, width). targets: (n,) ids."""
        rows = torch.cat([self._used, self._drawn(int(targets.sum()))])
        places = torch.searchsorted(self._used, targets)
        logits = hidden @ self._weight[rows].t()
        return cross_entropy(logits.float(), places, reduction="sum")

    def _drawn(self, seed: int) -> Tensor:
        """The same tokens for the same text, so that a resumed run goes on as it would have."""
        source = torch.Generator().manual_seed(seed)
        picked = torch.randperm(len(self._spare), generator=source)[: self._others]
        return self._spare[picked].to(self._used.device)
