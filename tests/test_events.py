"""The event schema: everything written can be read back, and nothing else can."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import (
    PHASES,
    REASONS,
    Check,
    Compare,
    Draft,
    Event,
    Finish,
    Phase,
    Prefill,
    Run,
    Step,
    Tree,
    Unreadable,
    Verify,
    from_dict,
)
from engine.tree import SOURCES

FAST = settings(derandomize=True, database=None, deadline=None, max_examples=150)

TREE = Tree(
    tokens=(5, 6, 7, 6), pieces=("a", "b", "‹e2›", "b"), parents=(-1, 0, 0, 2),
    sources=("target", "retrieval", "logits", "both"), ranks=(0, 0, 1, 0), counts=(0, 2, 0, 1),
    path=(0, 2, 3),
)  # fmt: skip
STEP = Step(
    lane="racer", index=3, phase="answer", start=1.5, seconds=0.5, draft=0.1, forward=0.3,
    other=0.1, tokens=(7, 6, 1), pieces=("", "한", "\n"), sources=("logits", "both", "target"),
    drafted=3, accepted=2, tree=TREE,
)  # fmt: skip
RUN = Run(
    id="x", date="2026-01-01", prompt="<b>", prompt_tokens=2, seed=(1 << 63) - 1,
    lanes=({"key": "vanilla", "capacity": "none"}, {"key": "racer", "capacity": "auto"}),
    model={"name": "m", "sizes": (1, 2)}, settings={"temperature": 0.5}, packages={"torch": "2"},
)  # fmt: skip
EVENTS: list[Event] = [
    RUN,
    Prefill("racer", 10, 4, 0.25),
    STEP,
    Finish("racer", "eos", {"tokens": 4, "seconds": 1.25}),
    Finish("racer", "error", {}, "One sentence."),
    Compare("racer", True, 16, False),
    Compare(
        "racer", False, 2, True, first=2, token=3, piece="c", vanilla_token=None, gap=None,
        tolerance=0.5,
    ),
    Phase("ssr", "answer", 31, "budget", 2),
    Draft(
        "ssr", 2, 64, 70, 1.5, 0.25, (5, 6), ("", "한"), ("prefix", "target"), 7, 256, "superseded"
    ),
    Verify("ssr", 2, 7, 3, 1.75, 0.5, 6, "한", None, ""),
    Finish("ssr", "length", {"drafts": 2}, "", "early-difference"),
    Check("ssr", "table", True, False, "Row 2: Total is 7, not 8."),
]  # fmt: skip


def plain(event: Event) -> dict[str, Any]:
    """The event as a recording's line would give it back."""
    return dict(json.loads(json.dumps(event.as_dict(), allow_nan=False)))


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_an_event_is_what_its_line_says(event: Event) -> None:
    line = plain(event)
    assert next(iter(line)) == "kind"
    assert list(line)[1:] == [field.name for field in fields(event)]
    again = from_dict(line)
    assert plain(again) == line
    if event is not RUN:  # its free values come back as tuples or lists, as JSON has them
        assert again == event


