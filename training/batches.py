"""Greedy texts of many prompts side by side, for evaluation: fast, and with no drafting."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from tqdm import tqdm

from engine import attention
from engine.kv import KVStore, cache_argument
from engine.models import Loaded


def generate(
    loaded: Loaded, prompts: Sequence[list[int]], new_tokens: int, batch: int
) -> list[list[int]]:
    """Greedy texts, in ids, without the token that ends them.

    Prompts of similar length share a batch; a text that has ended leaves it.
    """
    loaded.model.set_attn_implementation(attention.NAME)
    order = sorted(range(len(prompts)), key=lambda at: len(prompts[at]))
    found: list[list[int]] = [[] for _ in prompts]
    with tqdm(total=len(prompts), unit="text") as bar:
        for start in range(0, len(order), batch):
            chunk = order[start : start + batch]
            texts = _Batch(loaded, [prompts[at] for at in chunk], new_tokens).write(bar)
            for at, text in zip(chunk, texts, strict=True):
                found[at] = text
    return found


class _Batch:
    """Prompts padded on the left to one width, and what has been written behind them.

    hidden: (rows, 1, 1, width + new tokens), additive: −∞ at padding.
    """

    def __init__(self, loaded: Loaded, prompts: Sequence[list[int]], new_tokens: int) -> None:
        self._loaded, self._new_tokens = loaded, new_tokens
        self._width = max(map(len, prompts))
        self._padding = torch.tensor([self._width - len(prompt) for prompt in prompts])
        pad = loaded.tokenizer.eos_token_id
        self._ids = torch.tensor([[pad] * (self._width - len(p)) + p for p in prompts])
        columns = torch.arange(self._width + new_tokens)
        self._hidden = torch.zeros(len(prompts), 1, 1, len(columns), dtype=loaded.model.dtype)
        self._hidden.masked_fill_((columns < self._padding[:, None])[:, None, None], float("-inf"))
        self._cache = KVStore(loaded.model.config.num_hidden_layers, self._width + new_tokens)

    @torch.inference_mode()
    def write(self, bar: tqdm) -> list[list[int]]:
        """The texts, each up to its end or to the limit."""
        texts: list[list[int]] = [[] for _ in self._padding]
        rows = list(range(len(texts)))
        tokens = self._chosen(self._ids, self._prompt_mask())
        for length in range(self._width + 1, self._width + self._new_tokens + 1):
            alive = []
            for place, token in enumerate(tokens):
                if token not in self._loaded.eos:
                    texts[rows[place]].append(token)
                    alive.append(place)
            if len(alive) < len(rows):
                bar.update(len(rows) - len(alive))
                rows = [rows[place] for place in alive]
                tokens = [tokens[place] for place in alive]
                self._keep(alive)
            if not rows or length == self._width + self._new_tokens:
                break
            tokens = self._chosen(torch.tensor(tokens)[:, None], self._hidden[..., :length])
        bar.update(len(rows))
        return texts

    def _prompt_mask(self) -> Tensor:
        """Causal, padding unseen except by itself: what sees nothing is not a number."""
        mask = attention.causal_mask(self._width, self._width, self._hidden)
        mask = mask + self._hidden[..., : self._width]
        mask.diagonal(dim1=-2, dim2=-1).zero_()
        return mask

    def _chosen(self, ids: Tensor, mask: Tensor) -> list[int]:
        """The likeliest next token of every row, after reading `ids` (rows, n)."""
        done = self._cache.length
        places = torch.arange(done, done + ids.shape[1])[None] - self._padding[:, None]
        device = self._loaded.device
        logits = self._loaded.model(
            input_ids=ids.to(device),
            position_ids=places.clamp_min(0).to(device),
            attention_mask=mask.to(device),
            **{cache_argument(self._loaded.model): self._cache},
            logits_to_keep=1,
        ).logits
        chosen: list[int] = logits[:, -1].argmax(-1).tolist()
        return chosen

    def _keep(self, places: list[int]) -> None:
        """Go on with these rows only."""
        index = torch.tensor(places, dtype=torch.long)
        self._padding, self._hidden = self._padding[index], self._hidden[index]
        self._cache.select(index)
