"""The target model: the only file that calls it. Owns the KV cache of one lane.

Scores any tree of query nodes in one forward: each node sees the committed text, its
ancestors and itself. Choices and best ids come back, logits stay on the device.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine import attention
from engine.cost import ForwardCost
from engine.kv import KVStore
from engine.tree import DraftTree

_BLOCK = 64


def best_ids(logits: Tensor, k: int) -> list[list[int]]:
    """The `k` largest ids of each row of `logits` (N, V), best first.

    The best k of a row lie in the k blocks with the largest maxima, so only those
    are searched: several times cheaper than a top-k over the vocabulary.
    """
    n, vocabulary = logits.shape
    blocks = vocabulary // _BLOCK
    if blocks <= k:
        return logits.topk(min(k, vocabulary), dim=1).indices.tolist()  # type: ignore[no-any-return]
    head = logits[:, : blocks * _BLOCK].view(n, blocks, _BLOCK)
    chosen = head.amax(dim=2).topk(k, dim=1).indices
    rows = torch.arange(n, device=logits.device)[:, None]
    ids = (chosen[:, :, None] * _BLOCK + torch.arange(_BLOCK, device=logits.device)).view(n, -1)
    if blocks * _BLOCK < vocabulary:
        tail = torch.arange(blocks * _BLOCK, vocabulary, device=logits.device)
        ids = torch.cat([ids, tail.expand(n, -1)], dim=1)
    places = logits[rows, ids].topk(k, dim=1).indices
    return ids.gather(1, places).tolist()  # type: ignore[no-any-return]


def tree_attention_mask(
    parents: Sequence[int], past: int, repeat: int, dtype: torch.dtype
) -> Tensor:
    """Let each node see the committed text, its ancestors and itself.

    parents: parent of each node, root first with parent -1; parents precede children.
    past: committed positions already in the KV cache. repeat: query heads a group.
    Returns an additive mask (1, 1, repeat * N, past + N): 0 may attend, -inf may not.
    Raises ValueError if a node precedes its parent.
    Source: RACER (arXiv 2604.14885), tree attention.
    """
    n = len(parents)
    lines: list[int] = []
    for node, parent in enumerate(parents):
        if parent >= node:
            raise ValueError(f"node {node} precedes its parent {parent}")
        lines.append((lines[parent] if parent >= 0 else 0) | (1 << node))
    size = (n + 7) // 8
    packed = torch.frombuffer(
        bytearray(b"".join(line.to_bytes(size, "little") for line in lines)), dtype=torch.uint8
    )
    bits = (packed.view(n, size, 1) >> torch.arange(8, dtype=torch.uint8)) & 1
    hidden = bits.view(n, size * 8)[:, :n] == 0
    mask = torch.zeros(repeat, n, past + n, dtype=dtype)
    mask[:, :, past:].masked_fill_(hidden, -math.inf)
    return mask.view(1, 1, repeat * n, past + n)


@dataclass(frozen=True, slots=True)
class Query:
    """The rows of one forward: a token and a position each, and what they may see.

    mask: additive (1, 1, heads a group * rows, past + rows); None for a single row.
    nodes: how many of the rows, from the first on, are the tree's; the rest is padding.
    """

    tokens: list[int]
    positions: list[int]
    mask: Tensor | None
    nodes: int


@dataclass(frozen=True, slots=True)
class Scores:
    """What the model says after each scored position: logits (N, V), on the device."""

    logits: Tensor

    def row(self, node: int) -> Tensor:
        """Logits (V,) after one node."""
        return self.logits[node]

    def successors(self, k: int, nodes: int | None = None) -> list[list[int]]:
        """The `k` best ids after each of the first `nodes` positions."""
        return best_ids(self.logits[:nodes], k)


class Target:
    """One lane's view of the model: its cache, and the forwards that fill it.

    model: a causal language model of transformers in evaluation mode.
    cost: what a forward costs here; a forward is padded where that is cheaper.
    """

    def __init__(self, model: Any, cost: ForwardCost | None = None, room: int = 1024) -> None:
        config = model.config.get_text_config()
        self._model = model
        self._cost = cost
        self._repeat = config.num_attention_heads // (
            getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        )
        self._device: torch.device = model.get_input_embeddings().weight.device
        self._dtype: torch.dtype = model.dtype
        self._store = KVStore(config.num_hidden_layers, room)
        accepted = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in accepted else "past_key_values"
        self.past = 0
        self.forwards = 0

    @property
    def chunk(self) -> int:
        """Prompt tokens read in one forward: about half a second's work at the most."""
        return 128 if self._device.type == "cpu" else 1024

    def synchronise(self) -> None:
        """Wait until the device has done what was asked of it, so that a clock can be read."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def prefill(self, prompt: Sequence[int], every: bool) -> Iterator[tuple[Sequence[int], Scores]]:
        """Read `prompt` piece by piece: each piece with its scores.

        every: keep the logits of all positions of a piece (a drafter learns from them);
        otherwise only those of its last position. Never more than one piece is held.
        Raises ValueError for an empty prompt.
        """
        if not prompt:
            raise ValueError("a prompt has at least one token")
        for start in range(0, len(prompt), self.chunk):
            piece = prompt[start : start + self.chunk]
            positions = range(self.past, self.past + len(piece))
            mask = None
            if len(piece) > 1:
                mask = attention.causal_mask(
                    len(piece),
                    self.past + len(piece),
                    torch.empty(0, dtype=self._dtype, device=self._device),
                )
            logits = self._forward(piece, positions, mask, keep=0 if every else 1)
            self.past += len(piece)
            yield piece, Scores(logits)

    def lay_out(self, tree: DraftTree) -> Query:
        """The rows that score `tree`, padded to the size whose forward costs least."""
        tokens, parents, depths = tree.tokens, tree.parents, tree.depths
        n = len(tokens)
        spare = 0 if self._cost is None else self._cost.cheapest_size(n, self.past) - n
        if spare:
            # Rows that nobody sees: the root once more, beside the tree.
            tokens = tokens + tokens[:1] * spare
            parents = parents + [-1] * spare
            depths = depths + [0] * spare
        mask = None
        if n + spare > 1:
            mask = tree_attention_mask(parents, self.past, self._repeat, self._dtype)
        return Query(tokens, [self.past + depth for depth in depths], mask, n)

    def score(self, query: Query) -> Scores:
        """Score every node of the tree in one forward; the rows stay until `commit`."""
        mask = None if query.mask is None else query.mask.to(self._device, non_blocking=True)
        logits = self._forward(query.tokens, query.positions, mask, keep=0)
        return Scores(logits[: query.nodes])

    def learn_cost(self, query: Query, past: int, seconds: float) -> None:
        """Tell the machine's cost table what a forward really took."""
        if self._cost is not None:
            self._cost.observe(len(query.tokens), past, seconds)

    @torch.inference_mode()
    def commit(self, path: Sequence[int]) -> None:
        """Keep the rows of the nodes on `path` (root first), drop the other scored ones."""
        self._store.keep(self.past, path)
        self.past += len(path)

    @torch.inference_mode()
    def pretend(self, past: int) -> None:
        """Stand behind `past` rows of nothing, to time a forward there."""
        self._store.pretend(past)
        self.past = past

    def close(self) -> None:
        """Let the cache go; the target cannot be used afterwards."""
        self._store = KVStore(0, 1)

    @torch.inference_mode()
    def _forward(
        self, tokens: Sequence[int], positions: Sequence[int], mask: Tensor | None, keep: int
    ) -> Tensor:
        """Logits (N, V) of all positions (keep 0) or the last `keep`, rows added to the cache."""
        self.forwards += 1
        out = self._model(
            input_ids=torch.tensor([tokens], device=self._device),
            position_ids=torch.tensor([list(positions)], device=self._device),
            attention_mask=mask,
            use_cache=True,
            logits_to_keep=keep,
            **{self._cache_name: self._store},
        )
        logits: Tensor = out.logits[0]
        return logits
