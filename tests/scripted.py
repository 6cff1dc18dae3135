"""A service with no model: plausible events from a known text, for tests and for a look.

Run it to look at the page: python -m tests.scripted --port 7861 --pace 1
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import UserError
from engine.events import Compare, Event, Finish, Prefill, Run, Step, Tree
from ui.service import RaceRequest

ENGLISH = """Here is a Python class for a parcel.

```python
class Parcel:
    \"\"\"A parcel with a name, a weight and a price.\"\"\"

    def __init__(self, name: str, weight: float, price: float):
        self.name = name
        self.weight = weight
        self.price = price

    def describe(self) -> str:
        \"\"\"Describe the parcel in one line.\"\"\"
        return f"{self.name}: {self.weight} kg, {self.price} euros"
```

The class has three fields, a name, a weight and a price, and one method, describe,
which returns the name, the weight and the price of the parcel in one line.
"""

KOREAN = """서울은 대한민국의 수도이며, 한강이 도시를 가로질러 흐릅니다. 👩‍💻 궁궐과 높은 건물이 \
함께 있고 👍🏽,\
 골목마다 맛있는 음식이 있습니다. 봄에는 벚꽃이 피고 가을에는 하늘이 높습니다 🇰🇷.
"""

HOSTILE = """<img src=x onerror="window.hacked=1"> <script>window.hacked=2</script> \
${window.hacked=3} {{constructor.constructor('window.hacked=4')()}} <b>bold</b> &lt;i&gt; \
[x](javascript:window.hacked=5)
\u202eright to left\u202c \u0007 `code` $a^2$ </span></div></script> end.
"""


def tokenize(text: str) -> list[str]:
    """Pieces that joined are the text. Some are empty, as when a character spans several tokens;
    a whole tag is one piece, which is what a page must not fall for.
    """
    pieces: list[str] = []
    for word in re.findall(r"<[^<>]*>| ?[A-Za-z]{1,7}|\s+|[\uac00-\ud7af]{1,2}|.", text, re.DOTALL):
        if "\uac00" <= word[0] <= "\ud7af" and len(pieces) % 5 == 0:
            pieces.append("")
        pieces.append(word)
    return pieces


@dataclass
class Script:
    """What the lanes write and how; every lane writes the same unless told otherwise."""

    text: str = ENGLISH
    forward: float = 0.055
    tree_forward: float = 0.072
    nodes: int = 24
    prompt_tokens: int = 96
    prompt_pieces: int = 3
    reason: str = "eos"
    break_after: int | None = None  # events after which the service breaks
    break_with: Exception = field(default_factory=lambda: RuntimeError("secret path /root/x"))
    refuse: str = ""
    differs: tuple[str, int, bool] | None = None  # lane, token, whether it is a tie
    thinking: int = 0  # tokens of reasoning before the answer
    agree: float = 0.72
    pace: float = 0.0  # 1: as slow as the lane times say


class Lane:
    """One scripted lane: where its clock is and what it writes next."""

    def __init__(self, key: str, script: Script, pieces: list[str], limit: int, seed: int) -> None:
        self.key, self.script = key, script
        self.pieces = list(pieces[:limit])
        self.reason = script.reason if limit >= len(pieces) else "length"
        self.random = random.Random(f"{key}{seed}")
        self.clock, self.written, self.index, self.read = 0.0, 0, 0, 0
        self.drafted = self.accepted = 0
        self.prefill_seconds = self.draft_seconds = 0.0
        if script.differs and script.differs[0] == key:
            at = script.differs[1]
            self.pieces[at] = " other"

    @property
    def done(self) -> bool:
        return self.written >= len(self.pieces)

    def advance(self) -> Prefill | Step:
        if self.read < self.script.prompt_pieces:
            return self._read()
        return self._step()

    def _read(self) -> Prefill:
        script = self.script
        self.read += 1
        self.clock += 0.03 * script.prompt_tokens / 96 * (1.2 if self.key != "vanilla" else 1)
        self.prefill_seconds = self.clock
        done = script.prompt_tokens * self.read // script.prompt_pieces
        return Prefill(self.key, script.prompt_tokens, done, self.clock)

    def _step(self) -> Step:
        script, start = self.script, self.clock
        drafts = self.key != "vanilla" and self.index > 0
        tree, accepted = self._tree() if drafts else (None, 0)
        size = min(accepted + 1, len(self.pieces) - self.written)
        accepted = min(accepted, size)
        new = self.pieces[self.written : self.written + size]
        sources = (
            [*[tree.sources[i] for i in tree.path[1 : accepted + 1]], "target"] if tree else []
        )
        sources = sources[:size] if tree else ["target"]
        drafted = len(tree.parents) - 1 if tree else 0
        jitter = 1 + self.random.uniform(-0.06, 0.06)
        forward = (
            0.0
            if self.index == 0
            else jitter * (script.tree_forward if drafted else script.forward)
        )
        draft = 0.0004 * bool(drafted)
        step = Step(
            self.key, self.index, "reasoning" if self.written < script.thinking else "answer",
            start, forward + draft + 0.0002, draft, forward, 0.0002,
            tuple(number(piece) for piece in new), tuple(new), tuple(sources),
            drafted, accepted, tree if drafted else None,
        )  # fmt: skip
        self.clock += step.seconds
        self.written += size
        self.index += 1
        self.drafted += drafted
        self.accepted += accepted
        self.draft_seconds += draft
        return step

    def _tree(self) -> tuple[Tree | None, int]:
        """A tree holding the next few right tokens among wrong ones."""
        chance, room = self.random, self.script.nodes
        if chance.random() < 0.06:
            return None, 0
        right = 0
        ahead = self.pieces[self.written :]
        while right < min(6, len(ahead) - 1, room) and chance.random() < self.script.agree:
            right += 1
        rows: list[tuple[str, int, str, int, int]] = [
            (self.pieces[self.written - 1], -1, "target", 0, 0)
        ]
        path, at = [0], 0
        for depth in range(right):
            rows.append(
                (ahead[depth], at, self._source(), chance.randrange(3), chance.randrange(9))
            )
            at = len(rows) - 1
            path.append(at)
        taken = {(row[1], row[0]) for row in rows} | {
            (at, ahead[right] if right < len(ahead) else "")
        }
        while len(rows) <= room:
            parent = chance.choice([*path, *range(len(rows))])
            piece = chance.choice(self.pieces)
            if (parent, piece) in taken or piece == "":
                piece = f" w{len(rows)}"
            taken.add((parent, piece))
            rows.append((piece, parent, self._source(), chance.randrange(8), chance.randrange(9)))
        columns = list(zip(*rows, strict=True))
        tokens = tuple(number(piece) for piece in columns[0])
        tree = Tree(tokens, columns[0], columns[1], columns[2], columns[3], columns[4], tuple(path))
        return tree, right

    def _source(self) -> str:
        only = {"racer-retrieval": "retrieval", "racer-logits": "logits"}.get(self.key)
        kinds = ["prefix", "suffix"] if self.key == "ssr" else ["retrieval", "logits", "both"]
        return only or self.random.choice(kinds)

    def finish(self) -> Finish:
        totals = {
            "tokens": self.written, "forwards": self.index, "steps": self.index,
            "drafted": self.drafted, "accepted": self.accepted, "seconds": self.clock,
            "prefill_seconds": self.prefill_seconds, "draft_seconds": self.draft_seconds,
            "forward_seconds": self.clock - self.prefill_seconds - self.draft_seconds,
        }  # fmt: skip
        return Finish(self.key, self.reason, totals)


def number(piece: str) -> int:
    """A token id for a piece."""
    return sum(ord(c) * 31**i for i, c in enumerate(piece)) % 49152


def compare(lane: Lane, vanilla: Lane, script: Script) -> Compare:
    """The lane held against vanilla, as the race does it."""
    both = min(lane.written, vanilla.written)
    differs = script.differs
    if differs and differs[0] == lane.key and both > differs[1]:
        at = differs[1]
        return Compare(
            lane.key, False, both, lane.done and vanilla.done, at,
            number(lane.pieces[at]), lane.pieces[at],
            number(vanilla.pieces[at]), vanilla.pieces[at],
            0.0031 if differs[2] else 1.7, 0.0125, differs[2],
        )  # fmt: skip
    return Compare(lane.key, True, both, lane.done and vanilla.done)


def events(request: RaceRequest, script: Script, run_id: str = "run") -> Iterator[Event]:
    """The whole run, lanes interleaved by whose clock is furthest behind."""
    pieces = tokenize(script.text)
    lanes = [
        Lane(key, script, pieces, request.max_new_tokens, request.seed) for key in request.lanes
    ]
    yield Run(
        run_id, "2026-07-01T09:30:00+00:00", request.prompt, script.prompt_tokens, request.seed,
        tuple({"key": key, "capacity": script.nodes} for key in request.lanes),
        {"name": "Scripted-135M", "revision": "", "dtype": "float32", "device": "cpu",
         "device_name": "no device at all", "parameters": 0},
        {"max_new_tokens": request.max_new_tokens, "temperature": request.temperature},
        {"slipstream": "0"},
    )  # fmt: skip
    vanilla = next((lane for lane in lanes if lane.key == "vanilla"), None)
    count = 0
    while behind := [lane for lane in lanes if not lane.done]:
        lane = min(behind, key=lambda one: one.clock)
        before = lane.clock
        event = lane.advance()
        if script.pace:
            time.sleep((lane.clock - before) * script.pace)
        yield event
        if lane.done:
            yield lane.finish()
        if vanilla and isinstance(event, Step):
            for other in lanes if lane is vanilla else [lane]:
                if other is not vanilla and other.written:
                    yield compare(other, vanilla, script)
        count += 1
        if script.break_after is not None and count >= script.break_after:
            raise script.break_with


class Scripted:
    """The service as the page sees it. `opened` and `closed` count its races."""

    def __init__(
        self, script: Script | None = None, *, public: bool = False, loaded: bool = True
    ) -> None:
        self.public, self.loaded = public, loaded
        self.script = script or Script()
        self.opened = self.closed = 0
        self.model = "Scripted-135M"

    def describe(self) -> dict[str, Any]:
        return {
            "model": self.model, "device": "cpu", "device_name": "no device at all",
            "dtype": "float32",
            "lanes": ["vanilla", "racer", "racer-retrieval", "racer-logits"],
            "default_lanes": ["vanilla", "racer"],
            "max_new_tokens": 4096, "default_new_tokens": 200, "max_prompt_tokens": 4096,
            "loaded": self.loaded, "note": "It only recites a known text.",
        }  # fmt: skip

    def race(self, request: RaceRequest) -> Iterator[Event]:
        if self.script.refuse:
            raise UserError(self.script.refuse)
        self.opened += 1
        try:
            yield from events(request, self.script, f"run-{self.opened}")
        finally:
            self.closed += 1

    def load(self, spec: str) -> str:
        if "missing" in spec:
            raise UserError(f"There is no model called {spec}.")
        self.model, self.loaded = spec, True
        return f"{spec} is loaded."


def record(
    path: Path, script: Script, lanes: tuple[str, ...] = ("vanilla", "racer"), **more: Any
) -> None:
    """Write a recording of a scripted run."""
    settings = {"prompt": "Write a Python class Parcel.", "max_new_tokens": 4096, **more}
    choices = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "seed": 0, "capacity": "auto"}
    request = RaceRequest(lanes=lanes, **settings, **choices)
    lines = [json.dumps(event.as_dict(), ensure_ascii=False) for event in events(request, script)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Serve the page with a scripted service."""
    from ui.page import build_page, launch_options

    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=7861)
    parser.add_argument("--pace", type=float, default=1.0)
    parser.add_argument("--text", default="ENGLISH")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=24)
    parser.add_argument("--thinking", type=int, default=0)
    parser.add_argument("--forward", type=float, default=0.055)
    parser.add_argument("--tree-forward", type=float, default=0.072)
    parser.add_argument("--recordings", type=Path, default=Path("/nonexistent"))
    parser.add_argument("--unloaded", action="store_true")
    parser.add_argument("--break-after", type=int)
    parser.add_argument("--differs", nargs=2)
    parser.add_argument("--public", action="store_true")
    asked = parser.parse_args()
    script = Script(
        text=globals()[asked.text] * asked.times, pace=asked.pace, nodes=asked.nodes,
        thinking=asked.thinking, break_after=asked.break_after,
        forward=asked.forward, tree_forward=asked.tree_forward,
        differs=(asked.differs[0], int(asked.differs[1]), True) if asked.differs else None,
    )  # fmt: skip
    service = Scripted(script, public=asked.public, loaded=not asked.unloaded)
    page = build_page(service, asked.recordings)
    page.queue(max_size=8).launch(
        server_port=asked.port, server_name="127.0.0.1", **launch_options()
    )


if __name__ == "__main__":
    main()
