"""The KV cache of one lane: rows written in place, scattered rows kept, never concatenated."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin


def cache_argument(model: Any) -> str:
    """What the model's forward calls its cache; the name changed with transformers 5.2x."""
    accepted = inspect.signature(model.forward).parameters
    return "cache" if "cache" in accepted else "past_key_values"


class _Layer(CacheLayerMixin):  # type: ignore[misc]
    """One layer's keys and values in a buffer with room to spare.

    keys, values: (texts, kv heads, room, head size); rows up to `length` are written.
    """

    is_sliding = False
    is_croppable = True

    def __init__(self, store: KVStore) -> None:
        super().__init__()
        self._store = store
        self.length = 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.keys = self._store.buffer(key_states)
        self.values = self._store.buffer(value_states)
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self.length + key_states.shape[-2]
        if end > self.keys.shape[-2]:
            self.keys = self._store.grown(self.keys, self.length, end)
            self.values = self._store.grown(self.values, self.length, end)
        self.keys[:, :, self.length : end] = key_states
        self.values[:, :, self.length : end] = value_states
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def keep(self, past: int, rows: Tensor) -> None:
        """Keep of the rows from `past` on only `rows` (counted from there), in that order."""
        self.copy(past, rows, past)
        self.length = past + rows.shape[0]

    def copy(self, start: int, rows: Tensor, to: int) -> None:
        """Copy `rows` (counted from `start`) to the rows from `to` on."""
        for buffer in (self.keys, self.values):
            # index_select makes a copy, so the two stretches may overlap.
            buffer[:, :, to : to + rows.shape[0]] = buffer[:, :, start:].index_select(2, rows)

    def reserve(self, rows: int) -> None:
        """Count `rows` more rows as written, zeroed: nobody may see them yet."""
        end = self.length + rows
        if end > self.keys.shape[-2]:
            self.keys = self._store.grown(self.keys, self.length, end)
            self.values = self._store.grown(self.values, self.length, end)
        # What stands there is masked, but masked times not-a-number is not nothing.
        self.keys[:, :, self.length : end] = 0
        self.values[:, :, self.length : end] = 0
        self.length = end

    def close_gap(self, start: int, end: int) -> None:
        """Take the rows from `start` to `end` out: those behind move up."""
        behind = self.length - end
        for buffer in (self.keys, self.values):
            buffer[:, :, start : start + behind] = buffer[:, :, end : self.length].clone()
        self.length = start + behind

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.length + int(query_length), 0

    def get_seq_length(self) -> int:
        return self.length

    def get_max_length(self) -> int:
        return -1

    get_max_cache_shape = get_max_length  # its name before transformers 5.2x


class KVStore(Cache):  # type: ignore[misc]
    """Keys and values of the committed text, and of the nodes scored last.

    A lane writes one text; evaluation writes several of one length side by side.

    layers: number of attention layers. room: rows to allocate at first; more are had
    by doubling. `length` counts written rows.
    """

    def __init__(self, layers: int, room: int) -> None:
        self._room = max(1, room)
        super().__init__(layers=[_Layer(self) for _ in range(layers)])

    @property
    def length(self) -> int:
        """Rows written so far, the newest scored nodes included."""
        return int(self.layers[0].length)

    def buffer(self, states: Tensor) -> Tensor:
        """An empty buffer for rows like `states` (texts, kv heads, n, head size)."""
        room = max(self._room, states.shape[-2])
        return states.new_zeros(*states.shape[:2], room, states.shape[-1])

    def grown(self, buffer: Tensor, written: int, needed: int) -> Tensor:
        """A larger buffer with the first `written` rows of `buffer`."""
        self._room = max(self._room, needed, 2 * buffer.shape[-2])
        larger = self.buffer(buffer[:, :, :1])
        larger[:, :, :written] = buffer[:, :, :written]
        return larger

    def keep(self, past: int, rows: Sequence[int]) -> None:
        """Keep the first `past` rows and of the later ones `rows` (counted from `past`).

        Raises IndexError for a row that was not written.
        """
        written = self.length - past
        if any(not 0 <= row < written for row in rows):
            raise IndexError(f"rows {list(rows)} of {written} scored")
        if list(rows) == list(range(len(rows))):
            for layer in self.layers:
                layer.length = past + len(rows)
            return
        index = torch.tensor(rows, dtype=torch.long)
        for layer in self.layers:
            index = index.to(layer.keys.device)  # copied once a device, not once a layer
            layer.keep(past, index)

    def copy(self, start: int, rows: Sequence[int], to: int) -> None:
        """Copy `rows` (counted from `start`) over the rows from `to` on."""
        index = torch.tensor(rows, dtype=torch.long)
        for layer in self.layers:
            index = index.to(layer.keys.device)
            layer.copy(start, index, to)

    def reserve(self, rows: int) -> None:
        """Leave room for `rows` rows behind what is written; nobody may see them yet."""
        for layer in self.layers:
            layer.reserve(rows)

    def select(self, texts: Tensor) -> None:
        """Keep only these of the texts written side by side. texts: their indices."""
        for layer in self.layers:
            index = texts.to(layer.keys.device)
            layer.keys, layer.values = layer.keys[index], layer.values[index]

    def close_gap(self, start: int, end: int) -> None:
        """Take the rows from `start` to `end` out, as if they had never been written."""
        for layer in self.layers:
            layer.close_gap(start, end)

    def pretend(self, length: int) -> None:
        """Count `length` rows as written, zeroed: what they hold does not change the time."""
        for layer in self.layers:
            if layer.is_initialized:
                for buffer in (layer.keys, layer.values):
                    buffer[:, :, layer.length : length] = 0
            layer.length = length
