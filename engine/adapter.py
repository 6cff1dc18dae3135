"""A LoRA adapter added to the weights it was trained beside. Needs safetensors, not peft.

Merging is exact up to one rounding: W + (alpha / r) B A, computed in float32 (LoRA,
arXiv 2106.09685, section 4.1). Afterwards the model is as fast as without an adapter and
can be packed.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from engine.errors import ModelError

WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"
TEMPLATE = "chat_template.jinja"
_PREFIX, _A, _B = "base_model.model.", ".lora_A.weight", ".lora_B.weight"
# Settings that change the formula; an adapter that has one of them set is refused.
_OTHER_FORMULAS = ("use_dora", "use_rslora", "rank_pattern", "alpha_pattern", "modules_to_save")


def merge(model: torch.nn.Module, folder: Path) -> int:
    """Add the adapter in `folder` to a model's weights in place; returns the layers changed.

    The model must be in float32 or float64, so that nothing is rounded twice.
    Raises ModelError if the adapter is damaged or does not belong to such a model.
    """
    config, weights = _read(folder)
    if any(config.get(name) for name in _OTHER_FORMULAS) or config.get("bias", "none") != "none":
        raise ModelError(
            f"The adapter in {folder.name} is of a kind that cannot be merged here; use plain LoRA."
        )
    scale = config["lora_alpha"] / config["r"]
    downs = [name for name in weights if name.endswith(_A)]
    if not downs or 2 * len(downs) != len(weights):
        raise _damaged(folder)
    # Looked at first as a whole: a model with half an adapter in it is of no use.
    pairs = [_pair(model, weights, name, folder) for name in downs]
    with torch.no_grad():
        for weight, down, up in pairs:
            weight += (scale * (up @ down)).to(weight)
    return len(pairs)


def template(folder: Path) -> str | None:
    """The chat template that an adapter was trained with, if it brings its own."""
    file = folder / TEMPLATE
    return file.read_text(encoding="utf-8") if file.is_file() else None


def fingerprint(folder: Path) -> str:
    """Eight characters that change with the adapter's weights. Raises ModelError without any."""
    try:
        return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()[:8]
    except OSError as error:
        raise _damaged(folder) from error


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        weights = load_file(folder / WEIGHTS)
        config["lora_alpha"], config["r"] = float(config["lora_alpha"]), int(config["r"])
    except (OSError, ValueError, TypeError, KeyError, SafetensorError) as error:
        raise _damaged(folder) from error
    if config["r"] < 1:
        raise _damaged(folder)
    return config, {name: weight.float() for name, weight in weights.items()}


def _pair(
    model: torch.nn.Module, weights: dict[str, torch.Tensor], name: str, folder: Path
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The weight that a pair of matrices changes, (out, in), with A, (r, in), and B, (out, r)."""
    layer = name.removeprefix(_PREFIX).removesuffix(_A)
    down, up = weights[name], weights.get(name.removesuffix(_A) + _B)
    try:
        weight = model.get_submodule(layer).weight
    except AttributeError as error:
        raise _another(folder) from error
    if not isinstance(weight, torch.Tensor) or up is None:
        raise _damaged(folder)
    if weight.shape != (up.shape[0], down.shape[1]) or up.shape[1] != down.shape[0]:
        raise _another(folder)
    return weight, down, up


def _another(folder: Path) -> ModelError:
    return ModelError(f"The adapter in {folder.name} belongs to another model; name that one.")


def _damaged(folder: Path) -> ModelError:
    return ModelError(
        f"The adapter in {folder.name} is damaged or not there; fetch the program again."
    )
