"""A service with no model: plausible events from a known text, for tests and for a look.

Run it to look at the page: python -m tests.scripted --port 7861 --pace 1
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import UserError
from engine.events import Compare, Draft, Event, Finish, Phase, Prefill, Run, Step, Tree, Verify
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

THINKING = """The user wants a Python class for a parcel. A parcel has a name, a weight and a price,
so the constructor takes the name, the weight and the price and keeps them.

Then a method that describes the parcel in one line: an f-string with the name, the
weight in kg and the price in euros. I should write a docstring for the class and one
for the method, use type hints, and say in one sentence what the class has.
"""

KOREAN_THINKING = """서울을 소개하는 글을 써야 합니다. 강과 궁궐과 음식과 계절을 차례로 말하면 \
좋겠습니다. 두 문장이나 세 문장이면 충분하고, 봄과 가을을 마지막에 두겠습니다.
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
    agree: float = 0.72
    pace: float = 0.0  # 1: as slow as the lane times say
    thinking: str = ""  # what is thought before the answer
    closed_by: str = "model"
    cut: bool = False  # the thinking ends and the answer begins in one token
    draft_at: int = 24
    draft_every: int = 0
    draft_length: int = 96
    wrong: int = 31  # every so many tokens the draft is not the answer
    note: str = ""  # why drafting the answer saved nothing


@dataclass
class Branch:
    """A draft of the answer, as a lane has it so far."""

    id: int
    opened_at: int
    again: int = 0  # tokens of the draft before it that it begins with
    pieces: list[str] = field(default_factory=list)
    closed: str = ""


