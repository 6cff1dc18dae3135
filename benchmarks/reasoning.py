"""SSR's tables on a given model: what drafting the answer while thinking saves, and where.

Source of the tables: SSR (arXiv 2608.20359): latency, stages, prefix against suffix,
iterative against separate drafts, draft point and thinking budget.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import mean, median

from benchmarks import sweeps
from benchmarks.asked import named, race_of
from benchmarks.kept import Kept
from benchmarks.lanes import lanes_of, of_lane
from benchmarks.questions import Question, evenly, lines_of
from benchmarks.report import counted, room_for, save, signed, table
from benchmarks.savings import covered, saved, speed_up
from benchmarks.trial import Trial
from slipstream import Model, Request, load
from slipstream.lanes import LANES
from training.fresh import BENCHMARK, fresh

HALVES = ("vanilla", "ssr", "ssr-prefix", "ssr-suffix")
ITERATIVE = ("ssr", "ssr-separate")


def run(args: argparse.Namespace) -> None:
    """Race the questions, print the tables asked for, write JSON and the figures.

    Raises UserError for what was asked for and cannot be run, before a model is loaded.
    """
    lanes = named(args.lanes, LANES, "lane")
    kinds = named(args.sweep, sweeps.KINDS, "sweep")
    questions = _questions(args)
    requests = [(f"{q.category} {q.id}", _request(args, q.prompt, lanes)) for q in questions]
    for path in (args.json, args.figure):
        room_for(path)
    model = load(args.model, device=args.device, dtype=args.dtype)

    kept = Kept(args.json.with_suffix(".trials.jsonl"), model.about(), resume=args.resume)
    found = list(_raced(model, requests, kept))
    name = args.questions.stem if args.questions else "fresh prompts"
    print(f"{name} · {len(questions)} questions · {model.loaded.name} · {model.loaded.dtype}")
    _print_latency(found)
    _print_stages(found)
    _print_slow_down(found)
    results: dict[str, object] = {"lanes": found}
    if args.ablation:
        results["ablation"] = _ablations(model, requests, kept)
    if kinds:
        results["sweeps"] = sweeps.run(model, requests, kinds, kept, args.figure)
    save(args, model, results)


def _questions(args: argparse.Namespace) -> list[Question]:
    """Those of a file, or fresh prompts of the tasks whose answers can be checked."""
    if args.questions:
        return evenly(lines_of(args.questions), args.limit)
    return [
        Question("fresh", seed, example.family, example.prompt)
        for seed, example in fresh(args.limit, BENCHMARK)
    ]


def _request(args: argparse.Namespace, prompt: str, lanes: tuple[str, ...]) -> Request:
    return race_of(
        args,
        prompt,
        lanes,
        think="on",
        thinking_budget=args.thinking_budget,
        draft_at=args.draft_at,
        draft_every=args.draft_every,
        draft_length=args.draft_length,
    )


def _raced(model: Model, requests: Sequence[tuple[str, Request]], kept: Kept) -> Iterator[Trial]:
    for name, request in requests:
        done = kept.trials(model, name, request)
        times = ", ".join(f"{trial.lane} {trial.seconds:.1f}" for trial in done)
        print(f"  {name}: {times} s", file=sys.stderr, flush=True)
        yield from done


def _print_latency(found: Sequence[Trial]) -> None:
    """Latency against vanilla, first answer token, what was reused."""
    rows, lanes = [], lanes_of(found)
    for lane in lanes:
        own = of_lane(found, lane)
        firsts = [trial.first for trial in own if trial.first is not None]
        rows.append(
            (
                lane,
                f"{mean(t.seconds for t in own):.2f}",
                signed(saved(found, lane)),
                "–" if (times := speed_up(found, lane)) is None else f"{times:.2f}",
                f"{mean(firsts):.2f}" if firsts else "–",
                f"{mean(t.forwards for t in own):.0f}",
                f"{mean(t.thinking for t in own):.0f}",
                f"{mean(t.answer for t in own):.0f}",
                f"{mean(t.drafts for t in own):.1f}",
                f"{mean(t.prefix for t in own):.1f}",
                f"{mean(t.suffix for t in own):.1f}",
                f"{covered(own):.0%}",
                counted(t.identical if "vanilla" in lanes else None for t in own),
                counted(t.right for t in own),
            )
        )
    head = (
        "lane", "seconds", "saved", "× vanilla", "first", "forwards", "thinking", "answer",
        "drafts", "prefix", "suffix", "covered", "identical", "right",
    )  # fmt: skip
    print(table(head, rows))
    closed = [trial.closed_by or "not at all" for trial in of_lane(found, lanes[0])]
    counts = ", ".join(f"{closed.count(by)} {by}" for by in dict.fromkeys(closed))
    print(f"thinking closed by: {counts}")
    for trial in found:
        if trial.note:
            print(f"  {trial.lane}, question {trial.question}: {trial.note}")


def _print_stages(found: Sequence[Trial]) -> None:
    """Mean seconds of each stage; the draft's are hidden in the thinking's."""
    rows = []
    for lane in lanes_of(found):
        own = of_lane(found, lane)
        stages = [f"{mean(t.stages[name] for t in own):.2f}" for name in own[0].stages]
        rows.append((lane, *stages[:2], f"{mean(t.beside for t in own):.2f}", *stages[2:]))
    head = ("stages, s", "prefill", "thinking", "draft (hidden)", "verify", "continuation")
    print(f"\n{table(head, rows)}")


def _print_slow_down(found: Sequence[Trial]) -> None:
    """How much slower a thinking step is while a draft is written beside it."""
    print("\nthinking step with a draft beside it against one without (same lane, same run)")
    for lane in lanes_of(found):
        ratios = [t.slow_down for t in of_lane(found, lane) if t.slow_down is not None]
        if ratios:
            print(f"  {lane:12} {median(ratios):.3f} (median of {len(ratios)} questions)")


def _ablations(
    model: Model, requests: Sequence[tuple[str, Request]], kept: Kept
) -> dict[str, list[Trial]]:
    """Prefix only, suffix only, both; iterative against separate drafts."""
    halves = list(_raced(model, [(n, replace(r, lanes=HALVES)) for n, r in requests], kept))
    rows = []
    for lane in HALVES[1:]:
        own, share = of_lane(halves, lane), saved(halves, lane)
        ratio = "–" if share is None else f"{1 / (1 - share):.3f}"
        rows.append(
            (
                lane,
                ratio,
                f"{mean(t.prefix for t in own):.1f}",
                f"{mean(t.suffix for t in own):.1f}",
            )
        )
    print(f"\n{table(('reuse', '× vanilla', 'prefix', 'suffix'), rows)}")
    again = list(_raced(model, [(n, replace(r, lanes=ITERATIVE)) for n, r in requests], kept))
    share = _saved_a_drafted_token(again)
    print("\nseconds of thinking steps with a draft beside them, for each drafted token")
    print(f"  saved by iterative against separate drafts: {signed(share)}")
    return {"halves": halves, "iterative": again}


def _saved_a_drafted_token(found: Sequence[Trial]) -> float | None:
    """Share of the seconds per drafted token that checking the last draft first saves.

    Whole steps are counted, the thinking's own rows included: what was drafted beside them
    has no clock of its own.
    """
    rates = []
    for lane in ITERATIVE:
        own = of_lane(found, lane)
        tokens = sum(trial.drafted for trial in own)
        rates.append(sum(trial.beside for trial in own) / tokens if tokens else None)
    iterative, separate = rates
    return None if iterative is None or not separate else 1 - iterative / separate
