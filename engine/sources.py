"""What a model's name stands for: the embedded model, a folder, a GGUF file, a hub id.

Resolving looks at lists of files and never at weights, so that what cannot be loaded is
refused before anything large is fetched. Local things are opened with
`local_files_only`; only a hub id that the user named (or `auto`'s) reaches the hub.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine import embedded
from engine.adapter import fingerprint
from engine.errors import ModelError

log = logging.getLogger(__name__)

# `auto` on CUDA. A reasoning model, so that there are phases to see; full attention in
# all layers; open (Apache-2.0, not gated); 3.4 GB in bfloat16, so it fits every GPU that
# is lent for free; and one size up (4B) the race takes twice as long to show the same.
AUTO_HUB_MODEL = "Qwen/Qwen3-1.7B"

_HUB_ID = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
_TOKENIZERS = {"tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "tekken.json"}
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_HUB_SECONDS = 10
_BUSY = (408, 429)  # a hub that is asked too often, or too slowly, says nothing of the model


class HubSilent(ModelError):  # noqa: N818  (reads as a sentence where it is caught)
    """The hub does not answer and the model is not in its cache."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model is, in the words of `from_pretrained`.

    path: folder or hub id. options: revision, local_files_only, gguf_file. adapter: a folder
    with a LoRA adapter to be merged into the weights.
    """

    path: str
    name: str
    revision: str
    options: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    adapter: Path | None = None

    @property
    def gguf(self) -> bool:
        """Are its weights stored as GGUF?"""
        return "gguf_file" in self.options


def resolve(spec: str, progress: Callable[[str], None]) -> Source:
    """The source that `spec` names ("auto" is the caller's to decide).

    Raises ModelError if there is none or its files are not what can be loaded.
    """
    if spec == "embedded":
        return embedded_source(progress)
    if spec == "embedded-base":
        return embedded_base(progress)
    try:
        path = Path(spec).expanduser()
        folder = path.is_dir()
    except (RuntimeError, OSError, ValueError) as error:
        # A home that nobody has, a name too long for a file, a null byte.
        raise ModelError(f"There is no folder {_short(spec)}; check the path.") from error
    if folder:
        try:
            return _folder(path)
        except OSError as error:
            raise ModelError(
                f"{path.name} cannot be read ({error.strerror}); check its permissions."
            ) from error
    if spec.lower().endswith(".gguf"):
        return _gguf(path)
    if match := _HUB_ID.fullmatch(spec):
        return _hub(match["repo"], match["revision"])
    raise ModelError(
        f"There is no folder {spec!r}; name a folder, a .gguf file, a hub id like "
        f"{AUTO_HUB_MODEL}, embedded, or embedded-base."
    )


def _short(spec: str) -> str:
    """A name as it was given, cut where it is endless."""
    return repr(spec if len(spec) <= 60 else f"{spec[:60]}…")


def embedded_source(progress: Callable[[str], None]) -> Source:
    """The model that needs no hub, made on first use, with the adapter that lets it think."""
    base = embedded_base(progress)
    return replace(
        base,
        name=f"{base.name} + reasoner",
        revision=f"{base.revision}, adapter {fingerprint(embedded.ADAPTER)}",
        note=(
            "Small model that runs anywhere. It learned to think before it answers seven kinds "
            "of tasks, such as tables, routes and Python classes; outside them it knows little."
        ),
        adapter=embedded.ADAPTER,
    )


def embedded_base(progress: Callable[[str], None]) -> Source:
    """The embedded model without an adapter."""
    return Source(
        str(embedded.embedded(progress)),
        embedded.NAME,
        embedded.REVISION,
        {"local_files_only": True},
        "Small chat model that runs anywhere; it answers at once and does not reason.",
    )


def _folder(path: Path) -> Source:
    check_files(str(path), (each.name for each in path.iterdir()))
    index = path / "model.safetensors.index.json"
    if index.is_file():
        missing = [name for name in _shards(index) if not (path / name).is_file()]
        if missing:
            raise ModelError(
                f"{path.name} lacks {missing[0]} of its weights; copy the whole model again."
            )
    return Source(str(path), path.resolve().name, "local", {"local_files_only": True})


def _shards(index: Path) -> list[str]:
    try:
        return sorted(set(json.loads(index.read_text())["weight_map"].values()))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ModelError(f"{index.name} is damaged; copy the model again.") from error


def _gguf(path: Path) -> Source:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelError(f"There is no file {path.name}; check the path.") from error
    if magic != b"GGUF":
        raise ModelError(f"{path.name} is not a GGUF file, or it is damaged; fetch it again.")
    options = {"gguf_file": path.name, "local_files_only": True}
    return Source(str(path.parent), path.stem, "local", options)


def _hub(repo: str, revision: str | None) -> Source:
    """Ask the hub what the model consists of, or fall back on what was fetched before."""
    from huggingface_hub import HfApi, errors, try_to_load_from_cache

    try:
        info = HfApi().model_info(repo, revision=revision, timeout=_HUB_SECONDS)
    except (errors.HfHubHTTPError, errors.HFValidationError) as error:
        status = getattr(getattr(error, "response", None), "status_code", 0)
        if status < 500 and status not in _BUSY:
            raise ModelError(hub_refusal(repo, error)) from error
    except Exception:  # which HTTP client it uses differs between releases
        log.info("the hub does not answer", exc_info=True)
    else:
        check_files(repo, (each.rfilename for each in info.siblings or ()))
        sha = str(info.sha)
        return Source(repo, repo, sha, {"revision": sha})
    if not isinstance(try_to_load_from_cache(repo, "config.json", revision=revision), str):
        raise HubSilent(
            f"The hub does not answer and {repo} was not fetched before; check the network, or "
            f"use the embedded model."
        )
    options = {"revision": revision or "main", "local_files_only": True}
    return Source(repo, repo, revision or "cached", options)


def hub_refusal(repo: str, error: BaseException) -> str:
    """What the hub's own answer means, in one sentence."""
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return f"{repo} is gated; accept its terms on its page and set HF_TOKEN, or choose another."
    if isinstance(error, errors.RevisionNotFoundError):
        return f"{repo} has no such revision; leave out what follows the @, or correct it."
    return f"There is no public model {repo} on the hub; check the spelling, or set HF_TOKEN."


def check_files(name: str, files: Iterable[str]) -> None:
    """Are these the files of a model that can be loaded without running anybody's code?

    Raises ModelError with the reason if not.
    """
    names = set(files)
    if "adapter_config.json" in names:
        raise ModelError(f"{name} is an adapter, not a model; merge it into its model first.")
    if "config.json" not in names:
        gguf = next((each for each in sorted(names) if each.endswith(".gguf")), None)
        hint = f"name the file itself, {gguf}" if gguf else "choose the folder that has one"
        raise ModelError(f"{name} has no config.json; {hint}.")
    if not any(each.endswith(".safetensors") for each in names):
        if any(each.endswith(_PICKLES) for each in names):
            raise ModelError(
                f"{name} has its weights as pickles only, which can run code when opened; "
                f"choose a version with safetensors."
            )
        raise ModelError(f"{name} holds no weights (*.safetensors); copy the whole model.")
    if not names & _TOKENIZERS:
        raise ModelError(f"{name} has no tokenizer; copy tokenizer.json beside its weights.")