class Lane:
    """One scripted lane: where its clock is and what it writes next."""

    def __init__(self, key: str, script: Script, request: RaceRequest) -> None:
        self.key, self.script = key, script
        answer = tokenize(script.text)
        self.reason = script.reason if request.max_new_tokens >= len(answer) else "length"
        self.answer = answer[: request.max_new_tokens]
        self.pieces, self.at, self.letters = self.answer.copy(), 0, 0
        if script.thinking and request.think != "off":
            self._think(tokenize(script.thinking))
        self.random = random.Random(f"{key}{request.seed}")
        self.clock, self.written, self.index, self.read = 0.0, 0, 0, 0
        self.drafted = self.accepted = 0
        self.prefill_seconds = self.draft_seconds = 0.0
        self.branches: list[Branch] = []
        self.verify: Verify | None = None
        self.check = [0.0, 0.0]  # when the draft's check began, and its seconds
        self.reused = {"prefix": 0, "suffix": 0}
        if script.differs and script.differs[0] == key:
            self.pieces[script.differs[1]] = " other"

    def _think(self, thinking: list[str]) -> None:
        """Put the thinking before the answer: a token for the marker, or one for both sides."""
        if self.script.cut:
            self.letters, self.at = len(thinking[-1]), len(thinking) - 1
            self.pieces = [*thinking[:-1], thinking[-1] + self.answer[0], *self.answer[1:]]
        else:
            self.at = len(thinking) + 1
            self.pieces = [*thinking, "", *self.answer]

    @property
    def done(self) -> bool:
        return self.written >= len(self.pieces)

    @property
    def thinks(self) -> bool:
        return self.at > 0 and self.written < self.at + bool(self.letters)

    def advance(self) -> Iterator[Event]:
        if self.read < self.script.prompt_pieces:
            yield self._read()
            return
        if self.at and self.index == 0:
            yield Phase(self.key, "reasoning", 0, "template")
        thought, checked = self.thinks, self.index > 0 and not self.thinks and self._checks()
        tree, accepted = self._guess(checked)
        step = self._step(tree, accepted)
        if thought and not self.thinks:
            # The marker's token, which has no text, or the one that holds text of both.
            at = self.at - (not self.letters)
            yield Phase(self.key, "answer", at, self.script.closed_by, self.letters)
        yield step
        if thought and "ssr" in self.key:
            yield from self._draft(step)
        if checked:
            yield from self._verified(step)

    def _read(self) -> Prefill:
        script = self.script
        self.read += 1
        self.clock += 0.03 * script.prompt_tokens / 96 * (1.2 if self.key != "vanilla" else 1)
        self.prefill_seconds = self.clock
        done = script.prompt_tokens * self.read // script.prompt_pieces
        return Prefill(self.key, script.prompt_tokens, done, self.clock)

    def _guess(self, checked: bool) -> tuple[Tree | None, int]:
        if self.index == 0 or self.key == "vanilla":
            return None, 0
        if not self.thinks and self.branches:
            chain = self._chain("prefix" if checked else "suffix")
            if chain[0] or checked:
                return chain
        return self._tree() if self.key.startswith("racer") else (None, 0)

    def _step(self, tree: Tree | None, accepted: int) -> Step:
        script, start = self.script, self.clock
        size = min(accepted + 1, len(self.pieces) - self.written)
        accepted = min(accepted, size)
        new = self.pieces[self.written : self.written + size]
        kept = [tree.sources[i] for i in tree.path[1 : accepted + 1]] if tree else []
        sources = [*kept, "target"][:size]
        drafted = len(tree.parents) - 1 if tree else 0
        jitter = 1 + self.random.uniform(-0.06, 0.06)
        scored = script.tree_forward if drafted else script.forward
        forward = 0.0 if self.index == 0 else jitter * scored
        draft = 0.0004 * bool(drafted)
        step = Step(
            self.key, self.index, "reasoning" if self.thinks else "answer",
            start, forward + draft + 0.0002, draft, forward, 0.0002,
            tuple(number(piece) for piece in new), tuple(new), tuple(sources),
            drafted, accepted, tree if drafted else None,
            int(self.thinks and bool(self.branches) and not self.branches[-1].closed),
        )  # fmt: skip
        self.clock += step.seconds
        self.written += size
        self.index += 1
        self.drafted += drafted
        self.accepted += accepted
        self.draft_seconds += draft
        for source in self.reused:
            self.reused[source] += sources.count(source)
        return step

    # ---- the draft of the answer ----------------------------------------------------

    def wanted(self) -> list[str]:
        """What a draft holds when it is written to its end: the answer, wrong here and there."""
        every = self.script.wrong
        drafted = [
            f" d{i}" if i % every == every - 1 else piece for i, piece in enumerate(self.answer)
        ]
        return drafted[: self.script.draft_length]

    def _draft(self, step: Step) -> Iterator[Draft]:
        """Open a branch where one is due, write on in it, close it with the thinking."""
        script, thought = self.script, min(self.written, self.at)
        due = script.draft_at + len(self.branches) * script.draft_every
        if thought >= due and self.thinks and (script.draft_every or not self.branches):
            if self.branches and not self.branches[-1].closed:
                yield self._written(self.branches[-1], step, 0, "superseded")
            again = len(self.branches[-1].pieces) if self.branches else 0
            self.branches.append(Branch(len(self.branches) + 1, thought, again))
        if not self.branches or self.branches[-1].closed:
            return
        branch, whole = self.branches[-1], self.wanted()
        more = branch.again if not branch.pieces else 0
        more = min(more + 1 + self.key.startswith("racer"), len(whole) - len(branch.pieces))
        full = len(branch.pieces) + more == len(whole)
        ended = "eos" if len(whole) == len(self.answer) else "length"
        closed = ended if full else "" if self.thinks else "thinking"
        yield self._written(branch, step, more, closed)

    def _written(self, branch: Branch, step: Step, more: int, closed: str) -> Draft:
        have = len(branch.pieces)
        new = self.wanted()[have : have + more]
        branch.pieces += new
        branch.closed = closed
        again = 0 if have else min(branch.again, len(new))
        sources = ["prefix"] * again + ["logits"] * (len(new) - again - 1)
        sources = [*sources, "target"][: len(new)]
        return Draft(
            self.key, branch.id, branch.opened_at, step.index, step.start, step.seconds,
            tuple(number(piece) for piece in new), tuple(new), tuple(sources),
            len(branch.pieces), self.script.draft_length, closed,
        )  # fmt: skip

    def _checks(self) -> bool:
        """Whether the next step still checks the draft from its start on."""
        return bool(self.branches) and self.verify is None

    def _ahead(self) -> list[str]:
        """What the draft has behind the place where the answer is."""
        place = self.written - self.at
        return self.branches[-1].pieces[place : place + 8] if place >= 0 else []

    def _chain(self, source: str) -> tuple[Tree | None, int]:
        ahead = self._ahead()
        if not ahead or "" in ahead:
            return None, 0
        right = 0
        while right < len(ahead) and self._is(right, ahead[right]):
            right += 1
        size = len(ahead) + 1
        pieces = (self.pieces[self.written - 1], *ahead)
        tree = Tree(
            tuple(number(piece) for piece in pieces), pieces, tuple(range(-1, size - 1)),
            ("target", *[source] * (size - 1)), (0,) * size, (0,) * size, tuple(range(right + 1)),
        )  # fmt: skip
        return tree, right

    def _is(self, ahead: int, piece: str) -> bool:
        place = self.written + ahead
        return place < len(self.pieces) and self.pieces[place] == piece

    def _verified(self, step: Step) -> Iterator[Verify]:
        """The end of the check: where draft and answer part, or where one of them ends."""
        if not self.check[1]:
            self.check[0] = step.start
        self.check[1] += step.seconds
        draft, place = self.branches[-1].pieces, self.written - self.at
        stands = 0
        while stands < min(place, len(draft)) and draft[stands] == self.answer[stands]:
            stands += 1
        parted = stands < min(place, len(draft))
        if not parted and stands < len(draft) and not self.done:
            return
        mine, theirs = (draft[stands], self.answer[stands]) if parted else (None, None)
        self.verify = Verify(
            self.key, self.branches[-1].id, len(draft), stands, self.check[0], self.check[1],
            None if mine is None else number(mine), mine or "",
            None if theirs is None else number(theirs), theirs or "",
        )  # fmt: skip
        yield self.verify

    # ---- a tree of guesses ----------------------------------------------------------

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
        return only or self.random.choice(["retrieval", "logits", "both"])

    def finish(self) -> Finish:
        totals = {
            "tokens": self.written, "forwards": self.index, "steps": self.index,
            "drafted": self.drafted, "accepted": self.accepted, "seconds": self.clock,
            "prefill_seconds": self.prefill_seconds, "draft_seconds": self.draft_seconds,
            "forward_seconds": self.clock - self.prefill_seconds - self.draft_seconds,
        }  # fmt: skip
        if self.at:
            totals["thinking_tokens"] = self.at
            totals["answer_tokens"] = len(self.pieces) - self.at
        if self.branches:
            totals["drafts"] = len(self.branches)
            totals |= {f"{source}_tokens": count for source, count in self.reused.items()}
        note = self.script.note if "ssr" in self.key else ""
        return Finish(self.key, self.reason, totals, note=note)


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
    lanes = [Lane(key, script, request) for key in request.lanes]
    yield Run(
        run_id, "2026-07-01T09:30:00+00:00", request.prompt, script.prompt_tokens, request.seed,
        tuple({"key": key, "capacity": script.nodes} for key in request.lanes),
        {"name": "Scripted-135M", "revision": "", "dtype": "float32", "device": "cpu",
         "device_name": "no device at all", "parameters": 0},
        {"max_new_tokens": request.max_new_tokens, "temperature": request.temperature,
         "thinks": any(lane.at for lane in lanes), "draft_at": script.draft_at,
         "thinking_budget": request.thinking_budget},
        {"slipstream": "0"},
    )  # fmt: skip
    vanilla = next((lane for lane in lanes if lane.key == "vanilla"), None)
    count, due = 0, time.monotonic()
    while behind := [lane for lane in lanes if not lane.done]:
        lane = min(behind, key=lambda one: one.clock)
        before = lane.clock
        new = list(lane.advance())
        # Against the clock and not step by step: what the page takes in between is made up for.
        due += (lane.clock - before) * script.pace
        if script.pace:
            time.sleep(max(0.0, due - time.monotonic()))
        yield from new
        if lane.done:
            yield lane.finish()
        if vanilla and lane.written:
            for other in lanes if lane is vanilla else [lane]:
                if other is not vanilla and other.written:
                    yield compare(other, vanilla, script)
        count += 1
        if script.break_after is not None and count >= script.break_after:
            raise script.break_with


