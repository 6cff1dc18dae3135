"""Whether the adapted model thinks and answers: `python -m training.evaluate`.

Fresh prompts of every family, greedy, in batches; each answer is checked against what its
prompt asks for, and Python is also executed, in a process of its own. Prompts of a
benchmark file, if one is given, are only looked at for loops, on the base model as well.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.questions import SETS, evenly, lines_of
from benchmarks.repeats import repeats
from benchmarks.report import table
from engine.adapter import fingerprint
from engine.embedded import ADAPTER
from engine.errors import UserError
from engine.models import Loaded, load
from engine.packing import pack
from engine.prompt import Ask, chat_prompt
from training.batches import generate
from training.checks import run_python
from training.figures import HEAD, rows
from training.fresh import fresh
from training.tasks import FAMILIES, Example

CLOSE = "</think>"
CLOSES_WITHIN = 400  # tokens of thinking
NEW_TOKENS = 800
QUESTION_TOKENS = 400


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one prompt.

    closed: the thinking ended by itself, in time. ran: Python did what it is asked for
    when executed, None where the answer is none. thinking, answer: lengths in tokens.
    """

    family: str
    seed: int
    closed: bool
    parsed: bool
    right: bool
    ran: bool | None
    loops: bool
    reason: str
    thinking: int
    answer: int
    text: str


def evaluate(loaded: Loaded, count: int, batch: int, new_tokens: int) -> list[Outcome]:
    """The outcomes of `count` fresh prompts, of similar length side by side."""
    asked = fresh(count)
    prompts = [_ids(loaded, example.prompt) for _, example in asked]
    texts = generate(loaded, prompts, new_tokens, batch)
    return [
        _outcome(loaded, seed, example, ids)
        for (seed, example), ids in zip(asked, texts, strict=True)
    ]


def loops_on(loaded: Loaded, prompts: Sequence[str], batch: int) -> list[bool]:
    """Whether each of the texts behind these prompts has fallen into a loop at its end."""
    ids = [_ids(loaded, prompt) for prompt in prompts]
    return [repeats(text) for text in generate(loaded, ids, QUESTION_TOKENS, batch)]


def _ids(loaded: Loaded, prompt: str) -> list[int]:
    return chat_prompt(loaded.tokenizer, prompt, Ask(options={"enable_thinking": True}))


def _outcome(loaded: Loaded, seed: int, example: Example, ids: list[int]) -> Outcome:
    text = loaded.tokenizer.decode(ids)
    thinking, mark, answer = text.partition(CLOSE)
    length = len(loaded.tokenizer(thinking, add_special_tokens=False)["input_ids"])
    family = FAMILIES[example.family]
    verdict = family.check(example.prompt, answer)
    closed = bool(mark) and length <= CLOSES_WITHIN
    return Outcome(
        family=example.family,
        seed=seed,
        closed=closed,
        parsed=closed and verdict.parsed,
        right=closed and verdict.right,
        ran=_ran(example, answer) if family.probe else None,
        loops=repeats(ids),
        reason=verdict.reason if mark else "The thinking was not closed.",
        thinking=length,
        answer=len(loaded.tokenizer(answer, add_special_tokens=False)["input_ids"]),
        text=text,
    )


def _ran(example: Example, answer: str) -> bool:
    """Whether Python prints what the right answer prints."""
    family = FAMILIES[example.family]
    assert family.probe is not None
    probe = family.probe(family.spec(example.prompt))
    wanted, got = run_python(example.answer, probe), run_python(answer.strip(), probe)
    return got.ended and got.printed == wanted.printed


def summary(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Shares of each family and of all, as written on the model card."""
    groups = {name: [o for o in outcomes if o.family == name] for name in FAMILIES}
    groups["all"] = list(outcomes)
    return {name: _shares(group) for name, group in groups.items() if group}


def _shares(group: Sequence[Outcome]) -> dict[str, float]:
    count = len(group)
    executed = [o.ran for o in group if o.ran is not None]
    shares = {
        "prompts": count,
        "closed": sum(o.closed for o in group) / count,
        "parsed": sum(o.parsed for o in group) / count,
        "right": sum(o.right for o in group) / count,
        "loops": sum(o.loops for o in group) / count,
        "thinking": sum(o.thinking for o in group) / count,
        "answer": sum(o.answer for o in group) / count,
    }
    return shares | ({"ran": sum(executed) / len(executed)} if executed else {})


def _loops(args: argparse.Namespace, loaded: Loaded) -> dict[str, Any]:
    """Shares of loops on benchmark questions: of this model and of its base."""
    prompts = [question.prompt for question in evenly(lines_of(args.questions), args.limit)]
    base = load(args.base, device=args.device, dtype="float32")
    pack(base.model)
    name = SETS.get(args.questions.stem, args.questions.stem)
    found: dict[str, Any] = {"questions": len(prompts), "set": name}
    for name, model in (("adapted", loaded), ("base", base)):
        loops = loops_on(model, prompts, args.batch)
        found[name] = sum(loops) / len(loops)
        print(f"{found[name]:.1%} loops on {len(prompts)} questions ({name})")
    return found


def _adapted(args: argparse.Namespace) -> Loaded:
    """The model to look at: the embedded one, or the base with an adapter just trained."""
    if not args.adapter:
        return load("embedded", device=args.device, dtype="float32")
    return load(args.base, device=args.device, dtype="float32", adapter=args.adapter)


def run(args: argparse.Namespace) -> None:
    """Evaluate, print the tables and write JSON with every text."""
    loaded = _adapted(args)
    pack(loaded.model)
    start = time.perf_counter()
    outcomes = evaluate(loaded, args.prompts, args.batch, args.new_tokens)
    shares = summary(outcomes)
    print(table(HEAD, rows(shares)))
    result: dict[str, Any] = {"summary": shares, "outcomes": [asdict(o) for o in outcomes]}
    result["adapter"] = fingerprint(args.adapter or ADAPTER)
    result["closes_within"] = CLOSES_WITHIN
    result["seconds"] = time.perf_counter() - start
    if args.questions:
        result["loops"] = _loops(args, loaded)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    args.json.write_text(text, encoding="utf-8")


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    parser.add_argument("--adapter", type=Path, help="its folder; else the one that ships")
    parser.add_argument("--base", default="embedded-base")
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--new-tokens", type=int, default=NEW_TOKENS)
    parser.add_argument("--questions", type=Path, help="a benchmark file to look for loops on")
    parser.add_argument("--limit", type=int, default=60, help="questions of that file")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", type=Path, default=Path("build/evaluation.json"))
    try:
        run(parser.parse_args(argv))
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
