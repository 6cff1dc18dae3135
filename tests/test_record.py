"""Laws of recordings: what was saved comes back; what disagrees with itself is refused."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import stat
from pathlib import Path

import pytest

from engine.errors import RecordingError
from engine.events import Check, Compare, Draft, Finish, Phase, Prefill, Run, Step, Tree, Verify
from engine.record import Writer, check, fold, halves, load, save

PROMPT = 10


def run(*keys):
    return Run(
        id="r1",
        date="2026-01-02T03:04:05Z",
        prompt="안녕 <b>",
        prompt_tokens=PROMPT,
        seed=1,
        lanes=tuple({"key": key, "capacity": "auto"} for key in keys),
        model={"name": "tiny", "parameters": 64},
        settings={"temperature": 0.0},
        packages={"torch": "2"},
    )


def step(lane, index, start, tokens, pieces, tree=None, accepted=0):
    return Step(
        lane=lane,
        index=index,
        phase="answer",
        start=start,
        seconds=0.25,
        draft=0.0625,
        forward=0.125,
        other=0.0625,
        tokens=tokens,
        pieces=pieces,
        sources=("target",) * len(tokens),
        drafted=len(tree.tokens) - 1 if tree else 0,
        accepted=accepted,
        tree=tree,
    )


def lane(key, *, drafting):
    """Three tokens, 7 8 9: one at a time, or the last two in one step that drafted 8 and 5."""
    first = step(key, 0, 1.0, (7,), ("한",))
    if drafting:
        grown = Tree(
            (7, 8, 5), ("한", "글", "?"), (-1, 0, 0), ("target",) * 3, (0, 0, 1), (0,) * 3, (0, 1)
        )
        steps = [first, step(key, 1, 1.25, (8, 9), ("", "글"), grown, 1)]
    else:
        steps = [first, step(key, 1, 1.25, (8,), ("",)), step(key, 2, 1.5, (9,), ("글",))]
    totals = {
        "tokens": 3,
        "steps": len(steps),
        "forwards": len(steps),
        "drafted": 2 if drafting else 0,
        "accepted": 1 if drafting else 0,
        "seconds": 1.0 + 0.25 * len(steps),
        "prefill_seconds": 1.0,
        "draft_seconds": 0.0625 * len(steps),
        "forward_seconds": 0.125 * len(steps),
    }
    read = [Prefill(key, PROMPT, 4, 0.5), Prefill(key, PROMPT, PROMPT, 1.0)]
    return [*read, *steps, Finish(key, "eos", totals)]


def recording():
    same = Compare("racer", True, 3, True)
    return [
        run("vanilla", "racer"),
        *lane("vanilla", drafting=False),
        *lane("racer", drafting=True),
        same,
    ]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_what_was_saved_comes_back(tmp_path, name):
    save(tmp_path / name, recording())
    assert load(tmp_path / name) == recording()
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_recording_is_one_line_of_json_an_event(tmp_path):
    save(tmp_path / "a.jsonl", recording())
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["kind"] for line in lines] == [e.kind for e in recording()]
    save(tmp_path / "a.jsonl.gz", recording())
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).decode().splitlines() == lines


def test_folding_gives_every_lanes_text():
    assert fold(recording()) == {"vanilla": "한글", "racer": "한글"}
    assert fold([run("vanilla")]) == {"vanilla": ""}


def test_a_writer_left_by_an_error_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="JSON"), Writer(tmp_path / "a.jsonl") as writer:
        writer.write(Prefill("vanilla", PROMPT, PROMPT, float("nan")))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_no_prefix_of_a_file_is_a_recording(tmp_path, name):
    save(tmp_path / name, recording()[:-1])  # ends with a finish
    data = (tmp_path / name).read_bytes()
    cut = tmp_path / f"cut-{name}"
    for size in {*range(0, len(data) - 1, 37), len(data) - 2}:
        cut.write_bytes(data[:size])
        with pytest.raises(RecordingError) as caught:
            load(cut)
        assert one_sentence(caught.value)


def one_sentence(error):
    text = str(error)
    return "\n" not in text and text.endswith(".") and "Traceback" not in text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"hello\n", "not JSON"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "cannot be read"),
        (b'{"kind": "step"}\n', "Line 1"),
        (b"[1, 2]\n", "not an event"),
        (b'{"kind": "run", "schema": 99}\n', "schema 99"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path, content, says):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=says) as caught:
        load(path)
    assert one_sentence(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("run", {"lanes": [{}]}),
        ("run", {"lanes": "ab"}),
        ("run", {"lanes": [{"key": []}]}),
        ("run", {"prompt_tokens": None}),
        ("step", {"seconds": "x"}),
        ("step", {"start": None}),
        ("step", {"seconds": float("nan")}),
        ("step", {"start": float("inf")}),
        ("step", {"lane": {}}),
        ("step", {"tree": [1]}),
        ("finish", {"totals": []}),
        ("finish", {"totals": {"tokens": "x"}}),
        ("compare", {"checked": "many"}),
    ],
)
def test_values_of_another_kind_are_refused_in_one_sentence(tmp_path, kind, values):
    lines = [event.as_dict() for event in recording()]
    place = next(i for i, line in enumerate(lines) if line["kind"] == kind)
    lines[place] |= values
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(RecordingError) as caught:
        load(path)
    assert one_sentence(caught.value)


def test_a_line_nested_without_end_is_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("[" * 200_000)
    with pytest.raises(RecordingError) as caught:
        load(path)
    assert one_sentence(caught.value)


def test_a_recording_that_cannot_be_finished_leaves_no_file_behind(tmp_path, monkeypatch):
    writer = Writer(tmp_path / "x.jsonl")

    def full():
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(writer._file, "close", full)
        with pytest.raises(OSError, match="No space"):
            writer.close(keep=False)
    writer._file.close()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.jsonl", tmp_path, tmp_path / "none.jsonl.gz"):
        with pytest.raises(RecordingError):
            load(path)
    (tmp_path / "plain.jsonl.gz").write_bytes(b'{"kind": "run"}')
    with pytest.raises(RecordingError, match="cannot be read"):
        load(tmp_path / "plain.jsonl.gz")


def without(events, place):
    return events[:place] + events[place + 1 :]


def changed(events, place, **values):
    return [*events[:place], dataclasses.replace(events[place], **values), *events[place + 1 :]]


def places(kind, lane="racer"):
    return [i for i, e in enumerate(recording()) if isinstance(e, kind) and e.lane == lane]


def test_every_missing_event_is_noticed():
    """But for the comparison and a middle piece of the prompt, no event can be left out."""
    spare = {places(Compare)[0], places(Prefill)[0], places(Prefill, "vanilla")[0]}
    for place in set(range(len(recording()))) - spare:
        with pytest.raises(RecordingError):
            check(without(recording(), place))
    for place in spare:
        check(without(recording(), place))


def test_twice_the_same_event_is_noticed():
    for place, event in enumerate(recording()):
        if not isinstance(event, Compare):
            with pytest.raises(RecordingError):
                check([*recording()[: place + 1], event, *recording()[place + 1 :]])


FIRST, SECOND = places(Step)
TREE = recording()[SECOND].tree


@pytest.mark.parametrize(
    ("place", "values"),
    [
        (SECOND, {"index": 2}),
        (SECOND, {"start": 1.1}),
        (SECOND, {"forward": 0.5}),
        (SECOND, {"tokens": (5, 9)}),
        (SECOND, {"tree": None}),
        (SECOND, {"drafted": 3}),
        (SECOND, {"accepted": 2}),
        (SECOND, {"accepted": 0}),
        (SECOND, {"tree": dataclasses.replace(TREE, tokens=(6, 8, 5))}),
        (SECOND, {"tokens": (8, 6)}),  # the comparison is no longer true
        (SECOND, {"lane": "ghost"}),
        (FIRST, {"start": 0.9}),
        (places(Prefill)[0], {"prompt_tokens": 11}),
        (places(Prefill)[1], {"seconds": 0.4}),
        (places(Compare)[0], {"checked": 4}),
        (
            places(Compare)[0],
            {"identical": False, "first": 1, "checked": 1, "token": 8, "vanilla_token": 6},
        ),
    ],
)
def test_every_planted_disagreement_is_noticed(place, values):
    with pytest.raises(RecordingError) as caught:
        check(changed(recording(), place, **values))
    assert one_sentence(caught.value)


@pytest.mark.parametrize("name", sorted(set(recording()[places(Finish)[0]].totals) - {"forwards"}))
def test_totals_are_the_sums(name):
    place = places(Finish)[0]
    totals = recording()[place].totals
    with pytest.raises(RecordingError, match=name):
        check(changed(recording(), place, totals={**totals, name: totals[name] + 1}))


def test_a_true_difference_is_no_error():
    events = changed(recording(), SECOND, tokens=(8, 6))
    events[-1] = Compare("racer", False, 2, True, first=2, token=6, vanilla_token=9, gap=0.1)
    check(events)


def test_an_unfinished_run_can_be_checked_as_such():
    half = recording()[:4]
    check(half, whole=False)
    with pytest.raises(RecordingError, match="cut off"):
        check(half)


def test_nothing_that_disagrees_is_saved(tmp_path):
    with pytest.raises(RecordingError):
        save(tmp_path / "a.jsonl", recording()[1:])
    assert list(tmp_path.iterdir()) == []


def thinking():
    """A lane that thinks 7 8, closes with 9, and answers 5 6; drafts 5 4 meanwhile, then 5 6."""
    key = "ssr"
    words = ("a", "b", "", "c", "d")
    steps = [
        dataclasses.replace(step(key, i, 1.0 + 0.25 * i, (token,), (words[i],)), phase=phase)
        for i, (token, phase) in enumerate(
            [(7, "reasoning"), (8, "reasoning"), (9, "reasoning"), (5, "answer"), (6, "answer")]
        )
    ]
    totals = {
        "tokens": 5, "steps": 5, "forwards": 5, "drafted": 0, "accepted": 0, "seconds": 2.25,
        "prefill_seconds": 1.0, "draft_seconds": 0.3125, "forward_seconds": 0.625,
        "thinking_tokens": 3,
    }  # fmt: skip
    source = ("target",)
    return [
        run(key),
        Prefill(key, PROMPT, PROMPT, 1.0),
        Phase(key, "reasoning", 0, "template"),
        steps[0],
        Draft(key, 1, 1, 0, 1.0, 0.25, (5,), ("c",), source, 1, 9),
        steps[1],
        Draft(key, 1, 1, 1, 1.25, 0.25, (4,), ("x",), source, 2, 9, "superseded"),
        Draft(key, 2, 2, 1, 1.25, 0.25, (5, 6), ("c", "d"), source * 2, 2, 9),
        Phase(key, "answer", 2, "model"),
        steps[2],
        Draft(key, 2, 2, 2, 1.5, 0.25, (), (), (), 2, 9, "thinking"),
        *steps[3:],
        Verify(key, 2, 2, 2, 1.75, 0.5),
        Finish(key, "eos", totals),
    ]


def thinking_with(place, **values):
    return changed(thinking(), place, **values)


def test_a_lane_that_thinks_and_drafts_comes_back(tmp_path):
    check(thinking())
    save(tmp_path / "a.jsonl", thinking())
    assert load(tmp_path / "a.jsonl") == thinking()
    assert fold(thinking()) == {"ssr": "abcd"}, "no draft in the text"


@pytest.mark.parametrize(
    "events",
    [
        without(thinking(), 2),  # an answer without its thinking
        [*thinking()[:3], thinking()[2], *thinking()[3:]],  # twice
        [*thinking()[:9], thinking()[8], *thinking()[9:]],
        thinking_with(8, phase="reasoning"),
        thinking_with(8, at=1),  # in what was written before
        thinking_with(4, id=2),
        thinking_with(6, written=3),
        thinking_with(7, id=3),
        thinking_with(7, length=1),
        thinking_with(13, draft=3),
        without(without(thinking(), 8), 7),
        thinking_with(12, tokens=(1,)),  # the verdict is no longer true
    ],
    ids=range(12),
)
def test_every_planted_disagreement_of_phases_and_drafts_is_noticed(events):
    with pytest.raises(RecordingError) as caught:
        check(events)
    assert one_sentence(caught.value)


def test_a_verdict_is_about_the_draft_that_it_names():
    events = thinking()
    events[13] = Verify("ssr", 2, 3, 2, 1.75, 0.5, 4)
    with pytest.raises(RecordingError, match="draft 2"):
        check(events)


def test_an_answer_is_checked_once_and_behind_its_end():
    events = recording()
    key = events[-1].lane
    end = next(i for i, e in enumerate(events) if isinstance(e, Finish) and e.lane == key)
    verdict = Check(key, "table", True, True, "Fine.")
    check([*events[: end + 1], verdict, *events[end + 1 :]])
    with pytest.raises(RecordingError, match="checked twice"):
        check([*events, verdict, verdict])
    with pytest.raises(RecordingError, match="before it ends"):
        check([*events[:end], verdict, *events[end:]])


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_older_recordings_are_read(tmp_path, schema):
    events = [dataclasses.replace(recording()[0], schema=schema), *recording()[1:]]
    save(tmp_path / "a.jsonl", events)
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    if schema == 1:  # as it was written then
        plain = [json.loads(line) for line in lines]
        for line in plain:
            line.pop("branch", None)
            line.pop("memory", None)
            line.pop("note", None)
        (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in plain))
    assert load(tmp_path / "a.jsonl") == events


def test_a_recording_never_replaces_what_is_no_ordinary_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(OSError, match="ordinary"):
            Writer(path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    kept = tmp_path / "kept.jsonl"
    link = tmp_path / "link.jsonl"
    link.symlink_to(kept)
    with Writer(link):
        pass
    assert link.is_symlink()
    assert kept.exists()


def test_a_lanes_thinking_and_answer_are_told_apart_to_the_letter():
    events = [
        Phase("ssr", "reasoning", 1, "model", 2),
        step("ssr", 0, 1.0, [7, 8], ["", "\n ab"]),
        Phase("ssr", "answer", 3, "budget", 1),
        step("ssr", 1, 1.25, [9, 5, 6], ["c", "d한", "!"]),
        step("vanilla", 0, 1.0, [1], ["no"]),
    ]
    assert halves(events, "ssr") == {"answer": "\n 한!", "reasoning": "abcd"}
    assert halves(events, "vanilla") == {"answer": "no"}
    assert halves(events, "racer") == {"answer": ""}
    both = [
        Phase("x", "reasoning", 0, "model", 0),
        Phase("x", "answer", 0, "model", 2),
        step("x", 0, 1.0, [1], ["in out"]),
    ]
    assert halves(both, "x") == {"answer": " out", "reasoning": "in"}
