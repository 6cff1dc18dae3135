"""Lanes against each other and against transformers' own generation, in one run."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import peers
from benchmarks.asked import race_of
from benchmarks.questions import SETS, Question, read
from benchmarks.repeats import repeats
from benchmarks.report import geometric_mean, save, table
from engine.errors import UserError
from engine.events import Compare, Finish, Run, Step
from slipstream import Model, Request, load
from slipstream.lanes import LANES

LOADED = "hf-generate as loaded"
LOADED_QUESTIONS = 2
"""Questions a set on which the model as loaded is run as well: it is only a yardstick."""


@dataclass(slots=True)
class Sample:
    """One lane or peer on one question."""

    set: str
    question: int
    category: str
    lane: str
    prompt_tokens: int
    tokens: list[int]
    seconds: float
    forwards: int = 0
    drafted: int = 0
    draft_seconds: float = 0.0
    other_seconds: float = 0.0
    identical: bool = True
    gap: float | None = None
    repeating: bool = False

    @property
    def steps(self) -> int:
        """Forwards after the prefill."""
        return max(1, self.forwards - 1)


def run(args: argparse.Namespace) -> None:
    """Measure every question, print a table a set, and write JSON.

    Raises UserError for a lane, a peer or a folder that does not exist.
    """
    lanes = tuple(args.lanes.split(","))
    wanted = tuple(peer for peer in args.peers.split(",") if peer)
    unknown = [lane for lane in lanes if lane not in LANES]
    unknown += [peer for peer in wanted if peer not in peers.PEERS]
    if unknown:
        raise UserError(f"There is no lane or peer {unknown[0]!r}.")
    if wanted and args.temperature > 0:
        raise UserError("The peers generate greedily; leave --peers out with a temperature.")
    questions = read(args.questions, args.limit)
    if args.sets:
        questions = {stem: questions[stem] for stem in args.sets.split(",") if stem in questions}
    model = load(args.model, device=args.device, dtype=args.dtype)
    as_loaded = peers.as_loaded(args) if "hf-generate" in wanted else None
    samples: list[Sample] = []
    for stem, chosen in questions.items():
        for place, question in enumerate(_padded(chosen, args, model)):
            plain = as_loaded if place < LOADED_QUESTIONS else None
            samples.extend(_question(model, plain, question, lanes, wanted, args))
        _print_set(stem, samples)
    _print_means(samples, tuple(questions))
    save(args, model, samples)


def _padded(chosen: list[Question], args: argparse.Namespace, model: Model) -> Iterator[Question]:
    """The questions, each behind as much of the others' text as `--context` asks for."""
    for place, question in enumerate(chosen):
        prompt = question.prompt
        others = [q.prompt for q in chosen[:place] + chosen[place + 1 :]] or [prompt]
        tokenizer = model.loaded.tokenizer
        while len(tokenizer(prompt)["input_ids"]) < args.context:
            prompt = f"{others[len(prompt) % len(others)]}\n\n{prompt}"
        yield Question(question.set, question.id, question.category, prompt)


def _question(
    model: Model,
    plain: Any,
    question: Question,
    lanes: tuple[str, ...],
    wanted: tuple[str, ...],
    args: argparse.Namespace,
) -> list[Sample]:
    """All lanes and peers on one question; the peers are held against vanilla's text."""
    # The model answers at once, as the peers have it do.
    request = race_of(args, question.prompt, lanes, think="off")
    samples = _raced(model, question, request)
    prompt, end = model.prompt_ids(question.prompt, model.ask(request)), model.loaded.eos
    reference = next((s.tokens for s in samples if s.lane == "vanilla"), [])
    for peer in wanted:
        samples.append(_peer(peer, peer, model.loaded.model, question, prompt, end, args))
    if plain is not None:
        samples.append(_peer(LOADED, "hf-generate", plain, question, prompt, end, args))
    repeating = repeats(reference)
    for sample in samples:
        sample.repeating = repeating
        if sample.lane not in LANES:
            sample.identical = sample.tokens == reference
    return samples


def _raced(model: Model, question: Question, request: Request) -> list[Sample]:
    """The lanes in one race."""
    lanes = request.lanes
    written: dict[str, list[int]] = {lane: [] for lane in lanes}
    other = dict.fromkeys(lanes, 0.0)
    samples: dict[str, Sample] = {}
    differing: dict[str, Compare] = {}
    prompt_tokens = 0
    for event in model.race(request):
        if isinstance(event, Run):
            prompt_tokens = event.prompt_tokens
        elif isinstance(event, Step):
            written[event.lane].extend(event.tokens)
            other[event.lane] += event.other
        elif isinstance(event, Finish):
            if event.reason == "error":
                raise UserError(f"Lane {event.lane} failed: {event.message}")
            samples[event.lane] = _sample(question, event, prompt_tokens, written, other)
        elif isinstance(event, Compare) and not event.identical:
            differing[event.lane] = event
    for lane, verdict in differing.items():
        samples[lane].identical, samples[lane].gap = False, verdict.gap
    return list(samples.values())