class Scripted:
    """The service as the page sees it. `opened` and `closed` count its races."""

    def __init__(
        self,
        script: Script | None = None,
        *,
        public: bool = False,
        loaded: bool = True,
        lanes: tuple[str, ...] = ("vanilla", "racer"),
    ) -> None:
        self.public, self.loaded, self.lanes = public, loaded, lanes
        self.script = script or Script()
        self.opened = self.closed = 0
        self.model = "Scripted-135M"
        self.asked: RaceRequest | None = None

    def describe(self) -> dict[str, Any]:
        return {
            "model": self.model, "device": "cpu", "device_name": "no device at all",
            "dtype": "float32",
            "lanes": [
                "vanilla", "racer", "ssr", "racer+ssr", "racer-retrieval", "racer-logits",
            ],
            "default_lanes": list(self.lanes),
            "max_new_tokens": 4096, "default_new_tokens": 200, "max_prompt_tokens": 4096,
            "loaded": self.loaded, "note": "It only recites a known text.",
        }  # fmt: skip

    def race(self, request: RaceRequest) -> Iterator[Event]:
        if self.script.refuse:
            raise UserError(self.script.refuse)
        self.opened += 1
        self.asked = request
        try:
            yield from events(request, self.script, uuid.uuid4().hex[:12])
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
    """Write a recording of a scripted run, whose id is the file's name."""
    settings = {"prompt": "Write a Python class Parcel.", "max_new_tokens": 4096, **more}
    choices = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "seed": 0, "capacity": "auto"}
    request = RaceRequest(lanes=lanes, **settings, **choices)
    ran = events(request, script, path.stem)
    lines = [json.dumps(event.as_dict(), ensure_ascii=False) for event in ran]
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
    parser.add_argument("--thinking", default="")
    parser.add_argument("--lanes", default="vanilla,racer")
    parser.add_argument("--draft-every", type=int, default=0)
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
        thinking=globals().get(asked.thinking, ""), draft_every=asked.draft_every,
        break_after=asked.break_after,
        forward=asked.forward, tree_forward=asked.tree_forward,
        differs=(asked.differs[0], int(asked.differs[1]), True) if asked.differs else None,
    )  # fmt: skip
    lanes = tuple(asked.lanes.split(","))
    service = Scripted(script, public=asked.public, loaded=not asked.unloaded, lanes=lanes)
    page = build_page(service, asked.recordings)
    page.queue(max_size=8).launch(
        server_port=asked.port, server_name="127.0.0.1", **launch_options()
    )


if __name__ == "__main__":
    main()
