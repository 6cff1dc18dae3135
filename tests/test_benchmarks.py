"""The benchmarks count right: questions, loops, tables, speed-ups."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from benchmarks import reasoning
from benchmarks.kept import Kept
from benchmarks.questions import Question, evenly, read
from benchmarks.repeats import repeats
from benchmarks.report import geometric_mean, table
from benchmarks.speed import Sample, speed_up
from benchmarks.trial import Trial
from engine.errors import UserError
from slipstream import Request


def question(number: int, category: str) -> Question:
    return Question("spec_bench", number, category, f"question {number}")


def test_questions_come_evenly_from_the_tasks_and_mt_bench_is_one_task():
    tasks = ["writing", "coding", "stem"] * 4 + ["translation"] * 9 + ["qa"] * 9 + ["rag"] * 9
    everything = [question(i, task) for i, task in enumerate(tasks)]
    chosen = evenly(everything, 8)
    kinds = ["mt" if q.category in ("writing", "coding", "stem") else q.category for q in chosen]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "mt": 2,
        "translation": 2,
        "qa": 2,
        "rag": 2,
    }
    assert len({q.id for q in chosen}) == 8
    assert len({q.category for q in evenly(everything, 2)}) == 2
    assert len(evenly(everything[:3], 8)) == 3


def test_a_folder_without_questions_or_with_broken_ones_is_a_sentence(tmp_path: Path):
    with pytest.raises(UserError, match=r"holds none of"):
        read(tmp_path, 3)
    (tmp_path / "mgsm.jsonl").write_text('{"question_id": 1}\n')
    with pytest.raises(UserError, match=r"mgsm\.jsonl, line 1"):
        read(tmp_path, 3)
    row = {"question_id": 1, "category": "reasoning", "turns": ["¿Qué?", "second"]}
    (tmp_path / "mgsm.jsonl").write_text(json.dumps(row) + "\n")
    assert read(tmp_path, 3) == {"mgsm": [Question("mgsm", 1, "reasoning", "¿Qué?")]}


@pytest.mark.parametrize("period", [1, 7, 40])
def test_a_loop_is_a_period_of_at_most_forty_over_the_last_sixty(period: int):
    loop = [i % period for i in range(200)]
    assert repeats([*range(1000, 1010), *loop])
    assert not repeats([*loop, 9999])
    assert not repeats(loop[:59])
    assert not repeats([i % 41 for i in range(200)])


def test_speed_ups_are_ratios_of_rates_over_the_same_questions():
    def sample(lane: str, tokens: int, seconds: float) -> Sample:
        return Sample("mgsm", 1, "reasoning", lane, 5, [0] * tokens, seconds)

    samples = [sample("vanilla", 10, 5.0), sample("vanilla", 30, 5.0), sample("racer", 40, 4.0)]
    assert speed_up(samples, "racer") == pytest.approx(2.5)
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert math.isnan(geometric_mean([]))


def test_a_table_lines_its_columns_up():
    lines = table(("lane", "ms"), [("a", "1.0"), ("longer", "10.0")]).splitlines()
    assert [len(line) for line in lines] == [12, 12, 12, 12]


def test_kept_trials_bear_the_name_that_their_prompt_has_now(tmp_path: Path):
    kept = Kept(tmp_path / "trials.jsonl", {}, resume=False)
    request = Request("one", lanes=("vanilla",))
    kept.race(request, lambda: [Trial("old 1", "vanilla", seconds=2.0)])
    (trial,) = reasoning._raced(None, [("new 2", request)], kept)  # type: ignore[arg-type]
    assert (trial.question, trial.seconds) == ("new 2", 2.0)


def test_a_benchmark_that_was_interrupted_measures_only_what_is_missing(tmp_path: Path):
    file, about = tmp_path / "deep" / "trials.jsonl", {"name": "model"}
    first, second = Request("one"), Request("two", lanes=("vanilla",))
    measured = [Trial("q", "vanilla", seconds=2.0, alone=[0.5], right=True)]

    def again() -> list[Trial]:
        raise AssertionError("measured again")

    kept = Kept(file, about, resume=True)  # nothing there yet
    assert kept.race(first, lambda: measured) == measured
    with file.open("a") as cut:
        cut.write('{"race": "cut sho')
    kept = Kept(file, about, resume=True)
    assert kept.race(first, again) == measured
    assert kept.race(second, lambda: []) == []
    kept = Kept(file, about, resume=True)
    assert (kept.race(first, again), kept.race(second, again)) == (measured, [])
    assert kept.race(Request("one", seed=1), list) == []

    with pytest.raises(UserError, match="another model"):
        Kept(file, {"name": "other"}, resume=True)
    with pytest.raises(AssertionError, match="measured again"):
        Kept(file, about, resume=False).race(first, again)
    file.write_text("no trials\n")
    with pytest.raises(UserError, match="cannot be read"):
        Kept(file, about, resume=True)
    file.write_text("")
    with pytest.raises(UserError, match="cannot be read"):
        Kept(file, about, resume=True)
