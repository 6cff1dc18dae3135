"""The controls: prompt, examples, settings, Race and Stop. What they do is wired in page.py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import gradio as gr

from ui.service import CAPACITIES
from ui.words import dictionary

_EN = dictionary("en")
LONGEST_PROMPT = 20_000  # characters; the service counts tokens


@dataclass(frozen=True)
class Controls:
    """The components that the page wires together; load and spec only where allowed."""

    prompt: gr.Textbox
    race: gr.Button
    stop: gr.Button
    examples: gr.HTML
    more: gr.Button
    lanes: gr.CheckboxGroup
    length: gr.Slider
    temperature: gr.Slider
    top_p: gr.Slider
    top_k: gr.Number
    seed: gr.Number
    capacity: gr.Dropdown
    spec: gr.Textbox | None
    load: gr.Button | None

    def settings(self) -> list[Any]:
        """Inputs of the race, in its arguments' order."""
        return [
            self.prompt,
            self.lanes,
            self.length,
            self.temperature,
            self.top_p,
            self.top_k,
            self.seed,
            self.capacity,
        ]

    def labelled(self) -> tuple[list[Any], str]:
        """Components with words on them and, as JSON, which words: property to key."""
        lanes = {"prefix": "lane.", "values": [choice[1] for choice in self.lanes.choices]}
        sizes = {"prefix": "capacity.", "values": list(CAPACITIES)}
        words: list[tuple[Any, dict[str, Any]]] = [
            (self.prompt, {"placeholder": "prompt.placeholder", "label": "prompt.label"}),
            (self.race, {"value": "race"}),
            (self.stop, {"value": "stop"}),
            (self.more, {"value": "settings"}),
            (self.lanes, {"label": "lanes", "choices": lanes}),
            (self.length, {"label": "length", "info": "length.info"}),
            (self.temperature, {"label": "temperature", "info": "temperature.info"}),
            (self.top_p, {"label": "top_p", "info": "top_p.info"}),
            (self.top_k, {"label": "top_k", "info": "top_k.info"}),
            (self.seed, {"label": "seed", "info": "seed.info"}),
            (self.capacity, {"label": "capacity", "info": "capacity.info", "choices": sizes}),
        ]
        if self.spec is not None and self.load is not None:
            words.append((self.spec, {"label": "model", "info": "model.info"}))
            words.append((self.load, {"value": "load"}))
        return [component for component, _ in words], json.dumps([keys for _, keys in words])

    def limits(self, about: dict[str, Any]) -> list[Any]:
        """Updates of lanes and answer length after another model was loaded."""
        longest = max(2, int(about["max_new_tokens"]))
        return [
            gr.update(choices=lane_choices(about["lanes"]), value=about["default_lanes"]),
            gr.update(maximum=longest, value=min(int(about["default_new_tokens"]), longest)),
        ]


def lane_choices(lanes: list[str]) -> list[tuple[str, str]]:
    """Lane names and keys; a lane without a name in the dictionary shows its key."""
    return [(_EN.get(f"lane.{key}", key), key) for key in lanes]


def build_controls(about: dict[str, Any], public: bool) -> Controls:
    """Lay the controls out; called inside the page's Blocks."""
    with gr.Row(elem_id="slip-ask", equal_height=True):
        prompt = gr.Textbox(
            label=_EN["prompt.label"],
            placeholder=_EN["prompt.placeholder"],
            lines=1,
            max_lines=6,
            max_length=LONGEST_PROMPT,
            show_label=False,
            container=False,
            scale=1,
            elem_id="slip-prompt",
        )
        race = gr.Button(_EN["race"], variant="primary", elem_id="slip-race", scale=0)
        stop = gr.Button(_EN["stop"], elem_id="slip-stop", scale=0)
    with gr.Row(elem_id="slip-tools"):
        examples = gr.HTML(
            value="",
            html_template='<div class="slip-root"></div>',
            js_on_load="Slipstream.page.examples(element, trigger)",
            apply_default_css=False,
            elem_id="slip-examples",
        )
        more = gr.Button(_EN["settings"], size="sm", scale=0, elem_id="slip-more")
    with gr.Column(elem_id="slip-settings"):
        parts = _settings(about)
        spec, load = (None, None) if public else _model()
    return Controls(prompt, race, stop, examples, more, **parts, spec=spec, load=load)


def _settings(about: dict[str, Any]) -> dict[str, Any]:
    lanes = gr.CheckboxGroup(
        choices=lane_choices(about["lanes"]),
        value=about["default_lanes"],
        label=_EN["lanes"],
        elem_id="slip-lanes",
    )
    longest = max(2, int(about["max_new_tokens"]))  # a slider needs somewhere to go
    with gr.Row():
        length = gr.Slider(
            1,
            longest,
            value=min(int(about["default_new_tokens"]), longest),
            step=1,
            label=_EN["length"],
            info=_EN["length.info"],
        )
        temperature = gr.Slider(
            0, 2, value=0, step=0.05, label=_EN["temperature"], info=_EN["temperature.info"]
        )
        top_p = gr.Slider(0.05, 1, value=1, step=0.01, label=_EN["top_p"], info=_EN["top_p.info"])
    with gr.Row():
        top_k = gr.Number(0, precision=0, minimum=0, label=_EN["top_k"], info=_EN["top_k.info"])
        seed = gr.Number(0, precision=0, minimum=0, label=_EN["seed"], info=_EN["seed.info"])
        capacity = gr.Dropdown(
            choices=[(_EN.get(f"capacity.{size}", size), size) for size in CAPACITIES],
            value="auto",
            label=_EN["capacity"],
            info=_EN["capacity.info"],
        )
    return {
        "lanes": lanes,
        "length": length,
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "seed": seed,
        "capacity": capacity,
    }


def _model() -> tuple[gr.Textbox, gr.Button]:
    with gr.Row(equal_height=True, elem_id="slip-model"):
        spec = gr.Textbox(label=_EN["model"], info=_EN["model.info"], max_length=500, scale=1)
        load = gr.Button(_EN["load"], scale=0, elem_id="slip-load")
    return spec, load
