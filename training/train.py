"""Teach the embedded model to think: `python -m training.train`.

LoRA (arXiv 2106.09685) on the linear layers above the lowest few, by peft and transformers'
Trainer; the loss is taken over what the model writes itself, thinking and answer, never over
the prompt.
A run that was interrupted goes on from its last whole checkpoint when it is started again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from peft import (
    LoraConfig,
    get_peft_model,
    get_peft_model_state_dict,
    set_peft_model_state_dict,
)
from safetensors.torch import load_file, save_file
from transformers import Trainer, TrainingArguments, set_seed
from transformers.trainer_callback import PrinterCallback

from engine.adapter import TEMPLATE, WEIGHTS, fingerprint
from engine.embedded import ADAPTER
from engine.errors import UserError
from engine.models import load
from training.checkpoints import claim, decided, newest
from training.choices import Choices
from training.frozen import freeze
from training.numbers import half_is_faster, keep_memory
from training.progress import Progress
from training.samples import MASKED, Sample, mixture, sample, with_template

RECORD = "training.json"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a run is made of; the same recipe on the same versions trains the same adapter.

    start: folder of an adapter to go on from; empty for a new one. examples: texts read,
    each once. batch: texts a step. rank: of the adapter. below: layers left as they are,
    counted from the input; what is not trained there needs no gradient, so the time goes
    into more examples. rate: the highest learning rate; it rises for `warmup` steps and
    falls in a straight line to zero. seed: of everything; texts differ with it.
    """

    base: str = "embedded-base"
    start: str = ""
    examples: int = 1080
    batch: int = 3
    rank: int = 20
    below: int = 8
    rate: float = 1.3e-3
    warmup: int = 15
    seed: int = 0

    @property
    def steps(self) -> int:
        """Steps of the optimiser."""
        return -(-self.examples // self.batch)


def train(recipe: Recipe, folder: Path, *, device: str = "auto", save_every: int = 50) -> Path:
    """Train an adapter and return its folder, `folder`/adapter; says how it goes on stderr.

    Raises UserError if the folder holds a run of another recipe, or the adapter to go on from
    is not whole.
    """
    set_seed(recipe.seed)
    before = fingerprint(Path(recipe.start)) if recipe.start else ""
    loaded = load(recipe.base, device=device, dtype="float32")
    tokenizer = with_template(loaded.tokenizer)
    samples = [
        sample(tokenizer, example, thinks=thinks)
        for example, thinks in mixture(recipe.examples, recipe.seed)
    ]
    claim(folder, asdict(recipe) | {"weights before": before, "texts": _digest(samples)})
    half = decided(folder, "bfloat16", lambda: half_is_faster(torch.device(loaded.device)))
    model = get_peft_model(
        loaded.model,
        LoraConfig(
            task_type="CAUSAL_LM",
            r=recipe.rank,
            lora_alpha=2 * recipe.rank,
            target_modules=rf".*\.layers\.({_numbers(loaded.model, recipe.below)})\..*_proj",
        ),
    )
    if recipe.start:
        _go_on(model, Path(recipe.start))
    if loaded.device == "cpu":
        inner: Any = model.get_base_model()
        # The output layer is read by `Choices` alone.
        freeze(inner.model, torch.bfloat16 if half else torch.float32)
        keep_memory()
    arguments = _arguments(recipe, folder, loaded.device, save_every, half=half)
    progress = Progress(folder / RECORD, asdict(recipe), loaded.device_name)
    progress.record["bfloat16"] = half
    if recipe.start:
        progress.record["before"] = _before(Path(recipe.start))
    trainer = _Trainer(
        model=model,
        args=arguments,
        train_dataset=[_row(each) for each in samples],
        data_collator=lambda rows: {name: torch.tensor([rows[0][name]]) for name in rows[0]},
        callbacks=[progress],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.progress = progress
    trainer.choices = Choices(
        loaded.model.get_output_embeddings().weight, (each.ids for each in samples)
    )
    trainer.train(resume_from_checkpoint=newest(folder))
    return _export(model, folder / "adapter", loaded.name)


def _go_on(model: Any, folder: Path) -> None:
    """Put the weights of an adapter of the same shape into the new one.

    Raises UserError if it has another shape.
    """
    weights = {name: value.float() for name, value in load_file(folder / WEIGHTS).items()}
    known = get_peft_model_state_dict(model)
    if {n: w.shape for n, w in known.items()} != {n: w.shape for n, w in weights.items()}:
        raise UserError(f"The adapter in {folder} has another shape; choose its rank and layers.")
    set_peft_model_state_dict(model, weights)


def _digest(samples: Iterable[Sample]) -> str:
    """Changes with any token of the texts: generators may change between two sessions."""
    found = hashlib.sha256()
    for each in samples:
        found.update(repr((each.asked, each.ids)).encode())
    return found.hexdigest()[:16]


def _before(adapter: Path) -> dict[str, Any]:
    """The record of the run that made an adapter: it lies beside it, or beside its folder.

    Raises UserError if there is none: the model card tells of every run.
    """
    for place in (adapter, adapter.parent):
        if (place / RECORD).is_file():
            record: dict[str, Any] = json.loads((place / RECORD).read_text(encoding="utf-8"))
            return record
    raise UserError(f"There is no {RECORD} beside {adapter}; name an adapter that has its record.")


def _numbers(model: Any, below: int) -> str:
    """The layers to train, as alternatives of a pattern."""
    return "|".join(str(layer) for layer in range(below, model.config.num_hidden_layers))


class _Trainer(Trainer):  # type: ignore[misc]
    """Scores few tokens at few places: the whole vocabulary everywhere is a third of a step."""

    progress: Progress
    choices: Choices

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Mean loss of the step's own tokens, this text's share of it."""
        ids, labels = inputs["input_ids"], inputs["labels"]
        at = (labels[0] != MASKED).nonzero()[:, 0]
        inner = self.accelerator.unwrap_model(model).get_base_model().model
        hidden = inner(input_ids=ids, use_cache=False).last_hidden_state[0, at - 1]
        total = self.choices.loss(hidden, labels[0, at])
        self.progress.read(ids.numel(), len(at), float(total.detach()))
        loss = total / num_items_in_batch
        return (loss, {"hidden": hidden}) if return_outputs else loss


def _row(text: Sample) -> dict[str, list[int]]:
    return {"input_ids": text.ids, "labels": text.labels}


def _arguments(
    recipe: Recipe, folder: Path, device: str, save_every: int, *, half: bool
) -> TrainingArguments:
    return TrainingArguments(
        output_dir=str(folder / "checkpoints"),
        max_steps=recipe.steps,
        per_device_train_batch_size=1,  # texts of their own length: nothing is padded
        gradient_accumulation_steps=recipe.batch,
        learning_rate=recipe.rate,
        warmup_steps=recipe.warmup,
        lr_scheduler_type="linear",
        weight_decay=0.0,
        bf16=half,
        use_cpu=device == "cpu",
        logging_steps=10,
        save_steps=save_every,
        save_total_limit=2,
        seed=recipe.seed,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        remove_unused_columns=False,
    )


def _export(model: Any, folder: Path, base: str) -> Path:
    """The adapter in 16 bits, with its settings and its chat template."""
    folder.mkdir(exist_ok=True)
    config = model.peft_config["default"]
    config.inference_mode, config.base_model_name_or_path = True, base
    config.save_pretrained(folder)
    weights = {name: value.half() for name, value in get_peft_model_state_dict(model).items()}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    shutil.copyfile(ADAPTER / TEMPLATE, folder / TEMPLATE)
    return folder


def main(argv: list[str] | None = None) -> None:
    """Train; then `python -m training.evaluate` says what has become of it."""
    parser = argparse.ArgumentParser(prog="python -m training.train", description=__doc__)
    for name, default in asdict(Recipe()).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--save-every", type=int, default=50, help="steps between checkpoints")
    parser.add_argument("--out", type=Path, default=Path("build/reasoner"))
    args = parser.parse_args(argv)
    recipe = Recipe(**{name: getattr(args, name) for name in asdict(Recipe())})
    try:
        made = train(recipe, args.out, device=args.device, save_every=args.save_every)
    except UserError as error:
        sys.exit(str(error))
    print(f"The adapter is in {made}.")


if __name__ == "__main__":
    main()
