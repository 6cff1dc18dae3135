"""What can be loaded, from where; what is refused and why.

`load` turns a name into a model ready for the engine: transformers' own class (custom
code is never run), sdpa attention, no gradients, and everything a page or a recording
wants to say about it. Whatever goes wrong is a ModelError of one sentence.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedConfig

from engine.adapter import merge, template
from engine.errors import MemoryShort, ModelError
from engine.placement import Placement, choose_device, choose_dtype, device_name, place
from engine.quiet import quiet
from engine.refuse import refusal
from engine.sources import AUTO_HUB_MODEL, HubSilent, Source, embedded_source, hub_refusal, resolve
from engine.text import Vocabulary

log = logging.getLogger(__name__)

Progress = Callable[[str], None]


@dataclass(slots=True)
class Loaded:
    """A model and what there is to say about it.

    eos: every id that ends a text, from config, generation config and tokenizer.
    context: positions the model knows. note: one line about what it can do.
    """

    model: Any
    tokenizer: Any
    vocabulary: Vocabulary
    name: str
    revision: str
    device: str
    device_name: str
    dtype: str
    parameters: int
    context: int
    eos: frozenset[int]
    has_chat_template: bool
    note: str


def load(
    spec: str = "auto",
    *,
    device: str = "auto",
    dtype: str = "auto",
    progress: Progress | None = None,
    adapter: Path | None = None,
) -> Loaded:
    """Load the model that `spec` names.

    spec: auto, embedded, embedded-base, a folder, a .gguf file or a hub id.

    device: auto, cpu, cuda, cuda:1. dtype: auto, float32, bfloat16, float16, float64.
    progress: told in one line each what takes long. adapter: folder of one to merge into the
    model, which has to be named then.
    Raises ModelError, one sentence, if it cannot be had or not be decoded exactly.
    """
    say = progress or (lambda line: None)
    where = choose_device(device)
    number = choose_dtype(dtype, where)
    chosen = device == "cpu" or ":" in device  # "cuda" alone may be all of them
    if spec != "auto":
        source = resolve(spec, say)
        if adapter:
            source = replace(source, adapter=adapter)
        return _load(source, where, number, say, chosen=chosen)
    if where.type == "cuda":
        try:
            return _load(resolve(AUTO_HUB_MODEL, say), where, number, say, chosen=chosen)
        except (HubSilent, MemoryShort) as error:
            say(f"{error} Going on with the embedded model.")
    return _load(embedded_source(say), where, number, say, chosen=chosen)


def _load(
    source: Source, device: torch.device, dtype: torch.dtype, say: Progress, *, chosen: bool
) -> Loaded:
    try:
        with quiet(mute=source.gguf):
            config = _config(source)
            parameters = _count(config)
            # Unpacked, or merged, in float32 before they take their final format.
            size = max(dtype.itemsize, 4 if source.gguf or source.adapter else 0)
            placement = place(device, dtype, parameters * size, chosen=chosen)
            say(f"Loading {source.name} ({_count_words(parameters)} parameters)…")
            tokenizer = _tokenizer(source)
            model = _weights(source, config, placement)
    except (torch.OutOfMemoryError, MemoryError) as error:
        log.info("no room for %s", source.name, exc_info=True)
        raise MemoryShort(
            f"{source.name} does not fit into the memory of {device}; choose a smaller model."
        ) from error
    return _describe(source, model, tokenizer, placement, parameters)


def _config(source: Source) -> Any:
    """Its config, if the engine can drive such a model."""
    if not source.gguf:
        fields = _read(source, PreTrainedConfig.get_config_dict)[0]
        if not isinstance(fields, dict):
            raise ModelError(f"The config.json of {source.name} is damaged; fetch it again.")
        kind = fields.get("model_type")
        if kind not in transformers.CONFIG_MAPPING:
            if "auto_map" in fields:
                raise ModelError(
                    f"{source.name} brings its own code, which Slipstream never runs; "
                    f"choose a model that transformers knows."
                )
            raise ModelError(
                f"transformers {transformers.__version__} does not know models of type {kind!r}; "
                f"choose another model or a newer transformers."
            )
    config = _read(source, AutoConfig.from_pretrained, trust_remote_code=False)
    if reason := refusal(config):
        raise ModelError(reason)
    if getattr(config, "sliding_window", None):
        config.sliding_window = None  # wider than the context: without effect, so left out
    return config


def _tokenizer(source: Source) -> Any:
    tokenizer = _read(source, AutoTokenizer.from_pretrained, trust_remote_code=False)
    if source.adapter and (own := template(source.adapter)):
        tokenizer.chat_template = own
    return tokenizer


def _weights(source: Source, config: Any, placement: Placement) -> Any:
    """The model, every one of its weights read from its files."""
    model, report = _read(
        source,
        AutoModelForCausalLM.from_pretrained,
        config=config,
        dtype=torch.float32 if source.adapter else placement.dtype,
        device_map=placement.device_map,
        attn_implementation="sdpa",
        use_safetensors=None if source.gguf else True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    absent = [*report.get("missing_keys", ()), *report.get("mismatched_keys", ())]
    if absent:
        raise ModelError(
            f"{source.name} lacks {len(absent)} of its weights ({absent[0]}); fetch it again."
        )
    if source.adapter:  # merged in float32, rounded once
        merge(model, source.adapter)
        model = model.to(placement.dtype)
    if placement.device_map is None:
        model = model.to(placement.device)
    return model.eval().requires_grad_(False)


def _read(source: Source, read: Callable[..., Any], **options: Any) -> Any:
    """Call one of transformers' readers; whatever it raises becomes one sentence."""
    try:
        return read(source.path, **source.options, **options)
    except (ModelError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        log.info("%s cannot be read", source.name, exc_info=True)
        raise _reason(source, error) from error


def _reason(source: Source, error: Exception) -> ModelError | MemoryError:
    """What a reader's exception means to the user."""
    from huggingface_hub import errors

    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) and cause not in chain:
        chain.append(cause)
    for each in chain:
        if isinstance(each, errors.RepositoryNotFoundError | errors.RevisionNotFoundError):
            return ModelError(hub_refusal(source.path, each))
        if isinstance(each, errors.LocalEntryNotFoundError):
            return HubSilent(
                f"Part of {source.name} was not fetched and the hub does not answer; "
                f"check the network, or use the embedded model."
            )
        if isinstance(each, OSError) and each.errno == errno.ENOSPC:
            return ModelError(
                f"The disk has no room for {source.name}; free some, or choose a smaller model."
            )
        if isinstance(each, RuntimeError) and "can't allocate memory" in str(each):
            return MemoryError()  # PyTorch's way to say that main memory is short
        if isinstance(each, ImportError):
            package = f" ({each.name})" if each.name else ""
            return ModelError(
                f"{source.name} needs a Python package that is not here{package}; install it."
            )
    return ModelError(
        f"{source.name} cannot be read by transformers {transformers.__version__}; its files are "
        f"damaged or of an unknown kind, so fetch it again or choose another."
    )