def _sample(
    question: Question,
    finish: Finish,
    prompt_tokens: int,
    written: dict[str, list[int]],
    other: dict[str, float],
) -> Sample:
    totals = finish.totals
    return Sample(
        question.set,
        question.id,
        question.category,
        finish.lane,
        prompt_tokens,
        written[finish.lane],
        totals["seconds"],
        int(totals["forwards"]),
        int(totals["drafted"]),
        totals["draft_seconds"],
        other[finish.lane],
    )


def _peer(
    name: str,
    peer: str,
    model: Any,
    question: Question,
    prompt: list[int],
    end: frozenset[int],
    args: argparse.Namespace,
) -> Sample:
    """One peer on one question, prefill included as in the lanes."""
    began = time.perf_counter()
    tokens, forwards = peers.PEERS[peer](model, prompt, args.max_new_tokens, end)
    seconds = time.perf_counter() - began
    return Sample(
        question.set,
        question.id,
        question.category,
        name,
        len(prompt),
        tokens,
        seconds,
        forwards,
    )


def _lanes(samples: list[Sample]) -> list[str]:
    return list(dict.fromkeys(sample.lane for sample in samples))


def speed_up(samples: list[Sample], lane: str, over: str = "vanilla") -> float:
    """Tokens a second of `lane` over those of `over`, on the same questions."""
    return _rate(samples, lane) / _rate(samples, over)


def _rate(samples: list[Sample], lane: str) -> float:
    own = [sample for sample in samples if sample.lane == lane]
    return sum(len(s.tokens) for s in own) / sum(s.seconds for s in own)


def _print_set(stem: str, samples: list[Sample]) -> None:
    """Two tables where some runs repeat themselves: those apart."""
    own = [sample for sample in samples if sample.set == stem]
    for repeating in (False, True):
        part = [sample for sample in own if sample.repeating == repeating]
        if part:
            count = len({sample.question for sample in part})
            kind = "repeating themselves" if repeating else "questions"
            print(f"\n{SETS[stem]} · {count} {kind}")
            print(table(_HEAD, [_row(part, lane) for lane in _lanes(part)]), flush=True)


_HEAD = ("lane", "tokens/s", "× vanilla", "MAT", "drafted", "draft ms", "choose ms", "identical")


def _row(samples: list[Sample], lane: str) -> tuple[str, ...]:
    own = [sample for sample in samples if sample.lane == lane]
    steps = sum(sample.steps for sample in own)
    tokens = sum(len(sample.tokens) - 1 for sample in own)
    same = f"{sum(sample.identical for sample in own)}/{len(own)}"
    # A yardstick that ran on some questions is held against vanilla on those.
    shared = {sample.question for sample in own}
    samples = [sample for sample in samples if sample.question in shared]
    ratio = f"{speed_up(samples, lane):.2f}" if "vanilla" in _lanes(samples) else "–"
    ours = lane in LANES
    return (
        lane,
        f"{_rate(samples, lane):.1f}",
        ratio,
        f"{tokens / steps:.2f}",
        f"{sum(s.drafted for s in own) / steps:.1f}" if ours else "–",
        f"{sum(s.draft_seconds for s in own) / steps * 1e3:.2f}" if ours else "–",
        f"{sum(s.other_seconds for s in own) / steps * 1e3:.2f}" if ours else "–",
        same,
    )


def _print_means(samples: list[Sample], stems: tuple[str, ...]) -> None:
    """Geometric means over the sets, with and without the runs that repeat themselves."""
    if "vanilla" not in _lanes(samples):
        return
    print("\nGeometric mean over the sets, × vanilla (all runs / without repeating ones)")
    for lane in _lanes(samples):
        means = []
        for part in (samples, [sample for sample in samples if not sample.repeating]):
            asked = {(s.set, s.question) for s in part if s.lane == lane}
            sets = [
                [s for s in part if s.set == stem and (s.set, s.question) in asked]
                for stem in stems
            ]
            means.append(geometric_mean([speed_up(own, lane) for own in sets if own]))
        print(f"  {lane:24} {means[0]:.2f} / {means[1]:.2f}")
