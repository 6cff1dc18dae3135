"""The page: its layout and its wiring. Everything it shows of a run is drawn by the player.

Prompt, model and error text reach the browser only as JSON text in the value of one
component with a static template; the scripts put it on the page with `textContent`.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from engine.errors import UserError
from engine.events import Event
from ui.controls import Controls, build_controls
from ui.early import EarlyScript
from ui.recordings import newest
from ui.service import RaceRequest, Service
from ui.stream import SOMETHING_FAILED, batches, recorded, wire
from ui.theme import page_theme
from ui.words import dictionary, head

HZ = 10.0  # batches a second: smooth to read, and every frame drawn costs the lanes a little

_log = logging.getLogger(__name__)


def launch_options() -> dict[str, Any]:
    """Keyword arguments for `launch()` that belong to this page."""
    return {
        "theme": page_theme(),
        "head": head(),
        "footer_links": [],
        "run_history": False,
        "ssr_mode": False,
        "show_error": False,
        "app_kwargs": {"middleware": [Middleware(EarlyScript)]},
        "quiet": True,
    }


def build_page(service: Service, recordings: Path) -> gr.Blocks:
    """The page for one service; `recordings` holds the bundled *.jsonl, or nothing."""
    about = service.describe()
    page: gr.Blocks
    with gr.Blocks(title="Slipstream", analytics_enabled=False, fill_width=True) as page:
        header = _drawn("slip-header", "header")
        controls = build_controls(about, service.public)
        view = _drawn("slip-view", "view")
        _wire_language(page, header, controls)
        _wire_race(service, controls, view)
        _wire_load(service, controls, view)
        page.load(
            lambda: wire(_hello(service, recordings)),
            outputs=[view],
            show_progress="hidden",
            api_visibility="private",
            queue=False,
        )
    return page


def _drawn(elem_id: str, part: str) -> gr.HTML:
    """An empty component that a script of ours draws into."""
    return gr.HTML(
        value="",
        html_template='<div class="slip-root"></div>',
        js_on_load=f"Slipstream.page.{part}(element, trigger, props, watch)",
        apply_default_css=False,
        elem_id=elem_id,
    )


def _hello(service: Service, recordings: Path) -> dict[str, Any]:
    """What a page needs to know when it opens."""
    events = newest(recordings)
    return {
        "kind": "hello",
        "service": {**service.describe(), "public": service.public},
        "recording": recorded(events) if events else None,
    }


def _wire_language(page: gr.Blocks, header: gr.HTML, controls: Controls) -> None:
    """Labels of the controls follow the language; the browser does it alone."""
    components, keys = controls.labelled()
    relabel = f"() => Slipstream.page.labels({keys})"
    page.load(
        None, outputs=components, js=relabel, show_progress="hidden", api_visibility="private"
    )
    header.select(
        None, outputs=components, js=relabel, show_progress="hidden", api_visibility="private"
    )
    controls.more.click(
        None,
        js="() => Slipstream.page.settings()",
        show_progress="hidden",
        api_visibility="private",
    )
    controls.examples.select(
        None,
        outputs=[controls.prompt],
        js="() => Slipstream.page.chosenPrompt()",
        show_progress="hidden",
        api_visibility="private",
    )


def _wire_race(service: Service, controls: Controls, view: gr.HTML) -> None:
    """Race, Stop, and Enter in the prompt."""

    def race(
        prompt: str,
        lanes: list[str],
        max_new_tokens: float,
        temperature: float,
        top_p: float,
        top_k: float,
        seed: float,
        capacity: str,
    ) -> Generator[str, None, None]:
        """Race the lanes on one prompt; each item is a batch of events, as JSON text."""
        yield wire({"kind": "started"})
        request = RaceRequest(
            prompt=prompt or "",
            lanes=tuple(lanes or ()),
            max_new_tokens=int(max_new_tokens or 0),
            temperature=float(temperature or 0.0),
            top_p=float(top_p if top_p is not None else 1.0),
            top_k=int(top_k or 0),
            seed=int(seed or 0),
            capacity=str(capacity or "auto"),
        )
        with closing(batches(_events(service, request), HZ)) as stream:
            for batch in stream:
                yield wire({"kind": "batch", **batch})

    racing = gr.on(
        [controls.race.click, controls.prompt.submit],
        race,
        inputs=controls.settings(),
        outputs=[view],
        js="(...settings) => Slipstream.page.asked(settings)",
        show_progress="hidden",
        concurrency_id="machine",
        concurrency_limit=1,
        trigger_mode="once",
        api_name="race",
    )
    racing.then(None, js="() => Slipstream.page.ended()", api_visibility="private")
    controls.stop.click(
        None,
        cancels=[racing],
        js="() => Slipstream.page.stopped()",
        show_progress="hidden",
        queue=False,
        api_visibility="private",
    )


def _events(service: Service, request: RaceRequest) -> Iterator[Event]:
    """The service's events; what the page itself can refuse, it refuses in a sentence."""
    if not service.describe()["loaded"]:
        raise UserError(dictionary("en")["error.no_model"])
    if not request.prompt.strip():
        raise UserError(dictionary("en")["error.no_prompt"])
    if not request.lanes:
        raise UserError(dictionary("en")["error.no_lanes"])
    yield from service.race(request)


def _wire_load(service: Service, controls: Controls, view: gr.HTML) -> None:
    """Load another model, where visitors may."""
    if controls.load is None or controls.spec is None:
        return

    def load(spec: str) -> list[Any]:
        try:
            sentence, failed = service.load(spec.strip()), False
        except UserError as refusal:
            sentence, failed = str(refusal), True
        except Exception:  # noqa: BLE001 (whatever breaks, the page stays and says so)
            _log.exception("a model could not be loaded")
            sentence, failed = SOMETHING_FAILED, True
        about = {**service.describe(), "public": service.public}
        told = {"kind": "loaded", "service": about, "sentence": sentence, "failed": failed}
        return [wire(told), *controls.limits(about)]

    controls.load.click(
        load,
        inputs=[controls.spec],
        outputs=[view, controls.lanes, controls.length],
        js="(spec) => Slipstream.page.loading(spec)",
        show_progress="hidden",
        concurrency_id="machine",
        concurrency_limit=1,
        api_visibility="private",
    )