def _count(config: Any) -> int:
    """Parameters of a model with this config, counted without memory for them."""
    with torch.device("meta"):
        auto: Any = AutoModelForCausalLM  # its from_config carries no types
        empty = auto.from_config(config, attn_implementation="sdpa")
    return sum(weight.numel() for weight in empty.parameters())


def _describe(
    source: Source, model: Any, tokenizer: Any, placement: Placement, parameters: int
) -> Loaded:
    rows = model.get_input_embeddings().weight.shape[0]
    vocabulary = Vocabulary.of(tokenizer)
    if len(vocabulary.tokens) > rows:
        raise ModelError(
            f"The tokenizer of {source.name} has {len(vocabulary.tokens)} tokens and the model "
            f"{rows}; they do not belong together, so fetch both again."
        )
    return Loaded(
        model=model,
        tokenizer=tokenizer,
        vocabulary=vocabulary,
        name=source.name,
        revision=source.revision,
        device=str(placement.device),
        device_name=device_name(placement.device),
        dtype=str(placement.dtype).removeprefix("torch."),
        parameters=parameters,
        context=_context(model.config, tokenizer),
        eos=_eos(model, tokenizer),
        has_chat_template=bool(tokenizer.chat_template),
        note=source.note or _note(tokenizer, parameters),
    )


def _context(config: Any, tokenizer: Any) -> int:
    """Positions that mean the same whatever follows them.

    A longrope model changes the angle of every position once a text outgrows the
    original length, cached ones included; it is held to that length.
    """
    rope = getattr(config, "rope_parameters", None) or {}
    known = [getattr(config, "max_position_embeddings", None), tokenizer.model_max_length]
    if rope.get("rope_type") == "longrope":
        known.append(
            rope.get("original_max_position_embeddings")
            or getattr(config, "original_max_position_embeddings", None)
        )
    return min(int(size) for size in known if size)


def _eos(model: Any, tokenizer: Any) -> frozenset[int]:
    """Every id that ends a text; a chat model often has one in each of three places."""
    found: set[int] = set()
    for place_ in (model.config, model.generation_config, tokenizer):
        ids = getattr(place_, "eos_token_id", None)
        found.update(ids if isinstance(ids, list | tuple) else [] if ids is None else [ids])
    return frozenset(found)


def _note(tokenizer: Any, parameters: int) -> str:
    size = f"{_count_words(parameters)} parameters"
    if not tokenizer.chat_template:
        return f"Base model, {size}: goes on with the text you give it."
    if "</think>" in tokenizer.get_vocab():
        return f"Chat model, {size}; can think between <think> and </think> before it answers."
    return f"Chat model, {size}; answers at once."


def _count_words(parameters: int) -> str:
    if parameters < 1_000_000:
        return f"{parameters:,}"
    if parameters < 1_000_000_000:
        return f"{parameters / 1e6:.0f} million"
    return f"{parameters / 1e9:.1f} billion"
