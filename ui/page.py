"""The page: its layout and its wiring. Everything it shows of a run is drawn by the player.

Prompt, model and error text reach the browser only as JSON text in the value of one
component with a static template; the scripts put it on the page with `textContent`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import fields
from itertools import count
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from engine.errors import UserError
from engine.events import Event, Unreadable
from ui.asked import asked
from ui.controls import PRESETS, Controls, build_controls
from ui.early import EarlyScript
from ui.export import shell
from ui.files import Files
from ui.recordings import first, gallery, opened
from ui.service import RaceRequest, Service
from ui.stream import SOMETHING_FAILED, Kept, batches, recorded, wire
from ui.theme import page_theme
from ui.words import dictionary, head

SETTINGS = tuple(field.name for field in fields(RaceRequest))
REST = 0.03  # seconds behind each batch in which, on a CPU, it is drawn and no forward runs
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
        "app_kwargs": {"middleware": [Middleware(Files), Middleware(EarlyScript)]},
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
        _wire_presets(controls)
        _wire_race(service, recordings, controls, view)
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


def _about(service: Service) -> dict[str, Any]:
    """What the page says of the machine."""
    return {**service.describe(), "public": service.public}


def _hello(service: Service, recordings: Path) -> dict[str, Any]:
    """What a page needs to know when it opens."""
    entries = gallery(recordings)
    found = first(recordings, entries)
    return {
        "kind": "hello",
        "service": _about(service),
        "gallery": entries,
        "recording": recorded(found[1], found[0]) if found else None,
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


def _wire_presets(controls: Controls) -> None:
    """Buttons that set the sliders of thinking and drafting; the browser does it alone."""
    for name, values in PRESETS.items():
        controls.presets[name].click(
            None,
            outputs=controls.drafting(),
            js=f"() => {json.dumps(list(values))}",
            show_progress="hidden",
            api_visibility="private",
        )


def _wire_race(service: Service, recordings: Path, controls: Controls, view: gr.HTML) -> None:
    """Race, Stop, Enter in the prompt, and what the player asks for."""
    kept = Kept()

    def race(
        prompt: str,
        lanes: list[str],
        max_new_tokens: float,
        temperature: float,
        top_p: float,
        top_k: float,
        seed: float,
        capacity: str,
        think: str,
        thinking_budget: float,
        draft_at: float,
        draft_every: float,
        draft_length: float,
        visitor: gr.Request,
    ) -> Generator[str, None, None]:
        """Race the lanes on one prompt; each item is a batch of events, as JSON text."""
        given = locals()
        sent = {name: given[name] for name in SETTINGS}
        # What is loaded may have changed since this page was opened.
        about = _about(service)
        yield wire({"kind": "started", "service": about})
        rest = REST if about["device"] == "cpu" else 0.0
        run = kept.begin(str(visitor.session_hash))
        with closing(batches(_events(service, sent), HZ, sent=run, rest=rest)) as stream:
            for batch in stream:
                yield wire({"kind": "batch", **batch})

    def missing(asked_for: str, visitor: gr.Request) -> str:
        """What a page asks for: a recording, an empty exported page, or events it has lost."""
        wanted = json.loads(asked_for)
        if "open" in wanted:
            return wire({**_recording(recordings, str(wanted["open"])), "n": wanted.get("n")})
        if "shell" in wanted:
            return wire({"kind": "shell", "html": shell(), "n": wanted.get("n")})
        # Events of the visitor's own run only.
        again = kept.since(str(visitor.session_hash), str(wanted["run"]), int(wanted["have"]))
        return wire({"kind": "batch", **again})

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
        preprocess=False,  # see ui/asked.py
        api_name="race",
    )
    # Gradio tells a queue that is full, and whatever else it refuses itself, to `failure` alone.
    racing.then(None, js="() => Slipstream.page.ended()", api_visibility="private")
    racing.failure(
        None, js='() => Slipstream.page.ended("error.untaken")', api_visibility="private"
    )
    controls.stop.click(
        None,
        cancels=[racing],
        js="() => Slipstream.page.stopped()",
        show_progress="hidden",
        queue=False,
        api_visibility="private",
    )
    view.input(
        None,
        js="() => Slipstream.page.answered()",  # see connection.js
        show_progress="hidden",
        api_visibility="private",
    )
    view.select(
        missing,
        inputs=[view],
        outputs=[view],
        js="() => Slipstream.page.missing()",
        show_progress="hidden",
        queue=False,
        trigger_mode="multiple",  # "once" drops what is asked for before the last answer came
        api_visibility="private",
    )


def _recording(recordings: Path, name: str) -> dict[str, Any]:
    """A recording of the gallery, or the sentence that says why it cannot be had."""
    try:
        meta, events = opened(recordings, name)
    except Unreadable as error:
        _log.warning("%s", error)
        return {"kind": "unopened", "sentence": str(error)}
    return {"kind": "recording", "events": events, "meta": meta}


def _events(service: Service, sent: dict[str, Any]) -> Iterator[Event]:
    """The service's events; what the page itself can refuse, it refuses in a sentence."""
    if not service.describe()["loaded"]:
        raise UserError(dictionary("en")["error.no_model"])
    yield from service.race(asked(sent))


def _wire_load(service: Service, controls: Controls, view: gr.HTML) -> None:
    """Load another model, where visitors may."""
    if controls.load is None or controls.spec is None:
        return
    attempts = count(1)

    def load(spec: str) -> list[Any]:
        try:
            sentence, failed = service.load(spec.strip()), False
        except UserError as refusal:
            sentence, failed = str(refusal), True
        except Exception:  # noqa: BLE001 (whatever breaks, the page stays and says so)
            _log.exception("a model could not be loaded")
            sentence, failed = SOMETHING_FAILED, True
        about = _about(service)
        told = {"kind": "loaded", "service": about, "sentence": sentence, "failed": failed}
        # What is still loaded has no other limits: the visitor's settings stay.
        limits = [gr.skip() for _ in controls.limited()] if failed else controls.limits(about)
        # Numbered, so that the page sees the same refusal twice.
        return [wire({**told, "attempt": next(attempts)}), *limits]

    loading = controls.load.click(
        load,
        inputs=[controls.spec],
        outputs=[view, *controls.limited()],
        js="(spec) => Slipstream.page.loading(spec)",
        show_progress="hidden",
        concurrency_id="machine",
        concurrency_limit=1,
        api_visibility="private",
    )
    loading.failure(None, js="() => Slipstream.page.unloaded()", api_visibility="private")
