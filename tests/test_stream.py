"""Laws of the stream to the browser: nothing is lost, nothing runs on, nothing leaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.events import Event, Unreadable
from tests.scripted import HOSTILE, Script, events, record
from ui.recordings import newest, read
from ui.service import RaceRequest
from ui.stream import SOMETHING_FAILED, batches, recorded, wire


def request(lanes: tuple[str, ...] = ("vanilla", "racer")) -> RaceRequest:
    return RaceRequest("hello", lanes, 60, 0.0, 1.0, 0, 0, "auto")


def ticking(seconds: float):
    """A clock that moves on by `seconds` each time it is read."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += seconds
        return now

    return clock


class Source:
    """An event iterator that knows whether it was closed."""

    def __init__(self, script: Script | None = None) -> None:
        self.closed = False
        self.script = script or Script()
        self.taken = 0

    def __iter__(self) -> Iterator[Event]:
        return self.run()

    def run(self) -> Iterator[Event]:
        try:
            for event in events(request(), self.script):
                self.taken += 1
                yield event
        finally:
            self.closed = True


@pytest.mark.parametrize("step", [0.0001, 0.03, 0.2])
def test_batches_in_order_hold_every_event_once_and_the_last_holds_all(step):
    want = [event.as_dict() for event in events(request(), Script())]
    got = list(batches(events(request(), Script()), hz=12, clock=ticking(step)))
    assert [batch["seq"] for batch in got] == list(range(len(got)))
    assert {batch["run"] for batch in got} == {"run"}
    streamed = [event for batch in got[:-1] for event in batch["events"]]
    assert streamed == want[: len(streamed)]
    assert got[-1]["events"] == want
    assert [batch["done"] for batch in got] == [False] * (len(got) - 1) + [True]


def test_the_run_goes_out_at_once_and_then_about_hz_batches_a_second():
    got = list(batches(events(request(), Script()), hz=10, clock=ticking(0.02)))
    assert [event["kind"] for event in got[0]["events"]] == ["run"]
    assert all(4 <= len(batch["events"]) <= 6 for batch in got[1:-1])


def test_closing_the_batches_closes_the_source_at_once():
    source = Source()
    running = source.run()  # held here, so that only an explicit close ends it
    stream = batches(running, hz=1e9)
    next(stream)
    next(stream)
    taken = source.taken
    stream.close()
    assert source.closed
    assert source.taken == taken


def test_a_broken_run_keeps_its_events_and_says_one_safe_sentence(caplog):
    script = Script(break_after=20, break_with=RuntimeError("secret path /root/x"))
    got = list(batches(events(request(), script), hz=12, clock=ticking(0.02)))
    assert got[-1]["done"]
    assert got[-1]["error"] == SOMETHING_FAILED
    assert len(got[-1]["events"]) > 20
    assert "secret" not in json.dumps(got)
    assert "secret" in caplog.text


def test_a_refusal_is_shown_in_its_own_words():
    script = Script(break_after=3, break_with=UserError("The prompt is too long."))
    assert list(batches(events(request(), script)))[-1]["error"] == "The prompt is too long."


def test_a_refusal_before_the_run_is_one_batch_without_events():
    def refused() -> Iterator[Event]:
        raise UserError("No.")
        yield

    assert list(batches(refused())) == [
        {"run": "", "seq": 0, "events": [], "done": True, "error": "No."}
    ]


def test_no_tag_travels_in_a_message():
    message = {"text": HOSTILE, "more": ["</script><script>"]}
    text = wire(message)
    assert "<" not in text
    assert json.loads(text) == message


def test_the_newest_readable_recording_is_found(tmp_path: Path):
    record(tmp_path / "old.jsonl", Script(), prompt="old")
    record(tmp_path / "new.jsonl", Script(), prompt="new")
    newer = (tmp_path / "new.jsonl").read_text("utf-8").replace("2026-07-01", "2026-08-01")
    (tmp_path / "new.jsonl").write_text(newer, "utf-8")
    (tmp_path / "damaged.jsonl").write_text('{"kind": "run", "date": "2027"}\n', "utf-8")
    (tmp_path / "noise.jsonl").write_text("not json\n", "utf-8")
    events_found = newest(tmp_path)
    assert events_found[0]["prompt"] == "new"
    batch = recorded(events_found)
    assert batch["done"]
    assert batch["recorded"]


def test_an_empty_or_missing_folder_has_no_recording(tmp_path: Path):
    assert newest(tmp_path) == []
    assert newest(tmp_path / "nowhere") == []


def test_a_recording_may_hold_any_line_separator_inside_a_string(tmp_path: Path):
    record(tmp_path / "a.jsonl", Script(text="one\u2028two\u0085three\x0bfour"))
    assert "\u2028" in "".join(p for e in read(tmp_path / "a.jsonl") for p in e.get("pieces", []))


def test_a_recording_with_two_runs_is_refused(tmp_path: Path):
    record(tmp_path / "a.jsonl", Script())
    text = (tmp_path / "a.jsonl").read_text("utf-8")
    (tmp_path / "b.jsonl").write_text(text + text, "utf-8")
    with pytest.raises(Unreadable):
        read(tmp_path / "b.jsonl")
