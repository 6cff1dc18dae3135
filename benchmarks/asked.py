"""The arguments that benchmarks of races share, and the race they ask for."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UserError

if TYPE_CHECKING:
    from slipstream import Request


def add_race(
    parser: argparse.ArgumentParser,
    *,
    name: str,
    questions: str,
    tokens: int,
    limit: int = 6,
    required: bool = True,
) -> None:
    """Add them. name: of the result files; questions: what they are, and whether they must
    be given; tokens, limit: how many by default.
    """  # noqa: D205
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--questions", type=Path, required=required, help=questions)
    parser.add_argument("--limit", type=positive, default=limit, help="questions a set")
    parser.add_argument("--max-new-tokens", type=int, default=tokens, help="of the answer")
    parser.add_argument("--capacity", default="auto")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--top-p", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, default=Path(f"results/{name}.json"))


def positive(text: str) -> int:
    """A whole number above zero, as a type for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is too small; choose 1 or more")
    return number


def named(given: str, known: Iterable[str], what: str) -> tuple[str, ...]:
    """The names in a list with commas. Raises UserError for one that is not known."""
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    known = tuple(known)
    for name in names:
        if name not in known:
            raise UserError(f"There is no {what} {name!r}; choose from {', '.join(known)}.")
    return names


def race_of(
    args: argparse.Namespace, prompt: str, lanes: tuple[str, ...], **thinking: Any
) -> Request:
    """The race on one prompt, held to the bounds; `thinking`: further fields of the request.

    Raises UserError for what cannot be run, so it is made before a model is loaded.
    """
    from slipstream.request import Bounds, Request  # `--help` needs no torch

    request = Request(
        prompt,
        lanes=lanes,
        max_new_tokens=args.max_new_tokens,
        temperature=args.temperature,
        top_p=args.top_p,
        seed=args.seed,
        capacity=args.capacity,
        **thinking,
    )
    return request.checked(Bounds())
