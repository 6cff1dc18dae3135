"""`python -m benchmarks speed …`, `… reasoning …`, `… gpu …`, `… drafting`, `… forward`."""

from __future__ import annotations

import argparse
import logging
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.asked import add_race, positive
from engine.errors import UserError


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed", help="lanes against each other and against transformers")
    add_race(speed, name="speed", questions="folder with the sets", tokens=128)
    speed.add_argument("--sets", default="", help="file stems, comma-separated (default: all)")
    speed.add_argument("--lanes", default="vanilla,racer")
    speed.add_argument("--peers", default="", help="hf-generate, hf-prompt-lookup")
    speed.add_argument("--context", type=int, default=0, help="pad prompts to this many tokens")
    _reasoning(commands.add_parser("reasoning", help="what drafting while thinking saves"))
    gpu = commands.add_parser("gpu", help="one script for a CUDA machine without network")
    gpu.add_argument("--model", default="", help="a model folder; none: random weights")
    gpu.add_argument("--shape", default="qwen3-1.7b", help="shape of the random weights")
    gpu.add_argument("--device", default="cuda")
    gpu.add_argument("--dtype", default="bfloat16")
    gpu.add_argument("--max-new-tokens", type=positive, default=256)
    gpu.add_argument("--json", type=Path, default=Path("results/gpu.json"))
    drafting = commands.add_parser("drafting", help="cost of drafting, mask and learning a step")
    drafting.add_argument("--capacity", type=positive, default=32)
    drafting.add_argument("--paper", action="store_true", help="the paper's breadths")
    drafting.add_argument("--json", type=Path, default=Path("results/drafting.json"))
    forward = commands.add_parser("forward", help="cost of a forward, as loaded and packed")
    forward.add_argument("--model", default="embedded")
    forward.add_argument("--device", default="auto")
    forward.add_argument("--dtype", default="auto")
    forward.add_argument("--json", type=Path, default=Path("results/forward.json"))
    return parser.parse_args()


def _reasoning(parser: argparse.ArgumentParser) -> None:
    add_race(
        parser,
        name="reasoning",
        questions="a file of questions (default: fresh prompts of the embedded model's tasks)",
        tokens=320,
        limit=40,
        required=False,
    )
    parser.add_argument("--lanes", default="vanilla,racer,ssr,racer+ssr")
    parser.add_argument("--thinking-budget", type=int, default=400)
    parser.add_argument("--draft-at", type=int, default=64)
    parser.add_argument("--draft-every", type=int, default=64, help="0: one draft")
    parser.add_argument("--draft-length", type=int, default=256)
    parser.add_argument("--ablation", action="store_true", help="prefix, suffix; iterative")
    parser.add_argument("--sweep", default="", help="draft-point, budget")
    parser.add_argument("--resume", action="store_true", help="keep what was measured before")
    parser.add_argument("--figure", type=Path, default=Path("results/reasoning.html"))


def main() -> int:
    """Run one benchmark; returns the exit status."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    args = _arguments()
    try:
        # Imported here, so that `--help` needs no torch; slipstream first, which sets
        # how torch's threads wait.
        import_module("slipstream")
        import_module(f"benchmarks.{args.command}").run(args)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
