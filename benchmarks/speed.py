"""Lanes against each other and against transformers' own generation, in one run."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

from benchmarks import peers
from benchmarks.asked import named, race_of
from benchmarks.lanes import lanes_of, of_lane
from benchmarks.questions import SETS, Question, read
from benchmarks.repeats import repeats
from benchmarks.report import counted, room_for, save, table
from engine.errors import UserError
from engine.events import Compare, Finish, Run, Step
from slipstream import Model, Request, load
from slipstream.lanes import LANES
from slipstream.request import Bounds

LOADED = "hf-generate as loaded"
LOADED_QUESTIONS = 2
"""Questions a set on which the model as loaded is run as well: it is only a yardstick."""


@dataclass(slots=True)
class Sample:
    """One lane or peer on one question.

    identical: to vanilla's text; None where vanilla did not run.
    """

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
    identical: bool | None = None
    gap: float | None = None
    repeating: bool = False

    @property
    def steps(self) -> int:
        """Forwards after the prefill."""
        return max(1, self.forwards - 1)


@dataclass(frozen=True, slots=True)
class Rival:
    """A peer on a model. name: in the tables. most: questions a set, None for all."""

    name: str
    peer: str
    model: Any
    most: int | None = None


def run(args: argparse.Namespace) -> None:
    """Measure every question, print a table a set, and write JSON.

    Raises UserError for what was asked for and cannot be run, before a model is loaded.
    """
    lanes, wanted, questions = _asked(args)
    model = load(args.model, device=args.device, dtype=args.dtype)
    rivals = _rivals(args, model, wanted)
    for rival in rivals:
        peers.warm_up(rival.peer, rival.model)
    samples: list[Sample] = []
    for stem, chosen in questions.items():
        for place, question in enumerate(_padded(chosen, args, model)):
            request = _request(args, question, lanes)
            due = [rival for rival in rivals if rival.most is None or place < rival.most]
            samples.extend(_question(model, due, question, request))
        _print_set(stem, samples)
    _print_means(samples, tuple(questions))
    save(args, model, samples)


def _asked(
    args: argparse.Namespace,
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, list[Question]]]:
    """The lanes, the peers and the questions of each set, with every race tried for its form."""
    lanes, wanted = named(args.lanes, LANES, "lane"), named(args.peers, peers.PEERS, "peer")
    if wanted and args.temperature > 0:
        raise UserError("The peers generate greedily; leave --peers out with a temperature.")
    most = Bounds().prompt_tokens
    if not 0 <= args.context <= most:
        raise UserError(f"Prompts cannot be padded to {args.context} tokens; choose 0 to {most}.")
    questions = read(args.questions, args.limit)
    if args.sets:
        questions = {stem: questions[stem] for stem in named(args.sets, questions, "set")}
    for chosen in questions.values():
        for question in chosen:
            _request(args, question, lanes)
    room_for(args.json)
    return lanes, wanted, questions


def _request(args: argparse.Namespace, question: Question, lanes: tuple[str, ...]) -> Request:
    """The race on one question; the model answers at once, as the peers have it do."""
    return race_of(args, question.prompt, lanes, think="off")


def _rivals(args: argparse.Namespace, model: Model, wanted: Sequence[str]) -> list[Rival]:
    """The peers on the lanes' own weights, and the plain one on the model as loaded."""
    rivals = [Rival(peer, peer, model.loaded.model) for peer in wanted]
    if "hf-generate" in wanted:
        rivals.append(Rival(LOADED, "hf-generate", peers.as_loaded(args), LOADED_QUESTIONS))
    return rivals


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
    model: Model, rivals: Sequence[Rival], question: Question, request: Request
) -> list[Sample]:
    """All lanes and peers on one question; the peers are held against vanilla's text."""
    samples = _raced(model, question, request)
    reference = next((s.tokens for s in samples if s.lane == "vanilla"), None)
    prompt = model.prompt_ids(question.prompt, model.ask(request))
    # A lane ends where the model's context does.
    most = min(request.max_new_tokens, model.loaded.context - len(prompt))
    for rival in rivals:
        sample = _peer(rival, question, prompt, most, model.loaded.eos)
        sample.identical = None if reference is None else sample.tokens == reference
        samples.append(sample)
    repeating = repeats(reference or [])
    for sample in samples:
        sample.repeating = repeating
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
        samples[lane].gap = verdict.gap
    if "vanilla" in samples:
        for lane, sample in samples.items():
            sample.identical = lane not in differing
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
    rival: Rival, question: Question, prompt: list[int], new_tokens: int, end: frozenset[int]
) -> Sample:
    """One peer on one question, prefill included as in the lanes."""
    found = peers.PEERS[rival.peer](rival.model, prompt, new_tokens, end)
    return Sample(
        question.set,
        question.id,
        question.category,
        rival.name,
        len(prompt),
        found.tokens,
        found.seconds,
        found.forwards,
    )


def speed_up(samples: list[Sample], lane: str, over: str = "vanilla") -> float:
    """Tokens a second of `lane` over those of `over`, on the same questions."""
    return _rate(samples, lane) / _rate(samples, over)


def _rate(samples: list[Sample], lane: str) -> float:
    own = of_lane(samples, lane)
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
            print(table(_HEAD, [_row(part, lane) for lane in lanes_of(part)]), flush=True)


_HEAD = ("lane", "tokens/s", "× vanilla", "MAT", "drafted", "draft ms", "choose ms", "identical")


def _row(samples: list[Sample], lane: str) -> tuple[str, ...]:
    own = of_lane(samples, lane)
    steps = sum(sample.steps for sample in own)
    tokens = sum(len(sample.tokens) - 1 for sample in own)
    # A yardstick that ran on some questions is held against vanilla on those.
    shared = {sample.question for sample in own}
    samples = [sample for sample in samples if sample.question in shared]
    ratio = f"{speed_up(samples, lane):.2f}" if "vanilla" in lanes_of(samples) else "–"
    ours = lane in LANES
    return (
        lane,
        f"{_rate(samples, lane):.1f}",
        ratio,
        f"{tokens / steps:.2f}",
        f"{sum(s.drafted for s in own) / steps:.1f}" if ours else "–",
        f"{sum(s.draft_seconds for s in own) / steps * 1e3:.2f}" if ours else "–",
        f"{sum(s.other_seconds for s in own) / steps * 1e3:.2f}" if ours else "–",
        counted(sample.identical for sample in own),
    )


def _print_means(samples: list[Sample], stems: tuple[str, ...]) -> None:
    """Geometric means over the sets, with and without the runs that repeat themselves."""
    if "vanilla" not in lanes_of(samples):
        return
    print("\nGeometric mean over the sets, × vanilla (all runs / without repeating ones)")
    apart = [sample for sample in samples if not sample.repeating]
    for lane in lanes_of(samples):
        print(f"  {lane:24} {_mean(samples, lane, stems)} / {_mean(apart, lane, stems)}")


def _mean(samples: list[Sample], lane: str, stems: tuple[str, ...]) -> str:
    """Mean over the sets of how much faster `lane` is, on the questions it ran on."""
    asked = {(s.set, s.question) for s in of_lane(samples, lane)}
    shared = [s for s in samples if (s.set, s.question) in asked]
    sets = [[s for s in shared if s.set == stem] for stem in stems]
    ratios = [speed_up(own, lane) for own in sets if own]
    return f"{geometric_mean(ratios):.2f}" if ratios else "–"