SECONDS = st.floats(0, 1e6)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Any step of the schema, trees included."""
    size = draw(st.integers(1, 12))
    parents = (-1, *(draw(st.integers(0, node - 1)) for node in range(1, size)))
    path = [0]
    while below := [node for node in range(size) if parents[node] == path[-1]]:
        if draw(st.booleans()):
            break
        path.append(draw(st.sampled_from(below)))
    source = st.sampled_from(SOURCES)
    n = draw(st.integers(max(1, len(path) - 1), len(path) + 2))

    def many(what: st.SearchStrategy[Any], count: int) -> tuple[Any, ...]:
        return tuple(draw(st.lists(what, min_size=count, max_size=count)))

    ids, text = st.integers(0, 1 << 20), st.text(max_size=3)
    tree = Tree(
        many(ids, size), many(text, size), parents, many(source, size),
        many(st.integers(0, 7), size), many(ids, size), tuple(path),
    )  # fmt: skip
    return Step(
        draw(st.text(max_size=4)), draw(ids), draw(st.sampled_from(PHASES)), *many(SECONDS, 5),
        many(ids, n), many(text, n), many(source, n), size - 1, len(path) - 1,
        draw(st.sampled_from([tree, None])),
    )  # fmt: skip


@FAST
@given(steps())
def test_every_step_survives_its_line(step: Step) -> None:
    assert from_dict(plain(step)) == step


def changed(event: Event, **values: Any) -> dict[str, Any]:
    return {**plain(event), **values}


def tree_with(**values: Any) -> dict[str, Any]:
    return changed(STEP, tree={**TREE.as_dict(), **values})


NONSENSE: list[Any] = [
    None,
    [],
    "step",
    7,
    {},
    {"kind": "stepp"},
    {"kind": None},
    {"kind": ["step"]},
    {"kind": {"a": 1}},
    {"kind": "step"},
    changed(STEP, extra=1),
    {key: value for key, value in plain(STEP).items() if key != "phase"},
    changed(STEP, phase="dreaming"),
    changed(STEP, tokens=[]),
    changed(STEP, tokens=5),
    changed(STEP, pieces=["a"]),
    changed(STEP, sources=["logits", "both", "magic"]),
    changed(STEP, accepted=4),
    changed(STEP, accepted=-1),
    changed(STEP, drafted=1),
    changed(STEP, drafted="3"),
    changed(STEP, tree="tree"),
    changed(STEP, tree=[1]),
    changed(STEP, tree={}),
    tree_with(tokens=[1]),
    tree_with(parents=[0, 0, 0, 2]),
    tree_with(parents=[-1, 0, 3, 2]),
    tree_with(parents=[-1, 0, -1, 2]),
    tree_with(parents=[-1, "0", 0, 2]),
    tree_with(path=[]),
    tree_with(path=[1]),
    tree_with(path=[0, 3]),
    tree_with(path=[0, 99]),
    tree_with(path=[0, -3]),
    tree_with(path=[0, "2"]),
    tree_with(tokens=[], pieces=[], parents=[], sources=[], ranks=[], counts=[]),
    tree_with(more=1),
    changed(EVENTS[1], done=0),
    changed(EVENTS[1], done=11),
    changed(EVENTS[1], done=None),
    changed(EVENTS[3], reason="bored"),
    changed(EVENTS[5], identical=False),
    changed(EVENTS[5], first=3),
    changed(EVENTS[5], tie=True),
    changed(RUN, schema=4),
    changed(RUN, schema=0),
    changed(RUN, schema="1"),
    changed(RUN, lanes=[]),
    changed(RUN, lanes=None),
    changed(EVENTS[7], phase="dreaming"),
    changed(EVENTS[7], by="chance"),
    changed(EVENTS[7], at=-1),
    changed(EVENTS[7], cut=-1),
    changed(EVENTS[7], at=None),
    changed(EVENTS[8], closed="bored"),
    changed(EVENTS[8], tokens=[5]),
    changed(EVENTS[8], sources=["prefix"]),
    changed(EVENTS[8], written=1),
    changed(EVENTS[9], accepted=8),
    changed(EVENTS[9], accepted=-1),
    changed(EVENTS[10], note="no idea"),
    changed(EVENTS[11], parsed=False, right=True),
    {key: value for key, value in plain(EVENTS[11]).items() if key != "reason"},
]


@pytest.mark.parametrize("line", NONSENSE, ids=[str(n) for n in range(len(NONSENSE))])
def test_nonsense_is_unreadable_and_said_so_in_one_sentence(line: Any) -> None:
    with pytest.raises(Unreadable) as raised:
        from_dict(line)
    message = str(raised.value)
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_to_finish_can_be_said(reason: str) -> None:
    assert Finish("a", reason, {}).reason == reason


def test_events_cannot_be_changed() -> None:
    with pytest.raises((AttributeError, TypeError)):
        STEP.accepted = 0  # type: ignore[misc]


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_a_run_of_an_older_schema_is_read_as_what_it_is(schema: int) -> None:
    run = from_dict(changed(RUN, schema=schema))
    assert isinstance(run, Run)
    assert run.schema == schema


def test_a_step_without_the_newer_fields_is_read() -> None:
    newer = ("branch", "memory")
    line = {key: value for key, value in plain(STEP).items() if key not in newer}
    assert from_dict(line) == STEP
