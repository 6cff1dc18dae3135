"""Adapters: merged as peft merges them, refused whole where they do not belong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file

from engine.adapter import CONFIG, TEMPLATE, WEIGHTS, fingerprint, merge, template
from engine.embedded import ADAPTER
from engine.errors import ModelError
from tests.tiny import fresh

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


def adapter(folder: Path, architecture: str = "llama", **settings: Any) -> Path:
    """An adapter on every linear layer, both of its matrices random, as peft saves it."""
    model = fresh(architecture, dtype=torch.float32)
    config = LoraConfig(
        task_type="CAUSAL_LM", r=3, lora_alpha=5, target_modules="all-linear", **settings
    )
    adapted = get_peft_model(model, config)
    source = torch.Generator().manual_seed(1)
    for name, weight in adapted.named_parameters():
        if "lora_" in name:
            weight.data = torch.randn(weight.shape, generator=source) / 4
    adapted.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_merging_gives_the_weights_that_peft_gives(
    tmp_path: Path, architecture: str, dtype: torch.dtype
) -> None:
    adapter(tmp_path, architecture)
    mine = fresh(architecture, dtype=dtype)
    assert merge(mine, tmp_path) == 14  # seven layers in each of two blocks
    theirs = PeftModel.from_pretrained(fresh(architecture, dtype=dtype), tmp_path)
    expected = theirs.merge_and_unload().state_dict()
    plain = fresh(architecture, dtype=dtype).state_dict()
    for name, weight in mine.state_dict().items():
        torch.testing.assert_close(weight, expected[name], rtol=0, atol=1e-6)
        assert torch.equal(weight, plain[name]) != ("_proj.weight" in name), name


def test_half_precision_matrices_are_merged_in_full_precision(tmp_path: Path) -> None:
    adapter(tmp_path)
    weights = load_file(tmp_path / WEIGHTS)
    save_file({name: weight.half() for name, weight in weights.items()}, tmp_path / WEIGHTS)
    mine = fresh("llama", dtype=torch.float32)
    merge(mine, tmp_path)
    halved = {name: weight.half().float() for name, weight in weights.items()}
    at = "model.layers.1.mlp.up_proj"
    own = fresh("llama", dtype=torch.float32).get_submodule(at).weight
    down, up = (halved[f"base_model.model.{at}.lora_{part}.weight"] for part in "AB")
    torch.testing.assert_close(mine.get_submodule(at).weight, own + 5 / 3 * up @ down)


def without(name: str) -> Any:
    def change(folder: Path) -> None:
        weights = load_file(folder / WEIGHTS)
        weights.pop(next(key for key in sorted(weights) if name in key))
        save_file(weights, folder / WEIGHTS)

    return change


def configured(**values: Any) -> Any:
    def change(folder: Path) -> None:
        config = json.loads((folder / CONFIG).read_text())
        (folder / CONFIG).write_text(json.dumps({**config, **values}))

    return change


def cut(folder: Path) -> None:
    data = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("lora_A"), "damaged"),
        (without("lora_B"), "damaged"),
        (cut, "damaged"),
        (lambda folder: (folder / WEIGHTS).unlink(), "damaged"),
        (lambda folder: (folder / CONFIG).write_text("{"), "damaged"),
        (configured(r="many"), "damaged"),
        (configured(r=0), "damaged"),
        (configured(use_dora=True), "cannot be merged"),
        (configured(use_rslora=True), "cannot be merged"),
        (configured(bias="all"), "cannot be merged"),
    ],
)
def test_a_bad_adapter_is_refused_and_the_model_left_as_it_was(
    tmp_path: Path, change: Any, said: str
) -> None:
    adapter(tmp_path)
    change(tmp_path)
    model = fresh("llama", dtype=torch.float32)
    with pytest.raises(ModelError, match=said):
        merge(model, tmp_path)
    for name, weight in fresh("llama", dtype=torch.float32).state_dict().items():
        assert torch.equal(model.state_dict()[name], weight)


def test_an_adapter_of_another_model_is_refused(tmp_path: Path) -> None:
    adapter(tmp_path)
    with pytest.raises(ModelError, match="another model"):
        merge(fresh("llama", dtype=torch.float32, kv_heads=1), tmp_path)
    with pytest.raises(ModelError, match="another model"):
        merge(torch.nn.Linear(4, 4), tmp_path)


def test_a_fingerprint_is_of_the_weights(tmp_path: Path) -> None:
    first = fingerprint(adapter(tmp_path))
    assert len(first) == 8
    without("lora_A")(tmp_path)
    assert fingerprint(tmp_path) != first
    with pytest.raises(ModelError, match="damaged"):
        fingerprint(tmp_path / "nowhere")


def test_a_template_is_the_adapters_own_or_none(tmp_path: Path) -> None:
    assert template(tmp_path) is None
    (tmp_path / TEMPLATE).write_text("{{ 'ä' }}", encoding="utf-8")
    assert template(tmp_path) == "{{ 'ä' }}"


def test_the_adapter_that_ships_is_small_and_changes_every_layer_it_names() -> None:
    weights = load_file(ADAPTER / WEIGHTS)
    size = sum(file.stat().st_size for file in ADAPTER.iterdir())
    assert size <= 10_000_000
    assert all(weight.isfinite().all() for weight in weights.values())
    assert all(weight.abs().max() > 0 for weight in weights.values())
    assert {weight.dtype for weight in weights.values()} == {torch.float16}
