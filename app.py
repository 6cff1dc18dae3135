"""Slipstream: arguments → settings → load → build page → launch."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

try:  # On a ZeroGPU Space this must come before anything that touches CUDA.
    import spaces
except ImportError:
    spaces = None

from engine.errors import ModelError, UserError
from slipstream.cli import arguments, check_port, fail, headless, request_of
from slipstream.model import Model, load
from slipstream.request import Bounds
from slipstream.service import PageService

HERE = Path(__file__).parent
log = logging.getLogger("slipstream")


def _model(args: object) -> Model:
    return load(args.model, device=args.device, dtype=args.dtype, progress=log.info)  # type: ignore[attr-defined]


def main(given: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit status."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    args = arguments(given)
    try:
        if args.fetch:
            load("embedded", progress=log.info)
            return 0
        if args.prompt is not None:
            asked = request_of(args)
            headless(_model(args), asked, args)
            return 0
        check_port(args.host, args.port)
        model: Model | None = _model(args)
    except UserError as error:
        if not isinstance(error, ModelError) or args.model != "auto" or args.prompt or args.fetch:
            return fail(error)
        # The page still has its recording to show.
        log.warning("%s", error)
        model = None
    serve(args, model)
    return 0


def serve(args: object, model: Model | None) -> None:
    """Build the page on `model` and serve it until interrupted."""
    from ui.page import build_page, launch_options

    service = PageService(
        model,
        public="SPACE_ID" in os.environ,
        bounds=Bounds.from_environment(),
        device=args.device,  # type: ignore[attr-defined]
        dtype=args.dtype,  # type: ignore[attr-defined]
    )
    if spaces is not None:
        service.wrap(spaces.GPU(duration=60))
    page = build_page(service, HERE / "assets" / "recordings")
    page.queue(max_size=16, default_concurrency_limit=1)
    log.info("The page is on http://%s:%d", args.host, args.port)  # type: ignore[attr-defined]
    page.launch(server_name=args.host, server_port=args.port, **launch_options())  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
