"""What all tests share: tiny models, one torch thread, the embedded model where it is asked for."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.models import Loaded, load
from tests.tiny import ARCHITECTURES, tiny

# Two processes with two threads each on two cores slow each other tenfold.
torch.set_num_threads(1)


@pytest.fixture(params=ARCHITECTURES)
def tiny_model(request: pytest.FixtureRequest) -> Any:
    """A random two-layer float64 model of each architecture, grouped-query; not to be changed."""
    return tiny(request.param)


@pytest.fixture(scope="session")
def real() -> Loaded:
    """The embedded model, as a page on a CPU loads it; not to be changed. For `model` tests."""
    return load("embedded", device="cpu")


@pytest.fixture(scope="session")
def base() -> Loaded:
    """The embedded model without its adapter, which does not think by itself; not to be changed."""
    return load("embedded-base", device="cpu")
