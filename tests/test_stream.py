"""Laws of the stream to the browser: nothing is lost, nothing runs on, nothing leaks."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.events import Event, Unreadable
from tests.scripted import HOSTILE, THINKING, Script, events, record
from ui.asked import asked
from ui.recordings import first, gallery, opened, read
from ui.service import RaceRequest
from ui.stream import LOST, SOMETHING_FAILED, Kept, Sent, batches, recorded, wire
from ui.words import dictionary


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
@pytest.mark.parametrize("script", [Script(), Script(thinking=THINKING)])
def test_batches_in_order_hold_every_event_once_and_say_where_they_begin(step, script):
    lanes = ("vanilla", "ssr")
    want = [event.as_dict() for event in events(request(lanes), script)]
    got = list(batches(events(request(lanes), script), hz=12, clock=ticking(step)))
    assert [batch["seq"] for batch in got] == list(range(len(got)))
    assert {batch["run"] for batch in got} == {"run"}
    assert [event for batch in got for event in batch["events"]] == want
    sizes = [len(batch["events"]) for batch in got]
    assert [batch["from"] for batch in got] == [sum(sizes[:i]) for i in range(len(got))]
    assert [batch["done"] for batch in got] == [False] * (len(got) - 1) + [True]


def test_the_last_batch_is_no_larger_than_the_others():
    got = list(batches(events(request(), Script()), hz=10, clock=ticking(0.02)))
    assert len(got) > 10
    assert len(wire(got[-1])) <= max(len(wire(batch)) for batch in got[:-1])


def test_what_was_lost_is_sent_again_to_whom_it_belongs_and_to_nobody_else():
    kept = Kept(most=2)
    want = [event.as_dict() for event in events(request(), Script())]
    stream = batches(events(request(), Script()), hz=10, clock=ticking(0.02), sent=kept.begin("a"))
    for _ in range(6):
        next(stream)
    again = kept.since("a", "run", 4)
    assert again["from"] == 4
    assert not again["done"]
    assert again["mended"]
    assert 15 < len(again["events"]) < len(want) - 4
    assert again["events"] == want[4 : 4 + len(again["events"])]
    list(stream)
    assert kept.since("a", "run", 4)["events"] == want[4:]
    assert kept.since("a", "run", len(want)) == {
        "run": "run", "seq": -1, "from": len(want), "events": [], "done": True, "error": "",
        "mended": True,
    }  # fmt: skip
    for visitor, run, have in [("b", "run", 0), ("a", "other", 0), ("a", "run", -3)]:
        refused = kept.since(visitor, run, have)
        assert (refused["events"], refused["done"], refused["error"]) == ([], True, LOST)


def test_only_the_newest_runs_are_kept():
    kept = Kept(most=2)
    for visitor in "abcb":
        kept.begin(visitor).run = "run"
    assert kept.since("a", "run", 0)["error"] == LOST
    assert kept.since("b", "run", 0)["error"] == ""
    assert kept.since("c", "run", 0)["error"] == ""


def test_an_error_is_sent_again_with_the_events():
    sent = Sent()
    broken = events(request(), Script(break_after=9, break_with=UserError("No.")))
    list(batches(broken, sent=sent))
    assert (sent.done, sent.error, len(sent.events) > 5) == (True, "No.", True)


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
    assert sum(len(batch["events"]) for batch in got) > 20
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
        {"run": "", "seq": 0, "from": 0, "events": [], "done": True, "error": "No."}
    ]


def test_no_tag_travels_in_a_message():
    message = {"text": HOSTILE, "more": ["</script><script>"]}
    text = wire(message)
    assert "<" not in text
    assert json.loads(text) == message


def test_the_newest_readable_recording_comes_first_where_there_is_no_list(tmp_path: Path):
    record(tmp_path / "old.jsonl", Script(), prompt="old")
    record(tmp_path / "new.jsonl", Script(), prompt="new")
    newer = (tmp_path / "new.jsonl").read_text("utf-8").replace("2026-07-01", "2026-08-01")
    (tmp_path / "new.jsonl").write_text(newer, "utf-8")
    (tmp_path / "damaged.jsonl").write_text('{"kind": "run", "date": "2027"}\n', "utf-8")
    (tmp_path / "noise.jsonl").write_text("not json\n", "utf-8")
    (tmp_path / "noise.jsonl.gz").write_bytes(b"\x1f\x8bnot gzip")
    assert [entry["name"] for entry in gallery(tmp_path)] == ["new", "old"]
    found = first(tmp_path, gallery(tmp_path))
    assert found is not None
    entry, events_found = found
    assert entry["name"] == "new"
    assert events_found[0]["prompt"] == "new"
    batch = recorded(events_found, entry)
    assert batch["done"]
    assert batch["recorded"]
    assert batch["meta"] == entry


def test_a_list_says_what_is_offered_and_in_which_order(tmp_path: Path):
    for name in ("a", "b", "hidden"):
        record(tmp_path / "plain", Script(), prompt=name)
        packed = gzip.compress((tmp_path / "plain").read_bytes())
        (tmp_path / f"{name}.jsonl.gz").write_bytes(packed)
    listed = [
        {"name": name, "title": {"en": name}, "about": {"en": "x"}, "make": {"prompt": "secret"}}
        for name in ("b", "gone", "a")
    ]
    (tmp_path / "gallery.json").write_text(json.dumps(listed), "utf-8")
    offered = gallery(tmp_path)
    assert [entry["name"] for entry in offered] == ["b", "a"]
    assert "secret" not in json.dumps(offered)
    assert opened(tmp_path, "a")[1][0]["prompt"] == "a"
    for name in ("hidden", "gone", "../a", "a.jsonl.gz", ""):
        with pytest.raises(Unreadable):
            opened(tmp_path, name)


def test_the_first_recording_that_can_be_played_is_shown(tmp_path: Path):
    record(tmp_path / "good.jsonl", Script(), prompt="good")
    (tmp_path / "bad.jsonl").write_text("{}\n", "utf-8")
    listed = [{"name": name, "title": {"en": name}, "about": {}} for name in ("bad", "good")]
    (tmp_path / "gallery.json").write_text(json.dumps(listed), "utf-8")
    found = first(tmp_path, gallery(tmp_path))
    assert found is not None
    assert found[0]["name"] == "good"


def test_an_empty_or_missing_folder_has_no_recording(tmp_path: Path):
    assert first(tmp_path, gallery(tmp_path)) is None
    assert first(tmp_path, gallery(tmp_path / "nowhere")) is None


def test_a_recording_may_hold_any_line_separator_inside_a_string(tmp_path: Path):
    record(tmp_path / "a.jsonl", Script(text="one\u2028two\u0085three\x0bfour"))
    assert "\u2028" in "".join(p for e in read(tmp_path / "a.jsonl") for p in e.get("pieces", []))


def test_a_recording_with_two_runs_is_refused(tmp_path: Path):
    record(tmp_path / "a.jsonl", Script())
    text = (tmp_path / "a.jsonl").read_text("utf-8")
    (tmp_path / "b.jsonl").write_text(text + text, "utf-8")
    with pytest.raises(Unreadable):
        read(tmp_path / "b.jsonl")


def test_a_bundled_recording_that_is_cut_off_is_refused(tmp_path: Path):
    record(tmp_path / "a.jsonl", Script())
    lines = (tmp_path / "a.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_text("".join(lines[:40]), "utf-8")
    with pytest.raises(Unreadable, match="cut off"):
        read(tmp_path / "a.jsonl")


def test_a_small_file_that_unpacks_to_an_endless_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("ui.recordings.LARGEST", 100_000)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b" " * 10_000_000))
    with pytest.raises(Unreadable, match="too large"):
        read(tmp_path / "a.jsonl.gz")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b" " * 50_000)[:-5])
    with pytest.raises(Unreadable, match="not a Slipstream recording"):
        read(tmp_path / "b.jsonl.gz")


def test_a_refusal_names_no_folder(tmp_path: Path):
    with pytest.raises(Unreadable) as refused:
        read(tmp_path / "gone.jsonl")
    assert "gone.jsonl" in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


def test_a_name_that_no_file_can_have_is_refused_in_words(tmp_path: Path):
    record(tmp_path / "a.jsonl", Script())
    for name in ("a" * 5000, "..", "a\0b", "a/../a"):
        with pytest.raises(Unreadable):
            opened(tmp_path, name)


@pytest.mark.parametrize("text", ["{}", "3", '[3, null, {"name": "a"}, {"title": {}}]', "[[]]"])
def test_a_list_that_is_none_does_not_take_the_page_down(tmp_path: Path, text: str):
    record(tmp_path / "a.jsonl", Script())
    (tmp_path / "gallery.json").write_text(text, "utf-8")
    offered = [entry["name"] for entry in gallery(tmp_path)]
    assert offered == ([] if text.startswith("[") else ["a"])


# ---- what a browser sent ------------------------------------------------------------

SENT = {
    "prompt": "hello", "lanes": ["vanilla"], "max_new_tokens": 5.0, "temperature": 0,
    "top_p": 1, "top_k": 0, "seed": 7, "capacity": "auto", "think": "on",
    "thinking_budget": 9, "draft_at": 3, "draft_every": 0, "draft_length": 4,
}  # fmt: skip


def test_settings_become_a_request():
    got = asked(SENT)
    assert got == RaceRequest("hello", ("vanilla",), 5, 0.0, 1.0, 0, 7, "auto", "on", 9, 3, 0, 4)
    assert isinstance(got.max_new_tokens, int)


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -1, "7", True, [], 1e300])
@pytest.mark.parametrize(
    "name",
    [
        "max_new_tokens", "temperature", "top_p", "top_k", "seed",
        "thinking_budget", "draft_at", "draft_every", "draft_length",
    ],
)  # fmt: skip
def test_a_setting_that_is_no_such_number_is_refused_in_a_sentence(name, value):
    with pytest.raises(UserError) as refused:
        asked({**SENT, name: value})
    assert str(refused.value) == dictionary("en")[f"error.{name}"]
    assert dictionary("ko")[f"error.{name}"].endswith(".")


@pytest.mark.parametrize("name", ["max_new_tokens", "thinking_budget", "draft_at", "draft_length"])
@pytest.mark.parametrize("value", [0, 2.5])
def test_a_length_is_a_whole_number_of_at_least_one(name, value):
    with pytest.raises(UserError, match="whole number of 1 or more"):
        asked({**SENT, name: value})


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("prompt", None, "no_prompt"), ("prompt", "  ", "no_prompt"), ("lanes", None, "no_lanes"),
        ("lanes", [], "no_lanes"), ("lanes", "vanilla", "no_lanes"), ("think", "maybe", "think"),
        ("think", ["on"], "think"), ("top_p", 0, "top_p"),
    ],
)  # fmt: skip
def test_nothing_that_arrives_is_taken_on_trust(name, value, key):
    with pytest.raises(UserError) as refused:
        asked({**SENT, name: value})
    assert str(refused.value) == dictionary("en")[f"error.{key}"]


def test_behind_each_batch_but_the_last_the_machine_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    source = Source().run()
    monkeypatch.setattr("ui.stream.time.sleep", rests.append)
    made = list(batches(source, hz=1.0, clock=ticking(0.2), rest=0.25))
    assert len(made) > 3
    assert rests == [0.25] * (len(made) - 1)
