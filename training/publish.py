"""Put a trained and evaluated adapter in its place: `python -m training.publish`.

Beside the weights go the record of the training, the figures of the evaluation, and a
model card made from both, so that no figure on the card is typed by hand.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.repeats import PERIOD, WINDOW
from engine.adapter import CONFIG, TEMPLATE, WEIGHTS, fingerprint
from engine.embedded import ADAPTER, NAME, REVISION
from engine.errors import UserError
from training.figures import HEAD, rows
from training.samples import DRILLS, GENERAL
from training.tasks import FAMILIES

LARGEST = 10_000_000  # bytes; above it a Space wants large-file storage

CARD = """\
---
base_model: HuggingFaceTB/{name}
library_name: peft
license: apache-2.0
language: en
tags: [lora, reasoning]
---

# A small reasoner

A LoRA adapter for {name} (135 million parameters). It makes the model think before it
answers: what has to be found and added up is jotted down between `<think>` and `</think>`,
then comes the answer. It is made to show speculative decoding on a laptop, and is not meant
for anything else.

## Base

{name} as it comes in {revision}; dequantised to float32. The adapter was trained beside
those very weights. `chat_template.jinja` opens the thinking; with `enable_thinking=False`
it opens the answer.

## Data

{families} families of tasks whose answers a program can check; drills of sums, copying and
looking up ({drills:.0%} of the last run's texts); and general questions in two phases
({general:.0%}); all made by the generators in `training/` from seeds: no text is anybody's.
Thinking and answer follow from the prompt alone. No name in a prompt that it was evaluated on
occurs in a training text of the same family, and no list of numbers was drawn for both.

## Training

LoRA of rank {rank} on the linear layers from layer {below} on, AdamW. Machine: {device}.
The learning rate falls to zero at the last step of a run; one that was stopped before ends
above it. A later run goes on from the adapter of the one before, with other texts. Learned:
tokens of thinking and answer; prompts are only read. Loss: over the first and over the last
twentieth.

{runs}
Versions and the loss of every step are in `training.json`.

## Figures

Greedy, {prompts} fresh prompts, {evaluated:.0f} minutes in batches. Closed: the thinking ended
by itself within {within} tokens. Parsed: the answer has the form that was asked for. Right:
every value in it is. Ran: Python that was executed did what it should. Loops: the last {window}
tokens repeat with a period of at most {period}. Thinking and answer: tokens on average.

{table}
{loops}
## Limits

It knows these kinds of prompts and little else. Numbers with more digits, longer lists or
other forms are beyond it. Outside its families it thinks a sentence or two and then answers
as a model of this size does: often wrongly. English only.

## Licence

Apache-2.0, as its base and as this program.
"""


def publish(run: Path, evaluation: Path, place: Path) -> None:
    """Copy the adapter of a run to `place` with its record, figures and card.

    Raises UserError if something is missing, the figures are another adapter's, or it is too
    large.
    """
    adapter = run / "adapter"
    try:
        record = json.loads((run / "training.json").read_text(encoding="utf-8"))
        found = json.loads(evaluation.read_text(encoding="utf-8"))
        size, *_ = [(adapter / name).stat().st_size for name in (WEIGHTS, CONFIG, TEMPLATE)]
    except (OSError, ValueError) as error:
        raise UserError(f"{run} is not trained and evaluated yet ({error}).") from error
    if found.get("adapter") != fingerprint(adapter):
        raise UserError(f"{evaluation} is of another adapter; evaluate the one in {adapter}.")
    if size > LARGEST:
        raise UserError(f"The adapter has {size:,} bytes; {LARGEST:,} may be shipped.")
    place.mkdir(parents=True, exist_ok=True)
    for name in (WEIGHTS, CONFIG, TEMPLATE):
        shutil.copyfile(adapter / name, place / name)
    figures = {key: value for key, value in found.items() if key != "outcomes"}
    _write(place / "training.json", record)
    _write(place / "evaluation.json", figures)
    (place / "README.md").write_text(card(record, figures), encoding="utf-8")


def _write(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def card(record: dict[str, Any], figures: dict[str, Any]) -> str:
    """The model card, every figure from the two records."""
    recipe = record["recipe"]
    return CARD.format(
        name=NAME,
        revision=REVISION,
        families={6: "Six", 7: "Seven", 8: "Eight"}.get(len(FAMILIES), str(len(FAMILIES))),
        drills=DRILLS,
        general=GENERAL,
        window=WINDOW,
        period=PERIOD,
        rank=recipe["rank"],
        below=recipe["below"],
        device=record["device"],
        runs=_runs(record),
        prompts=figures["summary"]["all"]["prompts"],
        evaluated=figures["seconds"] / 60,
        within=figures["closes_within"],
        table=_table(HEAD, rows(figures["summary"])),
        loops=_loops(figures.get("loops")),
    )


def _runs(record: dict[str, Any]) -> str:
    """A row for every run that the adapter went through, the first one first."""
    runs = [record]
    while before := runs[0].get("before"):
        runs.insert(0, before)
    return _table(
        ("run", "texts", "a step", "tokens", "learned", "steps", "rate", "minutes", "loss"),
        [(str(number), *_run(each)) for number, each in enumerate(runs, 1)],
    )


def _run(record: dict[str, Any]) -> tuple[str, ...]:
    recipe, losses, steps = record["recipe"], record["losses"], record["steps"]
    examples, batch = recipe["examples"], recipe["batch"]
    planned = -(-examples // batch)
    some = max(1, len(losses) // 20)
    first, last = mean(losses[:some]), mean(losses[-some:])
    return (
        f"{min(examples, steps * batch):,}",
        f"{batch}",
        f"{record['tokens']:,}",
        f"{record['learned']:,}",
        f"{steps}" if steps == planned else f"{steps} of {planned}",
        f"{recipe['rate']:g}",
        f"{record['seconds'] / 60:.0f}",
        f"{first:.3f} to {last:.3f}",
    )


def _table(head: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _loops(loops: dict[str, Any] | None) -> str:
    if not loops:
        return ""
    return (
        f"\nOn {loops['questions']} questions of {loops['set']}, which are outside its families, "
        f"{loops['adapted']:.0%} of its texts end in a loop; of the base's, {loops['base']:.0%}.\n"
    )


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m training.publish", description=__doc__)
    parser.add_argument("--run", type=Path, default=Path("build/reasoner"))
    parser.add_argument("--evaluation", type=Path, default=Path("build/evaluation.json"))
    parser.add_argument("--to", type=Path, default=ADAPTER)
    args = parser.parse_args(argv)
    try:
        publish(args.run, args.evaluation, args.to)
    except UserError as error:
        sys.exit(str(error))
    print(f"{args.to} is ready.")


if __name__ == "__main__":
    main()
