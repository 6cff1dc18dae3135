"""Training: what is learned, how it goes on after an interruption, and the whole of it, small."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from engine.adapter import WEIGHTS, fingerprint, merge
from engine.embedded import ADAPTER, embedded
from engine.errors import UserError
from engine.models import Loaded, load
from slipstream import Request
from slipstream.model import Model
from training import evaluate
from training.batches import generate
from training.checkpoints import WHOLE, claim, decided, newest
from training.choices import Choices
from training.evaluate import summary
from training.fresh import BENCHMARK, EXAMPLES, fresh
from training.frozen import FrozenLinear, freeze
from training.publish import publish
from training.samples import MASKED, mixture, sample, with_template
from training.tasks import FAMILIES, TRAIN, family_of
from training.train import Recipe, train
from ui.words import prompts

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return with_template(AutoTokenizer.from_pretrained(embedded()))


# What is learned.


@pytest.mark.parametrize("thinks", [True, False])
@pytest.mark.parametrize("name", FAMILIES)
def test_exactly_what_the_model_writes_is_learned(tokenizer: Any, name: str, thinks: bool) -> None:
    example = FAMILIES[name].make(3, TRAIN)
    text = sample(tokenizer, example, thinks=thinks)
    learned = [token for token in text.labels if token != MASKED]
    assert len(text.labels) == len(text.ids)
    assert text.ids[-len(learned) :] == learned
    own = f"{example.thinking}\n</think>\n\n{example.answer}" if thinks else example.answer
    assert tokenizer.decode(learned) == own + "<|im_end|>"
    assert example.prompt in tokenizer.decode(text.ids[: text.asked])


@pytest.mark.model
@pytest.mark.parametrize("think", ["on", "off"])
def test_the_prompt_is_read_in_training_as_the_page_has_it_read(real: Loaded, think: str) -> None:
    example = FAMILIES["table"].make(3, TRAIN)
    model = Model(real)
    ask = model.ask(Request(example.prompt, think=think))
    text = sample(real.tokenizer, example, thinks=think == "on")
    assert model.prompt_ids(example.prompt, ask) == text.ids[: text.asked]


def test_a_mixture_is_the_same_each_time_and_has_all_of_it() -> None:
    first, again = list(mixture(300, 0)), list(mixture(300, 0))
    assert first == again
    assert list(mixture(300, 1)) != first
    assert {example.family for example, _ in first} == {*FAMILIES, "general", "drill"}
    for kind in ("general", "families"):
        silent = [
            thinks for each, thinks in first if (each.family == "general") == (kind == "general")
        ]
        assert 0 < silent.count(False) < len(silent) / 3
    prompts = [example.prompt for example, _ in first if example.family != "general"]
    assert len(set(prompts)) == len(prompts)


def test_fresh_prompts_are_never_those_of_training_or_of_another_use() -> None:
    trained = {example.prompt for example, _ in mixture(Recipe().examples, Recipe().seed)}
    uses = [fresh(200), fresh(40, BENCHMARK), fresh(16, EXAMPLES)]
    prompts = [example.prompt for use in uses for _, example in use]
    assert len(set(prompts)) == len(prompts)
    assert not trained & set(prompts)


def test_the_examples_on_the_page_are_prompts_that_no_training_saw() -> None:
    known = {example.prompt for _, example in fresh(len(FAMILIES) * 12, EXAMPLES)}
    shown = [one["prompt"] for one in prompts() if one["kind"] == "think"]
    assert len(shown) == len(FAMILIES)
    assert set(shown) <= known
    assert {family_of(prompt) for prompt in shown} == set(FAMILIES)


# The parts of a step.


def test_a_frozen_layer_gives_what_the_layer_gives_forward_and_backward() -> None:
    for bias in (True, False):
        plain = nn.Linear(7, 5, bias=bias).requires_grad_(False)
        frozen = FrozenLinear(plain)
        x = torch.randn(2, 3, 7, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        torch.testing.assert_close(frozen(x), plain(x))
        (frozen(x) ** 2).sum().backward()
        (plain(y) ** 2).sum().backward()
        torch.testing.assert_close(x.grad, y.grad)


def test_a_frozen_layer_multiplies_in_half_and_hands_on_what_it_was_given() -> None:
    plain = nn.Linear(64, 32).requires_grad_(False)
    frozen = FrozenLinear(plain, torch.bfloat16)
    x = torch.randn(4, 64, requires_grad=True)
    made = frozen(x)
    made.sum().backward()
    assert made.dtype == torch.float32 == x.grad.dtype
    rounded = (x.detach().bfloat16() @ plain.weight.t().bfloat16()).float() + plain.bias
    torch.testing.assert_close(made, rounded)
    torch.testing.assert_close(x.grad, plain.weight.sum(0).expand(4, -1), rtol=0.02, atol=0.02)
    assert not torch.equal(made, plain(x))


def test_only_layers_that_are_not_trained_are_frozen() -> None:
    model = nn.Sequential(nn.Linear(3, 3).requires_grad_(False), nn.ReLU(), nn.Linear(3, 3))
    assert freeze(model) == 1
    assert isinstance(model[0], FrozenLinear)
    assert type(model[2]) is nn.Linear


def test_choosing_from_all_tokens_is_the_plain_cross_entropy() -> None:
    weight, hidden = torch.randn(40, 6), torch.randn(5, 6)
    targets = torch.tensor([3, 9, 3, 39, 0])
    loss = Choices(weight, [[0, 3, 9], [39, 3]], others=100).loss(hidden, targets)
    expected = cross_entropy(hidden @ weight.t(), targets, reduction="sum")
    torch.testing.assert_close(loss, expected)


def test_choosing_from_fewer_is_the_cross_entropy_over_those() -> None:
    weight, hidden = torch.randn(40, 6), torch.randn(2, 6)
    targets = torch.tensor([9, 3])
    choices = Choices(weight, [[3, 9, 12]], others=0)
    expected = cross_entropy(hidden @ weight[[3, 9, 12]].t(), torch.tensor([1, 0]), reduction="sum")
    torch.testing.assert_close(choices.loss(hidden, targets), expected)
    more = Choices(weight, [[3, 9, 12]], others=10)
    assert choices.loss(hidden, targets) < more.loss(hidden, targets)
    torch.testing.assert_close(more.loss(hidden, targets), more.loss(hidden, targets))


# Runs, on a model with the real vocabulary and little else.


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, tokenizer: Any) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny-base"
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=2048,
        tie_word_embeddings=True, bos_token_id=1, eos_token_id=2, pad_token_id=2,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(embedded()).save_pretrained(folder)
    return folder


def small(base: Path, **changes: Any) -> Recipe:
    recipe = Recipe(str(base), examples=12, batch=2, rank=2, below=1, rate=1e-2, warmup=2)
    return dataclasses.replace(recipe, **changes)


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without an interruption."""
    folder = tmp_path_factory.mktemp("run")
    train(small(base), folder, device="cpu", save_every=2)
    return folder


