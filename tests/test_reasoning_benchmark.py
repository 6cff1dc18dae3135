"""The reasoning benchmark counts right: stages, slow-down, savings, sweeps."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import reasoning, sweeps
from benchmarks.kept import Kept
from benchmarks.savings import saved
from benchmarks.sweeps import Point, draw
from benchmarks.trial import Trial, trials
from engine.errors import UserError
from engine.events import Compare, Draft, Event, Finish, Phase, Step, Verify
from slipstream import Request


def step(lane: str, index: int, phase: str, start: float, seconds: float, branch: int = 0) -> Step:
    return Step(
        lane=lane, index=index, phase=phase, start=start, seconds=seconds, draft=0.0,
        forward=seconds, other=0.0, tokens=(1,), pieces=("a",), sources=("target",), drafted=0,
        accepted=0, branch=branch,
    )  # fmt: skip


class Known:
    """A model whose SSR lane takes a quarter less than vanilla, whatever is asked."""

    def __init__(self, *, error: str = "") -> None:
        self.asked: list[Request] = []
        self._error = error

    def race(self, request: Request) -> Iterator[Event]:
        self.asked.append(request)
        for lane in request.lanes:
            yield from self._lane(lane, request)
        if self._error:
            yield Finish(self._error, "error", {"seconds": 1.0, "tokens": 0}, "It broke.")

    def _lane(self, lane: str, request: Request) -> Iterator[Event]:
        plain = lane == "vanilla"
        yield Phase(lane, "reasoning", 0, "template")
        yield step(lane, 0, "reasoning", 1.0, 0.5)
        yield step(lane, 1, "reasoning", 1.5, 1.0)
        yield step(lane, 2, "reasoning", 2.5, 1.0 if plain else 1.2, 0 if plain else 1)
        if not plain:
            yield Draft(lane, 1, 2, 2, 2.5, 1.2, (1,), ("a",), ("target",), 1, 9, "thinking")
            yield Verify(lane, 1, 8, 4, 3.7, 0.3)
            yield Compare(lane, True, 20, True)
        yield Phase(lane, "answer", 3, "model")
        totals = {
            "tokens": 23, "forwards": 23 if plain else 15, "prefill_seconds": 1.0,
            "seconds": 10.0 if plain else 7.5, "thinking_seconds": 2.5 if plain else 2.7,
            "thinking_tokens": 3, "answer_tokens": 20, "answer_at": 4.0,
        }  # fmt: skip
        if not plain:
            totals |= {
                "drafts": 1, "draft_tokens": 8, "prefix_tokens": 4, "suffix_tokens": 6,
                "verify_seconds": 0.3,
            }  # fmt: skip
        yield Finish(lane, "eos", totals)


def test_a_trial_is_what_the_events_say_and_its_stages_add_up() -> None:
    model = Known()
    vanilla, ssr = trials(model, "q", Request("p", lanes=("vanilla", "ssr")))  # type: ignore[arg-type]
    for trial in (vanilla, ssr):
        assert sum(trial.stages.values()) == pytest.approx(trial.seconds)
        assert trial.closed_by == "model"
    assert ssr.stages["continuation"] == pytest.approx(7.5 - 1.0 - 2.7 - 0.3)
    assert (ssr.prefix, ssr.suffix, ssr.drafts, ssr.drafted) == (4, 6, 1, 8)
    assert (ssr.verified, ssr.verified_of) == (4, 8)
    assert ssr.beside == pytest.approx(1.2)
    assert ssr.slow_down == pytest.approx(1.2)
    assert vanilla.slow_down is None
    assert saved([vanilla, ssr], "ssr") == pytest.approx(0.25)
    assert saved([ssr], "ssr") is None


def test_a_lane_that_fails_ends_the_benchmark_with_a_sentence() -> None:
    with pytest.raises(UserError, match=r"Lane ssr failed: It broke\."):
        trials(Known(error="ssr"), "q", Request("p", lanes=("vanilla", "ssr")))  # type: ignore[arg-type]


def test_a_sweep_of_the_draft_point_opens_one_draft_at_each_share_of_the_thinking(
    tmp_path: Path,
) -> None:
    model = Known()
    kept = Kept(tmp_path / "t.jsonl", {}, resume=False)
    asked_for = [("q", Request("p"))], ["draft-point"], kept, tmp_path / "f.html"
    found = sweeps.run(model, *asked_for)  # type: ignore[arg-type]
    points = found["draft-point"]
    assert [point["at"] for point in points] == [i / 10 for i in range(1, 10)]
    assert [point["saved"] for point in points] == pytest.approx([0.25] * 9)
    assert points[0]["prefix"] == pytest.approx(4 / 20)
    asked = [request for request in model.asked if "ssr" in request.lanes]
    places = [max(1, round(i * 0.3)) for i in range(1, 10)]
    # Of a thinking of three tokens some shares are the same race, which is run once.
    assert [request.draft_at for request in asked] == list(dict.fromkeys(places))
    assert {request.draft_every for request in asked} == {0}
    # Everything was kept: nothing is raced again.
    assert sweeps.run(Known(error="any"), *asked_for) == found  # type: ignore[arg-type]


def test_the_figure_is_one_file_without_a_request(tmp_path: Path) -> None:
    path = tmp_path / "figure.html"
    draw("budget", [Point(0.5, 0.1, 0.2, 0.3), Point(1.0, 0.2, 0.1, 0.4)], path)
    page = path.read_text(encoding="utf-8")
    assert "plotly" in page
    assert "<script src" not in page
    assert "time saved against vanilla" in page


def test_the_tables_are_printed_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "some.jsonl"
    row = {"question_id": 7, "category": "c", "turns": ["Why?"]}
    questions.write_text(json.dumps(row) + "\n", encoding="utf-8")

    class Loaded:
        name = "a model"
        dtype = "float32"

    model = Known()
    model.loaded = Loaded()  # type: ignore[attr-defined]
    model.about = lambda: {"name": "a model"}  # type: ignore[attr-defined]
    monkeypatch.setattr(reasoning, "load", lambda *args, **kwargs: model)
    written: list[object] = []
    monkeypatch.setattr(reasoning, "save", lambda args, made, results: written.append(results))
    reasoning.run(
        argparse.Namespace(
            lanes="vanilla,ssr", questions=questions, limit=3, model="m", device="cpu",
            dtype="auto", max_new_tokens=20, temperature=0.0, top_p=1.0, seed=0, capacity="auto",
            thinking_budget=40, draft_at=2, draft_every=0, draft_length=9, ablation=True,
            sweep="", figure=tmp_path / "f.html", json=tmp_path / "r.json", resume=False,
        )
    )  # fmt: skip
    told = capsys.readouterr().out
    assert "+25.0%" in told
    assert "1.33" in told  # times as fast, in the geometric mean
    assert "50%" in told  # of the answer's twenty tokens, ten came out of a draft
    assert "continuation" in told
    assert "ssr-suffix" in told
    assert isinstance(written[0], dict)
    assert {type(trial) for trial in written[0]["lanes"]} == {Trial}
    with pytest.raises(UserError, match="no lane 'nobody'"):
        reasoning.run(argparse.Namespace(lanes="vanilla,nobody"))
    with pytest.raises(UserError, match="no sweep 'x'"):
        reasoning.run(argparse.Namespace(lanes="vanilla", sweep="x"))
