"""The target model: the only file that calls it. Owns the KV cache of one lane.

Scores any trees of query nodes in one forward: each node sees the committed text, its
ancestors and itself. A draft branch beside the text is a second such tree: it sees the
text as far as the point where it forked, and its own rows, which nobody else sees.
Choices and best ids come back, logits stay on the device.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine import attention
from engine.cost import ForwardCost
from engine.kv import KVStore, cache_argument
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

    Only the tree's own columns are written, and while a branch is open those since it was
    forked, so a mask costs the same after ten tokens and after ten thousand.
    """

    def __init__(self, repeat: int, dtype: torch.dtype, device: torch.device) -> None:
        self._repeat = repeat
        self._buffer = torch.zeros(0, 0, dtype=dtype, device=device)
        self._written: Tensor | None = None

    def of(
        self,
        parents: Sequence[int],
        past: int,
        start: int | None = None,
        hidden: Sequence[tuple[slice, slice]] = (),
    ) -> Tensor:
        """Let each node see the committed text, its ancestors and itself.

        past: rows already in the KV cache. start: the first of them that not every node
        may see (None: all see all). hidden: (nodes, rows) of those that are not seen.
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
        if start is not None and start < past:
            earlier = np.zeros((n, past - start), np.float32)
            for nodes, columns in hidden:
                earlier[nodes, columns.start - start : columns.stop - start] = -np.inf
            seen = np.concatenate((earlier, seen), axis=1)
        else:
            start = past
        block = torch.from_numpy(seen).to(self._buffer)
        used = self._buffer[:rows]
        self._written = used.view(self._repeat, n, -1)[:, :, start : past + n]
        self._written.copy_(block)
        return used[None, None, :, : past + n]


@dataclass(frozen=True, slots=True)
class Strand:
    """The rows of one text in a query: `lead` tokens before the tree's root, then the tree.

    first: its first row. tree: number of nodes. A lead token is committed text whose row
    is not in the cache yet.
    """

    first: int
    lead: int
    tree: int

    @property
    def nodes(self) -> slice:
        """Rows of the tree."""
        return slice(self.first + self.lead, self.first + self.lead + self.tree)

    @property
    def rows(self) -> slice:
        """All rows."""
        return slice(self.first, self.first + self.lead + self.tree)

    def kept(self, path: Sequence[int]) -> list[int]:
        """Rows of the lead and of the nodes on `path`."""
        root = self.first + self.lead
        return [*range(self.first, root), *(root + node for node in path)]


@dataclass(frozen=True, slots=True)
class Query:
    """The rows of one forward: a token and a position each, and what they may see.

    mask: additive (1, 1, heads a group * rows, past + rows); None for a single row.
    main, branch: which rows are whose; the rest is padding.
    """

    tokens: list[int]
    positions: list[int]
    mask: Tensor | None
    main: Strand
    branch: Strand | None = None


@dataclass(slots=True)
class _Branch:
    """Rows `start` to `end` of the cache are kept for a branch; the first `used` are written.

    They stand behind the text it forked from and before the text that went on, so that
    the text's own rows stay where they are while both grow.
    """

    start: int
    end: int
    used: int = 0


@dataclass(frozen=True, slots=True)
class Scores:
    """What the model says after each scored position: logits (N, V), on the device."""

    logits: Tensor

    def row(self, node: int) -> Tensor:
        """Logits (V,) after one node."""
        return self.logits[node]

    def of(self, strand: Strand) -> Scores:
        """Those of one tree of the query."""
        return Scores(self.logits[strand.nodes])

    def last(self) -> Scores:
        """Those of the last position alone, in memory of their own."""
        return Scores(self.logits[-1:].clone())

    def successors(self, k: int) -> Successors:
        """The `k` best ids after each position, and their shares."""
        return best_of(self.logits, k)


class _Rows:
    """The rows of a query as they are put together."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.positions: list[int] = []

    def add(self, tree: DraftTree, lead: Sequence[int], at: int) -> Strand:
        """A chain of `lead`, then `tree`; the first of them at position `at`."""
        first = len(self.tokens)
        root = first + len(lead)
        self.tokens += [*lead, *tree.tokens]
        self.parents += [-1, *range(first, root)][: len(lead) + 1]
        self.parents += [root + parent for parent in tree.parents[1:]]
        self.positions += [at + i for i in range(len(lead))]
        self.positions += [at + len(lead) + depth for depth in tree.depths]
        return Strand(first, len(lead), len(tree))

    def pad(self, spare: int) -> None:
        """Rows that nobody sees: the first once more, beside the trees."""
        self.tokens += self.tokens[:1] * spare
        self.parents += [-1] * spare
        self.positions += self.positions[:1] * spare


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
        self._cache_name = cache_argument(model)
        self._branch: _Branch | None = None
        self._query: Query | None = None
        self.past = 0
        self.forwards = 0

    @property
    def chunk(self) -> int:
        """Prompt tokens read in one forward: half a second for the models a device is meant for."""
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
    def lay_out(
        self,
        tree: DraftTree,
        lead: Sequence[int] = (),
        branch: DraftTree | None = None,
        branch_lead: Sequence[int] = (),
    ) -> Query:
        """The rows that score `tree`, padded to the size whose forward costs least.

        lead: committed tokens without a row yet, which come before the tree's root.
        branch, branch_lead: the same for the open branch.
        Raises ValueError for a branch where none is open.
        """
        rows = _Rows()
        main = rows.add(tree, lead, self.past)
        beside = None
        if branch is not None:
            if self._branch is None:
                raise ValueError("no branch is open")
            beside = rows.add(branch, branch_lead, self._branch.start + self._branch.used)
        n = len(rows.tokens)
        size = n if self._cost is None else self._cost.cheapest_size(n, self.past)
        rows.pad(size - n)
        return Query(rows.tokens, rows.positions, self._mask(rows.parents, beside), main, beside)

    def _mask(self, parents: list[int], beside: Strand | None) -> Tensor | None:
        """What the rows may see; a plain row sees everything."""
        own = self._branch
        if own is None:
            return None if len(parents) == 1 else self._masks.of(parents, self.past)
        kept = slice(own.start, own.end)
        hidden = [(slice(0, len(parents)), kept)]
        if beside is not None:
            before, after = slice(0, beside.first), slice(beside.rows.stop, len(parents))
            hidden = [(before, kept), (after, kept)]
            hidden.append((beside.rows, slice(own.start + own.used, self._end)))
        return self._masks.of(parents, self._end, own.start, hidden)

    @property
    def _end(self) -> int:
        """Rows in the cache, those kept for a branch included."""
        return self.past + (0 if self._branch is None else self._branch.end - self._branch.start)

    def score(self, query: Query) -> Scores:
        """Score every row in one forward; the rows stay until `commit`."""
        logits = self._forward(query.tokens, query.positions, query.mask)
        self._query = query
        return Scores(logits)

    @torch.inference_mode()
    def open_branch(self, rows: int) -> None:
        """Fork a branch of at most `rows` rows from the text committed so far.

        Raises ValueError if one is open already, or before the prompt was read.
        """
        if self._branch is not None or not self.past:
            raise ValueError("a branch forks from a text, and one at a time")
        self._store.reserve(rows)
        self._branch = _Branch(self.past, self.past + rows)

    @torch.inference_mode()
    def drop_branch(self) -> None:
        """Take the branch out of the cache; the text's rows are as if it had never been."""
        if self._branch is not None:
            self._store.close_gap(self._branch.start, self._branch.end)
            self._branch = None

    def learn_cost(self, query: Query, past: int, seconds: float) -> None:
        """Tell the machine's cost table what a forward really took."""
        if self._cost is not None:
            self._cost.observe(len(query.tokens), past, seconds)

    @torch.inference_mode()
    def commit(self, path: Sequence[int], branch_path: Sequence[int] = ()) -> None:
        """Keep the rows of the nodes on `path` (root first), drop the other scored ones.

        branch_path: the same in the branch. Lead rows are kept.
        Raises IndexError if the branch outgrows the rows it was opened with.
        """
        assert self._query is not None  # what is kept was scored
        end, own, beside = self._end, self._branch, self._query.branch
        if own is not None and beside is not None:
            kept = beside.kept(branch_path)
            at = own.start + own.used
            if at + len(kept) > own.end:
                raise IndexError(f"{own.used} + {len(kept)} rows in a branch of {own.end - at}")
            self._store.copy(end, kept, at)
            own.used += len(kept)
        rows = self._query.main.kept(path)
        self._store.keep(end, rows)
        self.past += len(rows)
        self._query = None

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
