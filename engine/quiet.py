"""Keep transformers and the hub client from writing to the terminal while they load."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from typing import Any

from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars
from transformers.utils import logging as _logging

logging: Any = _logging  # its functions carry no types


@contextlib.contextmanager
def quiet(*, mute: bool = False) -> Iterator[None]:
    """No progress bars, no log lines below errors, no warnings; all as before afterwards.

    mute: keep everything from standard error, for readers whose bars have no switch.
    """
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    hub_bars_off = are_progress_bars_disabled()
    error_stream = contextlib.redirect_stderr(io.StringIO()) if mute else contextlib.nullcontext()
    with warnings.catch_warnings(), error_stream:
        warnings.simplefilter("ignore")
        logging.set_verbosity_error()
        logging.disable_progress_bar()  # the hub's bars as well
        try:
            yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()
            if hub_bars_off:
                disable_progress_bars()
