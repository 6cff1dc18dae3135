"""The command line: arguments, and a race without a browser."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from engine.errors import UserError
from engine.events import Check, Compare, Event, Finish, Phase, Run
from engine.record import Writer, halves
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
        help="auto, embedded, embedded-base, a folder, a .gguf file, or a hub id (default: auto)",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16, float16")
    parser.add_argument("--host", default=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"))
    parser.add_argument("--port", type=_port, default=os.environ.get("PORT", "7860"))
    parser.add_argument("--fetch", action="store_true", help="fetch the embedded model and end")
    race = parser.add_argument_group("a race without a browser")
    race.add_argument("--prompt", help="race on this prompt and end")
    race.add_argument("--lanes", default=",".join(DEFAULT_LANES), help=", ".join(LANES))
    race.add_argument("--record", type=Path, metavar="FILE", help="write a recording (.jsonl)")
    race.add_argument("--title", default="", help="title of the recording")
    race.add_argument("--max-new-tokens", type=int, default=_DEFAULT.max_new_tokens)
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


def _port(value: str) -> int:
    """A port's number, for argparse."""
    if not (value.isdecimal() and len(value) < 6 and int(value) < 1 << 16):
        raise argparse.ArgumentTypeError(f"{value!r} is no port; choose a number up to 65535")
    return int(value)


def check_port(host: str, port: int) -> None:
    """Raise UserError if the page cannot be served there: before a model is loaded for it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UserError(
                f"Port {port} of {host} cannot be had ({error.strerror}); choose one with --port."
            ) from error


def _plain(text: str) -> str:
    """Text from a command line, bytes that are no text replaced."""
    return text.encode("utf-8", "replace").decode()


def request_of(args: argparse.Namespace) -> Request:
    """The race asked for. Raises UserError, before any model is loaded, if it cannot be run."""
    return Request(
        prompt=_plain(args.prompt),
        lanes=tuple(lane.strip() for lane in args.lanes.split(",") if lane.strip()),
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
    if args.record is not None:
        events = _recorded(events, args.record, _plain(args.title))
    _report(request.lanes, list(_watched(events)))


def _watched(events: Iterator[Event]) -> Iterator[Event]:
    """The same events; a line on standard error as each lane ends, since a race takes time."""
    for event in events:
        if isinstance(event, Finish):
            print(f"{event.lane} has finished.", file=sys.stderr, flush=True)
        yield event


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


def _report(lanes: Sequence[str], events: Sequence[Event]) -> None:
    """Each lane's text, then its figures, on standard output."""
    ends = {event.lane: event for event in events if isinstance(event, Finish)}
    for lane in lanes:
        print(f"── {lane} ──")
        texts = halves(events, lane)
        if "reasoning" in texts:
            closed = [event.by for event in events if _closes(event, lane)]
            by = f"closed by the {closed[0]}" if closed else "not closed"
            print(f"[thinking, {by}]\n{texts['reasoning'].strip()}\n\n[answer]")
        print(f"{texts['answer']}\n")
        print(_figures(ends[lane]))
        for check in (event for event in events if isinstance(event, Check)):
            if check.lane == lane:
                print(f"The answer is {'right' if check.right else 'wrong'}: {check.reason}")
        print()
    for verdict in (event for event in events if isinstance(event, Compare) and event.complete):
        print(f"{verdict.lane}: {_verdict(verdict)}")


def _closes(event: Event, lane: str) -> TypeGuard[Phase]:
    return isinstance(event, Phase) and event.lane == lane and event.phase == "answer"


def _figures(finish: Finish) -> str:
    """One line on how much a lane wrote, in how much time, and what its drafts were worth."""
    totals = finish.totals
    line = (
        f"{totals['tokens']:.0f} tokens, {totals['forwards']:.0f} forwards, "
        f"{totals['seconds']:.2f} s, ended by {finish.reason}."
    )
    if totals.get("drafts"):
        line += (
            f" {totals['drafts']:.0f} drafts of the answer: {totals['prefix_tokens']:.0f} tokens "
            f"reused as its beginning, {totals['suffix_tokens']:.0f} recovered."
        )
    return " ".join(part for part in (line, _NOTES.get(finish.note, ""), finish.message) if part)


_NOTES = {
    "no-thinking": "It did not think, so there was nothing to draft during.",
    "no-answer": "It ended before an answer began.",
    "short-thinking": "The thinking ended before a draft was opened.",
    "short-answer": "The answer was too short for a draft to help.",
    "early-difference": "The draft differed almost from its first token.",
}


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
