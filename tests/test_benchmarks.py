"""The benchmarks count right: questions, loops, tables, speed-ups."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import drafting, forward, gpu, peers
from benchmarks.asked import named, positive
from benchmarks.kept import Kept
from benchmarks.questions import Question, evenly, read
from benchmarks.repeats import repeats
from benchmarks.report import counted, signed, table
from benchmarks.speed import Sample, speed_up
from benchmarks.trial import Trial
from engine.errors import UserError
from slipstream import Request
from tests import tiny


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


def test_a_table_lines_its_columns_up():
    lines = table(("lane", "ms"), [("a", "1.0"), ("longer", "10.0")]).splitlines()
    assert [len(line) for line in lines] == [12, 12, 12, 12]


def test_what_was_not_measured_is_a_dash():
    assert (signed(None), signed(-0.25)) == ("–", "-25.0%")
    assert (counted([True, False, None]), counted([None])) == ("1/2", "–")


def test_what_cannot_be_run_is_said_before_anything_is_measured():
    assert named("a, b,,a", "ab", "letter") == ("a", "b", "a")
    with pytest.raises(UserError, match="no letter 'c'; choose from a, b"):
        named("a,c", "ab", "letter")
    with pytest.raises(argparse.ArgumentTypeError):
        positive("0")


# On real forwards, of models small enough for a test.


def test_the_script_for_a_gpu_runs_whole_on_a_tiny_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(gpu, "PASTS", (16, 64))
    args = argparse.Namespace(
        model=None, shape="tiny", device="cpu", dtype="float32", max_new_tokens=24,
        json=tmp_path / "deep" / "gpu.json",
    )  # fmt: skip
    gpu.run(args)
    found = json.loads(args.json.read_text("utf-8"))["results"]
    assert [row["lane"] for row in found["lanes"]] == ["vanilla", "racer-64", "racer-auto"] * 2
    assert all(row["identical"] and row["tokens"] == 24 for row in found["lanes"])
    assert set(found["forward"]) == {"16", "64"}
    assert "racer-64" in capsys.readouterr().out
    with pytest.raises(UserError, match="no shape 'huge'"):
        gpu.run(argparse.Namespace(**{**vars(args), "shape": "huge"}))


def test_drafting_is_timed_behind_every_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drafting, "CONTEXTS", (50, 90))
    monkeypatch.setattr(drafting, "STEPS", 5)
    monkeypatch.setattr(drafting, "ANSWERED", 400)
    args = argparse.Namespace(capacity=8, paper=False, json=tmp_path / "drafting.json")
    drafting.run(args)
    found = json.loads(args.json.read_text("utf-8"))["results"]
    assert set(found["racer"]) == {"50", "90"}
    assert all(seconds > 0 for seconds in found["racer"]["50"].values())
    assert set(found["reuse"]) == {"ssr", "racer+ssr"}


@pytest.mark.parametrize("build", [forward._engine, forward._plain])
def test_a_timed_forward_leaves_the_past_as_long_as_it_was(build: Any):
    model = tiny.fresh("llama", dtype=torch.float32, vocabulary=forward.PAST + 2)
    run, lengths = build(model), set()
    store = model.get_input_embeddings().register_forward_hook(
        lambda _, given, __: lengths.add(given[0].shape[1])
    )
    for size in (1, 4, 1):
        run(size)
    store.remove()
    assert lengths == {1, 4}


def test_a_peer_writes_the_greedy_text_whatever_its_model_asks_for():
    model = tiny.fresh("qwen3", dtype=torch.float32)
    prompt, ids = [3, 1, 4, 1, 5, 9, 2, 6], [3, 1, 4, 1, 5, 9, 2, 6]
    with torch.inference_mode():
        for _ in range(20):
            ids = [*ids, int(model(torch.tensor([ids])).logits[0, -1].argmax())]
    model.generation_config.repetition_penalty = 5.0  # as a model's own file may say
    model.generation_config.suppress_tokens = [ids[len(prompt)]]
    for peer in peers.PEERS.values():
        found = peer(model, prompt, 20, frozenset())
        assert found.tokens == ids[len(prompt) :]
        assert 0 < found.forwards <= 20
        assert found.seconds > 0
    plain = peers.hf_generate(model, prompt, 20, frozenset({ids[len(prompt) + 4]}))
    assert len(plain.tokens) <= 5
    assert model.generation_config.repetition_penalty == 5.0


def test_kept_trials_bear_the_name_that_their_prompt_has_now(tmp_path: Path):
    kept = Kept(tmp_path / "trials.jsonl", {}, resume=False)
    request = Request("one", lanes=("vanilla",))
    kept.race(request, lambda: [Trial("old 1", "vanilla", seconds=2.0)])
    (trial,) = kept.trials(None, "new 2", request)  # type: ignore[arg-type]
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
