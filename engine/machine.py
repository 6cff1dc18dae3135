"""A loaded model made ready to race: packed, checked and measured on this machine.

Measured once at load: what a forward costs by size and past, and by how much scoring
in blocks differs from scoring one at a time, which is the bound for calling a
difference between lanes a rounding tie.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine import attention
from engine.cost import ForwardCost, measure
from engine.errors import ModelError
from engine.packing import pack
from engine.target import Target
from engine.tree import LOGITS, DraftTree

log = logging.getLogger(__name__)

# Relative to the spread of the logits: how far a tree may be from independent forwards.
_ALLOWED = {torch.float64: 1e-8, torch.float32: 1e-2, torch.float16: 0.15, torch.bfloat16: 0.5}


@dataclass(slots=True)
class Machine:
    """A model on this machine, with what was measured there.

    tolerance: largest change of a gap between two likely tokens' logits, block against
    single. packed: linear layers whose weights were packed. seconds: what readying took.
    """

    model: Any
    cost: ForwardCost
    tolerance: float
    packed: int
    seconds: float

    def warm_up(self) -> None:
        """Run the forwards a race begins with once, outside every clock."""
        target, ids = Target(self.model), _sample_ids(self.model)
        for _ in target.prefill(ids, range(len(ids))):
            pass
        for tokens in (1, 16):
            tree = _chain_tree([1] * tokens)
            target.score(target.lay_out(tree))
            target.commit([0])
        target.synchronise()

    def target(self, room: int = 1024) -> Target:
        """A fresh, cold target on this model."""
        return Target(self.model, self.cost, room)


@torch.inference_mode()
def ready(model: Any, *, packing: bool = True) -> Machine:
    """Pack, check and measure `model`.

    Raises ModelError if the model's trees do not score as its independent forwards do.
    """
    began = time.perf_counter()
    ids = _sample_ids(model)
    plain = _plain_logits(model, [[*ids, 1, 2], [*ids, 1, 3]])
    try:
        model.set_attn_implementation(attention.NAME)
        packed = pack(model) if packing else 0
        _check(model, ids, plain)
    except (NotImplementedError, TypeError) as error:
        log.exception("the model cannot be scored as a tree")
        raise ModelError(
            "This model's attention cannot score draft trees; choose a Llama, Qwen or Mistral "
            "style model."
        ) from error
    tolerance = _rounding(model, ids)
    cost = _measure(model)
    return Machine(model, cost, tolerance, packed, time.perf_counter() - began)


def _sample_ids(model: Any, length: int = 24) -> list[int]:
    """A fixed spread of ids: the content does not matter, only that it is the same."""
    vocabulary = int(model.config.get_text_config().vocab_size)
    return [(7919 * i + 13) % vocabulary for i in range(length)]


def _plain_logits(model: Any, sequences: Sequence[Sequence[int]]) -> Tensor:
    """Last logits (len(sequences), V) by whole independent forwards, as transformers does it."""
    device = model.get_input_embeddings().weight.device
    rows = [
        model(input_ids=torch.tensor([list(ids)], device=device), use_cache=False).logits[0, -1]
        for ids in sequences
    ]
    return torch.stack(rows).float()


def _check(model: Any, ids: list[int], plain: Tensor) -> None:
    """Score a forked tree and hold it against independent forwards of its two paths."""
    target = Target(model)
    for _ in target.prefill(ids):
        pass
    tree = DraftTree(1)
    leaves = [tree.add(0, token, LOGITS) for token in (2, 3)]
    logits = target.score(target.lay_out(tree)).logits[leaves].float()
    far = float((logits - plain).abs().max() / plain.std())
    if not far <= _ALLOWED.get(model.dtype, 1e-2):
        log.error("a tree's logits are %.3g standard deviations from independent forwards", far)
        raise ModelError(
            "This model scores draft trees differently from plain text, so no lane could be "
            "exact; choose a Llama, Qwen or Mistral style model."
        )


def _rounding(model: Any, ids: list[int], positions: int = 16) -> float:
    """Largest change of the gap between two of the eight best logits, block against single."""
    singles, blocks = Target(model), Target(model)
    text, following = ids[:-positions], ids[-positions:]
    for target in (singles, blocks):
        for _ in target.prefill(text):
            pass
    alone = [_chain(singles, [token])[0] for token in following]
    together = [row for i in range(0, positions, 8) for row in _chain(blocks, following[i : i + 8])]
    worst = 0.0
    for a, b in zip(alone, together, strict=True):
        best = a.topk(min(8, a.shape[0])).indices
        change = a[best] - b[best]
        worst = max(worst, float(change.max() - change.min()))
    return worst


def _chain(target: Target, tokens: list[int]) -> Tensor:
    """Logits (N, V) of `tokens` scored in one forward and committed."""
    scores = target.score(target.lay_out(_chain_tree(tokens)))
    target.commit(range(len(tokens)))
    return scores.logits.double()


def _chain_tree(tokens: Sequence[int]) -> DraftTree:
    """A tree without branches."""
    tree = DraftTree(tokens[0])
    for node, token in enumerate(tokens[1:]):
        tree.add(node, token, LOGITS)
    return tree


def _measure(model: Any) -> ForwardCost:
    """Cost of a forward by size and past, on this machine."""
    target = Target(model, room=4096)
    known = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    context = {"context": known} if known else {}
    return measure(lambda tokens, past: timed_forward(target, tokens, past), **context)


def timed_forward(target: Target, tokens: int, past: int) -> float:
    """Seconds of one forward of `tokens` behind a pretended `past`."""
    target.pretend(past)
    query = target.lay_out(_chain_tree([1] * tokens))
    target.synchronise()
    began = time.perf_counter()
    target.score(query)
    target.synchronise()
    return time.perf_counter() - began
