"""How a training run is going: a bar with loss and tokens a second, and a record of it."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tqdm import tqdm
from transformers import TrainerCallback

from training.checkpoints import WHOLE

VERSIONS = ("torch", "transformers", "peft", "tokenizers", "safetensors")
_STATE = "progress.json"
_COUNTED = ("seconds", "tokens", "learned", "losses")


class Progress(TrainerCallback):  # type: ignore[misc]
    """Counts what is read, draws the bar, marks whole checkpoints, writes the record.

    record: what was done: steps, tokens read and learned, seconds at work, losses a step.
    A run that goes on from a checkpoint goes on with the counts of that checkpoint.
    """

    def __init__(self, file: Path, recipe: dict[str, Any], device: str) -> None:
        self._file = file
        self.record: dict[str, Any] = {
            "recipe": recipe,
            "device": device,
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "versions": {name: version(name) for name in VERSIONS},
            "seconds": 0.0,
            "tokens": 0,
            "learned": 0,
            "losses": [],
        }
        self._step_loss, self._step_tokens = 0.0, 0
        self._bar: tqdm[Any] | None = None
        self._start = self._before = 0.0

    def read(self, tokens: int, learned: int, loss: float) -> None:
        """One text was read. loss: the sum over its learned tokens, in nats."""
        self.record["tokens"] += tokens
        self.record["learned"] += learned
        self._step_loss += loss
        self._step_tokens += learned

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the clock and the bar, at zero or where the checkpoint ends."""
        if state.global_step:
            checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            counted = json.loads((checkpoint / _STATE).read_text(encoding="utf-8"))
            self.record.update(counted)
        self._before, self._start = self.record["seconds"], time.perf_counter()
        self._bar = tqdm(
            total=state.max_steps, initial=state.global_step, unit="step", file=sys.stderr
        )

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """One step of the optimiser is done."""
        assert self._bar is not None
        loss = self._step_loss / max(1, self._step_tokens)
        self._step_loss, self._step_tokens = 0.0, 0
        self.record["seconds"] = self._before + time.perf_counter() - self._start
        self.record["losses"].append(round(loss, 4))
        rate = self.record["tokens"] / self.record["seconds"]
        self._bar.set_postfix_str(f"loss {loss:.3f}, {rate:.0f} tokens/s")
        self._bar.update(1)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """A checkpoint was written: keep the counts in it, then call it whole."""
        checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        counted = {name: self.record[name] for name in _COUNTED}
        (checkpoint / _STATE).write_text(json.dumps(counted), encoding="utf-8")
        (checkpoint / WHOLE).touch()

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The record goes beside the adapter."""
        assert self._bar is not None
        self._bar.close()
        self.record["steps"] = state.global_step
        self._file.write_text(json.dumps(self.record, indent=1) + "\n", encoding="utf-8")
