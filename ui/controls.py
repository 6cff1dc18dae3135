"""The controls: prompt, examples, settings, Race and Stop. What they do is wired in page.py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import gradio as gr

from ui.service import CAPACITIES, LONGEST_PROMPT, THINK
from ui.words import dictionary

_EN = dictionary("en")
MOST_THINKING = 4096  # tokens, where the service does not say

PRESETS = {
    "small": (400, 64, 64, 256),
    "paper": (2000, 500, 0, 500),
    "again": (2000, 750, 750, 500),
}
"""Thinking budget, draft after, again every, draft length."""


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
    think: gr.Radio
    thinking_budget: gr.Slider
    draft_at: gr.Slider
    draft_every: gr.Slider
    draft_length: gr.Slider
    thinking: gr.HTML
    presets: dict[str, gr.Button]
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
            self.think,
            *self.drafting(),
        ]

    def drafting(self) -> list[gr.Slider]:
        """What a preset sets, in the order of PRESETS."""
        return [self.thinking_budget, self.draft_at, self.draft_every, self.draft_length]

    def limited(self) -> list[Any]:
        """What depends on the model, in the order of `limits`."""
        return [self.lanes, self.length, self.thinking_budget]

    def labelled(self) -> tuple[list[Any], str]:
        """Components with words on them and, as JSON, which words: property to key."""
        lanes = {"prefix": "lane.", "values": [choice[1] for choice in self.lanes.choices]}
        sizes = {"prefix": "capacity.", "values": list(CAPACITIES)}
        think = {"prefix": "think.", "values": list(THINK)}
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
            (self.think, {"label": "think", "info": "think.info", "choices": think}),
            *(
                (getattr(self, name), {"label": name, "info": f"{name}.info"})
                for name in ("thinking_budget", "draft_at", "draft_every", "draft_length")
            ),
            *((button, {"value": f"preset.{name}"}) for name, button in self.presets.items()),
        ]
        if self.spec is not None and self.load is not None:
            words.append((self.spec, {"label": "model", "info": "model.info"}))
            words.append((self.load, {"value": "load"}))
        return [component for component, _ in words], json.dumps([keys for _, keys in words])

    def limits(self, about: dict[str, Any]) -> list[Any]:
        """Updates after another model was loaded; names of lanes are the browser's to give."""
        longest, deepest = max(2, int(about["max_new_tokens"])), most_thinking(about)
        return [
            gr.update(value=about["default_lanes"]),
            gr.update(maximum=longest, value=min(int(about["default_new_tokens"]), longest)),
            gr.update(maximum=deepest, value=default_budget(about)),
        ]


def most_thinking(about: dict[str, Any]) -> int:
    """Tokens of thinking at most; a slider needs somewhere to go."""
    return max(2, int(about.get("max_thinking", MOST_THINKING)))


def default_budget(about: dict[str, Any]) -> int:
    """Tokens of thinking, unless the visitor asks for others."""
    asked = about.get("default_thinking_budget", PRESETS["small"][0])
    return min(int(asked), most_thinking(about))


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
        parts = {**_settings(about), **_thinking(about)}
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
        top_k = gr.Number(0, label=_EN["top_k"], info=_EN["top_k.info"])
        seed = gr.Number(0, label=_EN["seed"], info=_EN["seed.info"])
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


def _thinking(about: dict[str, Any]) -> dict[str, Any]:
    """Whether and how long to think first, and when to draft the answer meanwhile."""
    budget, at, every, length = default_budget(about), *PRESETS["small"][1:]
    with gr.Column(elem_id="slip-thinking"):
        with gr.Row(elem_id="slip-presets"):
            heading = gr.HTML(
                value="",
                html_template='<div class="slip-root"></div>',
                js_on_load="Slipstream.page.thinking(element)",
                apply_default_css=False,
                elem_id="slip-thinking-head",
            )
            presets = {
                name: gr.Button(_EN[f"preset.{name}"], size="sm", elem_id=f"preset-{name}")
                for name in PRESETS
            }
        think = gr.Radio(
            choices=[(_EN[f"think.{value}"], value) for value in THINK],
            value="auto",
            label=_EN["think"],
            info=_EN["think.info"],
            elem_id="slip-think",
        )
        with gr.Row():
            sliders = {
                "thinking_budget": _slider("thinking_budget", 1, most_thinking(about), budget),
                "draft_at": _slider("draft_at", 1, 2000, at),
                "draft_every": _slider("draft_every", 0, 2000, every),
                "draft_length": _slider("draft_length", 1, 1000, length),
            }
    return {"think": think, **sliders, "thinking": heading, "presets": presets}


def _slider(name: str, least: int, most: int, value: int) -> gr.Slider:
    return gr.Slider(least, most, value=value, step=1, label=_EN[name], info=_EN[f"{name}.info"])


def _model() -> tuple[gr.Textbox, gr.Button]:
    with gr.Row(equal_height=True, elem_id="slip-model"):
        spec = gr.Textbox(label=_EN["model"], info=_EN["model.info"], max_length=500, scale=1)
        load = gr.Button(_EN["load"], scale=0, elem_id="slip-load")
    return spec, load
