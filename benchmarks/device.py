"""The device a model is on, and seconds there: work may go on after the call that asked for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import torch

Found = TypeVar("Found")


def device_of(model: Any) -> torch.device:
    """Where the model's inputs have to be."""
    device: torch.device = model.get_input_embeddings().weight.device
    return device


def timed(work: Callable[[], Found], device: torch.device) -> tuple[Found, float]:
    """What `work` returns and its seconds; `device` is waited for before the clock is read."""
    _synchronise(device)
    began = time.perf_counter()
    found = work()
    _synchronise(device)
    return found, time.perf_counter() - began


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
