"""The command line: arguments, and a race without a browser."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from engine.errors import UserError
from engine.events import Compare, Event, Finish, Run, Step
from engine.record import Writer
from slipstream.lanes import DEFAULT_LANES, LANES
from slipstream.model import Model
from slipstream.request import Bounds, Request

_DEFAULT = Request("")


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(
        prog="app.py",
        description="See speculative decoding happen: one prompt, one model, side by side.",
    )
    parser.add_argument(
        "--model",
        default="auto",
        help="auto, embedded, a folder, a .gguf file, or a hub id (default: auto)",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16, float16")
    parser.add_argument("--host", default=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"))
    parser.add_argument("--port", type=int, default=os.environ.get("PORT", "7860"))
    parser.add_argument("--fetch", action="store_true", help="fetch the embedded model and end")
    race = parser.add_argument_group("a race without a browser")
    race.add_argument("--prompt", help="race on this prompt and end")
    race.add_argument("--lanes", default=",".join(DEFAULT_LANES), help=", ".join(LANES))
    race.add_argument("--record", type=Path, metavar="FILE", help="write a recording (.jsonl)")
    race.add_argument("--title", default="", help="title of the recording")
    race.add_argument("--max-new-tokens", type=int, default=200)
    race.add_argument("--temperature", type=float, default=0.0)
    race.add_argument("--top-p", type=float, default=1.0)
    race.add_argument("--top-k", type=int, default=0)
    race.add_argument("--seed", type=int, default=0)
    race.add_argument("--capacity", default="auto", help="auto, or nodes of a draft tree")
    race.add_argument("--think", choices=("auto", "on", "off"), default="auto")
    race.add_argument("--thinking-budget", type=int, default=_DEFAULT.thinking_budget)
    race.add_argument("--draft-at", type=int, default=_DEFAULT.draft_at, help="SSR's draft point")
    race.add_argument("--draft-every", type=int, default=_DEFAULT.draft_every, help="0: once")
    race.add_argument("--draft-length", type=int, default=_DEFAULT.draft_length)
    return parser.parse_args(given)


def request_of(args: argparse.Namespace) -> Request:
    """The race asked for. Raises UserError, before any model is loaded, if it cannot be run."""
    return Request(
        prompt=args.prompt,
        lanes=tuple(lane.strip() for lane in args.lanes.split(",")),
        max_new_tokens=args.max_new_tokens,
        temperature=args.temperature,
        top_p=args.top_p,
        top_k=args.top_k,
        seed=args.seed,
        capacity=args.capacity,
        think=args.think,
        thinking_budget=args.thinking_budget,
        draft_at=args.draft_at,
        draft_every=args.draft_every,
        draft_length=args.draft_length,
    ).checked(Bounds.from_environment())


def headless(model: Model, request: Request, args: argparse.Namespace) -> None:
    """Race, print each lane's text and figures, record if asked to.

    Raises UserError for what cannot be run.
    """
    events = model.race(request, Bounds.from_environment())
    _report(list(_recorded(events, args.record, args.title) if args.record else events))


def _recorded(events: Iterator[Event], path: Path, title: str) -> Iterator[Event]:
    """The same events, each written to `path` as it passes."""
    try:
        with Writer(path) as recording:
            for event in events:
                kept = replace(event, title=title) if isinstance(event, Run) else event
                recording.write(kept)
                yield kept
    except OSError as error:
        raise UserError(f"The recording cannot be written to {path}: {error.strerror}.") from error


def _report(events: Sequence[Event]) -> None:
    """Each lane's text, then its figures, on standard output."""
    for finish in (event for event in events if isinstance(event, Finish)):
        text = "".join(
            piece
            for event in events
            if isinstance(event, Step) and event.lane == finish.lane
            for piece in event.pieces
        )
        totals = finish.totals
        print(f"── {finish.lane} ──\n{text}\n")
        print(
            f"{totals['tokens']:.0f} tokens, {totals['forwards']:.0f} forwards, "
            f"{totals['seconds']:.2f} s, ended by {finish.reason}. {finish.message}\n"
        )
    for verdict in (event for event in events if isinstance(event, Compare) and event.complete):
        print(f"{verdict.lane}: {_verdict(verdict)}")


def _verdict(compare: Compare) -> str:
    if compare.identical:
        return f"identical to vanilla in all {compare.checked} tokens"
    gap = "" if compare.gap is None else f", where vanilla's two best were {compare.gap:.3g} apart"
    kind = "a rounding tie" if compare.tie else "not explained by rounding"
    return f"differs from vanilla at token {compare.first}{gap}: {kind}"


def fail(error: UserError) -> int:
    """One sentence on standard error; the exit status for it."""
    print(error, file=sys.stderr)
    return 2
