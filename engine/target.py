"""The target model: the only file that calls it. Owns the KV cache of one lane.

Scores any tree of query nodes in one forward: each node sees the committed text, its
ancestors and itself. Choices and best ids come back, logits stay on the device.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine import attention
from engine.cost import ForwardCost
from engine.kv import KVStore
from engine.tree import DraftTree

_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Successors:
    """The best ids after each of N positions, best first, and their shares.

    ids: N lists of k. shares: the softmax over those k alone, which costs no pass over
    the vocabulary; a measure of how sure the model was, not a probability.
    """

    ids: list[list[int]]
    shares: list[list[float]]


def best_of(logits: Tensor, k: int) -> Successors:
    """The `k` largest of each row of `logits` (N, V).

    The best k of a row lie in the k blocks with the largest maxima, so only those
    are searched: several times cheaper than a top-k over the vocabulary.
    """
    n, vocabulary = logits.shape
    blocks = vocabulary // _BLOCK
    if blocks <= k:
        values, ids = logits.topk(min(k, vocabulary), dim=1)
    else:
        ids = _best_blocks(logits[:, : blocks * _BLOCK].view(n, blocks, _BLOCK), k)
        if blocks * _BLOCK < vocabulary:
            tail = torch.arange(blocks * _BLOCK, vocabulary, device=logits.device)
            ids = torch.cat([ids, tail.expand(n, -1)], dim=1)
        values, places = logits.gather(1, ids).topk(k, dim=1)
        ids = ids.gather(1, places)
    return Successors(ids.tolist(), values.float().softmax(dim=1).tolist())


def _best_blocks(blocks: Tensor, k: int) -> Tensor:
    """Ids (N, k * block) in the `k` of `blocks` (N, blocks, block) with the largest maxima."""
    n, _, size = blocks.shape
    chosen = blocks.amax(dim=2).topk(k, dim=1).indices
    inside = torch.arange(size, device=blocks.device)
    return (chosen[:, :, None] * size + inside).view(n, k * size)


def ancestors(parents: Sequence[int]) -> NDArray[np.bool_]:
    """Which nodes each node may see among the tree's own: its ancestors and itself.

    parents: parent of each node, -1 for one without; parents precede children.
    Returns bool (N, N), [node, seen].
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
    packed = np.frombuffer(b"".join(line.to_bytes(size, "little") for line in lines), np.uint8)
    bits = np.unpackbits(packed.reshape(n, size), axis=1, count=n, bitorder="little")
    return bits.view(np.bool_)


class TreeMask:
    """Additive masks of draft trees, in one buffer that is zero for the committed text.

    Only the tree's own columns are written, so a mask costs the same after ten tokens
    and after ten thousand.
    """

    def __init__(self, repeat: int, dtype: torch.dtype, device: torch.device) -> None:
        self._repeat = repeat
        self._buffer = torch.zeros(0, 0, dtype=dtype, device=device)
        self._written: Tensor | None = None

    def of(self, parents: Sequence[int], past: int) -> Tensor:
        """Let each node see the committed text, its ancestors and itself.

        past: committed positions already in the KV cache.
        Returns (1, 1, repeat * N, past + N), once for each query head of a group: 0 may
        attend, -inf may not. Valid until the next call.
        """
        n = len(parents)
        rows = self._repeat * n
        if rows > self._buffer.shape[0] or past + n > self._buffer.shape[1]:
            size = (max(rows, self._buffer.shape[0]), max(2 * (past + n), 1024))
            self._buffer, self._written = self._buffer.new_zeros(size), None
        if self._written is not None:
            self._written.zero_()
        seen = np.where(ancestors(parents), np.float32(0), np.float32(-np.inf))
        block = torch.from_numpy(seen).to(self._buffer)
        used = self._buffer[:rows]
        self._written = used.view(self._repeat, n, -1)[:, :, past : past + n]
        self._written.copy_(block)
        return used[None, None, :, : past + n]


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

    def last(self) -> Scores:
        """Those of the last position alone, in memory of their own."""
        return Scores(self.logits[-1:].clone())

    def successors(self, k: int) -> Successors:
        """The `k` best ids after each position, and their shares."""
        return best_of(self.logits, k)


class Target:
    """One lane's view of the model: its cache, and the forwards that fill it.

    model: a causal language model of transformers in evaluation mode.
    cost: what a forward costs here; a forward is padded where that is cheaper.
    """

    def __init__(self, model: Any, cost: ForwardCost | None = None, room: int = 1024) -> None:
        config = model.config.get_text_config()
        self._model = model
        self._cost = cost
        heads = config.num_attention_heads
        repeat = heads // (getattr(config, "num_key_value_heads", None) or heads)
        self._device: torch.device = model.get_input_embeddings().weight.device
        self._dtype: torch.dtype = model.dtype
        self._repeat = repeat
        self._masks = TreeMask(repeat, self._dtype, self._device)
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

    def prefill(
        self, prompt: Sequence[int], wanted: Collection[int] = ()
    ) -> Iterator[tuple[Sequence[int], list[int], Scores]]:
        """Read `prompt` piece by piece: the piece, places in it, and the scores after those.

        wanted: positions in the prompt whose scores somebody learns from; the last
        position of a piece is scored in any case. The output layer runs on no others,
        and never more than one piece's logits are held.
        Raises ValueError for an empty prompt.
        """
        if not prompt:
            raise ValueError("a prompt has at least one token")
        for start in range(0, len(prompt), self.chunk):
            piece = prompt[start : start + self.chunk]
            last = len(piece) - 1
            places = [i for i in range(last) if start + i in wanted] + [last]
            logits = self._forward(
                piece, range(self.past, self.past + len(piece)), self._causal(len(piece)), places
            )
            self.past += len(piece)
            scores = Scores(logits)
            del logits
            yield piece, places, scores
            del scores

    def _causal(self, n: int) -> Tensor | None:
        """Mask of `n` further tokens of a plain text, once for each query head of a group."""
        if n == 1:
            return None
        like = torch.empty(0, dtype=self._dtype, device=self._device)
        return attention.causal_mask(n, self.past + n, like).repeat(1, 1, self._repeat, 1)

    @torch.inference_mode()
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
            mask = self._masks.of(parents, self.past)
        return Query(tokens, [self.past + depth for depth in depths], mask, n)

    def score(self, query: Query) -> Scores:
        """Score every node of the tree in one forward; the rows stay until `commit`."""
        logits = self._forward(query.tokens, query.positions, query.mask)
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
        self._masks = TreeMask(1, self._dtype, self._device)

    @torch.inference_mode()
    def _forward(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        mask: Tensor | None,
        places: Sequence[int] | None = None,
    ) -> Tensor:
        """Logits (N, V) of all tokens, or of those at `places`; their rows join the cache."""
        self.forwards += 1
        out = self._model(
            input_ids=torch.tensor([tokens], device=self._device),
            position_ids=torch.tensor([list(positions)], device=self._device),
            attention_mask=mask,
            use_cache=True,
            # An index on the CPU fits whichever device the output layer is on.
            logits_to_keep=0 if places is None else torch.tensor(places),
            **{self._cache_name: self._store},
        )
        logits: Tensor = out.logits[0]
        return logits