def test_a_run_leaves_an_adapter_a_record_and_whole_checkpoints(trained: Path) -> None:
    weights = load_file(trained / "adapter" / WEIGHTS)
    assert {name.split(".")[4] for name in weights} == {"1", "2"}  # below 1 nothing is trained
    assert len(weights) == 2 * 7 * 2
    record = json.loads((trained / "training.json").read_text())
    texts = [each for each, _ in mixture(12, 0)]
    assert record["steps"] == len(record["losses"]) == 6
    assert len(texts) == 12
    assert record["learned"] < record["tokens"]
    assert record["seconds"] > 0
    # The second matrices begin as zeros: whatever is in them was learned.
    assert all(weight.abs().max() > 0 for weight in weights.values())
    assert set(record["versions"]) >= {"torch", "transformers", "peft"}
    kept = sorted((trained / "checkpoints").glob("checkpoint-*"))
    assert [each.name for each in kept] == ["checkpoint-4", "checkpoint-6"]
    assert all((each / WHOLE).is_file() for each in kept)


def test_a_run_that_was_interrupted_ends_as_if_it_had_not_been(
    trained: Path, base: Path, tmp_path: Path
) -> None:
    """Cut off while it wrote checkpoint 6, it goes on from checkpoint 4."""
    shutil.copytree(trained, tmp_path / "run")
    run = tmp_path / "run"
    shutil.rmtree(run / "adapter")
    (run / "training.json").unlink()
    (run / "checkpoints" / "checkpoint-6" / WHOLE).unlink()
    (run / "checkpoints" / "checkpoint-6" / "optimizer.pt").write_bytes(b"half")
    counts = run / "checkpoints" / "checkpoint-4" / "progress.json"
    counted = json.loads(counts.read_text())
    counts.write_text(json.dumps(counted | {"seconds": counted["seconds"] + 1000}))
    train(small(base), run, device="cpu", save_every=2)
    whole, again = (load_file(each / "adapter" / WEIGHTS) for each in (trained, run))
    assert whole.keys() == again.keys()
    for name, weight in whole.items():
        torch.testing.assert_close(weight, again[name], rtol=0, atol=1e-3)
        assert not torch.equal(weight, torch.zeros_like(weight))
    first, second = (json.loads((each / "training.json").read_text()) for each in (trained, run))
    assert second["tokens"] == first["tokens"]
    assert second["losses"] == pytest.approx(first["losses"], abs=1e-3)
    assert second["seconds"] > 1000  # it did go on, and did not begin anew


def test_the_newest_whole_checkpoint_is_found_and_halves_are_removed(tmp_path: Path) -> None:
    assert newest(tmp_path) is None
    for step, whole in ((30, True), (100, True), (130, False)):
        folder = tmp_path / "checkpoints" / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        if whole:
            (folder / WHOLE).touch()
    found = newest(tmp_path)
    assert found is not None
    assert found.name == "checkpoint-100"
    assert not (tmp_path / "checkpoints" / "checkpoint-130").exists()


def test_a_folder_belongs_to_one_recipe(tmp_path: Path) -> None:
    claim(tmp_path, {"seed": 0})
    claim(tmp_path, {"seed": 0})
    with pytest.raises(UserError, match="other settings"):
        claim(tmp_path, {"seed": 1})


def test_what_a_stopwatch_decided_stays_decided(tmp_path: Path) -> None:
    assert decided(tmp_path, "bfloat16", lambda: True)
    assert decided(tmp_path, "bfloat16", lambda: False)


def test_other_texts_are_another_run(
    trained: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A generator that was changed between two sessions is noticed."""
    shutil.copytree(trained, tmp_path / "run")
    monkeypatch.setattr("training.train.mixture", lambda count, seed: mixture(count, seed + 1))
    with pytest.raises(UserError, match="other settings or texts"):
        train(small(base), tmp_path / "run", device="cpu")


def test_an_adapter_to_go_on_from_has_to_be_there_with_its_record(
    trained: Path, base: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="not there"):
        train(small(base, start=str(tmp_path / "none")), tmp_path / "run", device="cpu")
    shutil.copytree(trained / "adapter", tmp_path / "alone" / "adapter")
    with pytest.raises(UserError, match=r"no training\.json"):
        train(
            small(base, start=str(tmp_path / "alone" / "adapter")), tmp_path / "run", device="cpu"
        )


# Evaluation.


@pytest.mark.model
def test_texts_in_a_batch_are_those_transformers_writes_one_by_one() -> None:
    real = load("embedded", device="cpu")  # one of its own: attention is exchanged
    prompts = [
        sample(real.tokenizer, FAMILIES[name].make(1, TRAIN), thinks=True)
        for name in ("purchases", "tsv", "classes", "table")
    ]
    ids = [each.ids[: each.asked] for each in prompts]
    assert len({len(each) for each in ids}) == len(ids)
    line, comma = (
        real.tokenizer(text, add_special_tokens=False)["input_ids"][0] for text in ("\n", ",")
    )
    for eos in (real.eos, real.eos | {line}, real.eos | {comma}):  # they end at different times
        model = dataclasses.replace(real, eos=frozenset(eos))
        together = generate(model, ids, 24, batch=3)
        real.model.set_attn_implementation("sdpa")
        alone = [_written(model, each) for each in ids]
        assert together == alone
    assert len({len(text) for text in together}) > 1


def _written(loaded: Loaded, ids: list[int]) -> list[int]:
    """Greedy text of transformers' own generation, without what ends it."""
    given = torch.tensor([ids])
    (text,) = loaded.model.generate(
        given,
        attention_mask=torch.ones_like(given),
        max_new_tokens=24,
        do_sample=False,
        eos_token_id=sorted(loaded.eos),
        pad_token_id=loaded.tokenizer.eos_token_id,
    )[:, len(ids) :].tolist()
    return text[:-1] if text[-1] in loaded.eos else text


def outcome(**changes: Any) -> evaluate.Outcome:
    whole = evaluate.Outcome("table", 1, True, True, True, None, False, "", 100, 50, "")
    return dataclasses.replace(whole, **changes)


def test_a_summary_is_the_shares_of_each_family_and_of_all() -> None:
    found = summary(
        [
            outcome(),
            outcome(right=False, parsed=False, loops=True, thinking=300),
            outcome(family="classes", ran=True),
            outcome(family="classes", ran=False, closed=False),
        ]
    )
    assert found["table"]["right"] == 0.5
    assert found["table"]["loops"] == 0.5
    assert found["table"]["thinking"] == 200
    assert "ran" not in found["table"]
    assert found["classes"]["ran"] == 0.5
    assert found["all"]["closed"] == found["all"]["right"] == 0.75
    assert found["all"]["prompts"] == 4


def test_a_text_is_judged_by_what_stands_behind_its_thinking(tokenizer: Any) -> None:
    loaded = argparse_free(tokenizer)
    for name in FAMILIES:
        example = FAMILIES[name].make(5, TRAIN)
        text = f"{example.thinking}\n</think>\n\n{example.answer}"
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        good = evaluate._outcome(loaded, 5, example, ids)
        assert good.closed
        assert good.parsed
        assert good.right
        assert good.ran is (True if FAMILIES[name].probe else None)
        assert good.text == text
        unclosed = evaluate._outcome(loaded, 5, example, ids[: good.thinking // 2])
        assert not any([unclosed.closed, unclosed.parsed, unclosed.right])
        long = tokenizer("word " * 420 + "\n</think>\n\n" + example.answer)["input_ids"]
        assert not evaluate._outcome(loaded, 5, example, long).closed


def argparse_free(tokenizer: Any) -> Any:
    """As much of a loaded model as judging a text needs."""

    class Only:
        pass

    only = Only()
    only.tokenizer = tokenizer  # type: ignore[attr-defined]
    return only


def test_half_an_adapter_is_not_published(tmp_path: Path) -> None:
    adapter = tmp_path / "run" / "adapter"
    adapter.mkdir(parents=True)
    (adapter / WEIGHTS).write_bytes(b"weights")  # and no settings
    for file in (tmp_path / "run" / "training.json", tmp_path / "evaluation.json"):
        file.write_text("{}")
    with pytest.raises(UserError, match="not trained and evaluated yet"):
        publish(tmp_path / "run", tmp_path / "evaluation.json", tmp_path / "place")
    assert not (tmp_path / "place").exists()


def test_the_figures_of_another_adapter_are_not_published(trained: Path, tmp_path: Path) -> None:
    evaluation = tmp_path / "evaluation.json"
    evaluation.write_text(json.dumps({"adapter": "0" * 8}))
    with pytest.raises(UserError, match="is of another adapter"):
        publish(trained, evaluation, tmp_path / "place")
    assert not (tmp_path / "place").exists()


def test_what_is_published_is_the_adapter_with_its_figures_on_a_card(
    trained: Path, tmp_path: Path
) -> None:
    shares = {"prompts": 4, "closed": 1.0, "parsed": 0.75, "right": 0.5, "loops": 0.0}
    group = {**shares, "thinking": 211.0, "answer": 123.0}
    figures = {
        "summary": {"table": group, "all": group}, "closes_within": 400, "seconds": 90.0,
        "loops": {"questions": 60, "set": "Spec-Bench", "adapted": 0.05, "base": 0.2},
        "adapter": fingerprint(trained / "adapter"), "outcomes": [{"text": "not shipped"}],
    }  # fmt: skip
    (tmp_path / "evaluation.json").write_text(json.dumps(figures))
    publish(trained, tmp_path / "evaluation.json", tmp_path / "place")
    assert fingerprint(tmp_path / "place") == figures["adapter"]
    shipped = json.loads((tmp_path / "place" / "evaluation.json").read_text())
    assert shipped == {key: value for key, value in figures.items() if key != "outcomes"}
    card = (tmp_path / "place" / "README.md").read_text()
    assert "| table | 4 | 100% | 75% | 50% | – | 0.0% | 211 | 123 |" in card
    assert "On 60 questions of Spec-Bench" in card
    assert "5% of its texts end in a loop; of the base's, 20%" in card
    record = json.loads((trained / "training.json").read_text())
    assert f"| 1 | 12 | 2 | {record['tokens']:,} |" in card


def test_the_figures_that_ship_are_of_the_adapter_that_ships() -> None:
    figures = json.loads((ADAPTER / "evaluation.json").read_text(encoding="utf-8"))
    assert figures["adapter"] == fingerprint(ADAPTER)


# The whole of it, a fiftieth of its size, on the model that ships.


@pytest.mark.model
def test_the_whole_pipeline_at_a_fiftieth_makes_an_adapter_that_loads(tmp_path: Path) -> None:
    recipe = dataclasses.replace(Recipe(), examples=Recipe().examples // 50, warmup=1)
    made = train(recipe, tmp_path, device="cpu")
    record = json.loads((tmp_path / "training.json").read_text())
    assert record["losses"][-1] < record["losses"][0]
    out = tmp_path / "evaluation.json"
    evaluate.main(
        ["--adapter", str(made), "--prompts", "4", "--batch", "4", "--new-tokens", "60",
         "--device", "cpu", "--json", str(out)]
    )  # fmt: skip
    result = json.loads(out.read_text())
    assert [each["family"] for each in result["outcomes"]] == list(FAMILIES)[:4]
    assert result["summary"]["all"]["prompts"] == 4
    assert result["adapter"] == fingerprint(made)
    from engine.models import load

    plain, adapted = (load("embedded-base", device="cpu").model for _ in range(2))
    assert merge(adapted, made) == 7 * 22
    ids = torch.tensor([[1, 2, 3, 4]])
    assert not torch.allclose(plain(ids).logits, adapted(ids).logits, atol=1e-3)
