"""Where a model goes: device, number format, and whether it fits before it is loaded."""

from __future__ import annotations

import os
import platform
import warnings
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.errors import MemoryShort, ModelError

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}
# Room beside the weights: activations, the cache of a short run, the framework itself.
_MARGIN = 400 << 20


@dataclass(frozen=True, slots=True)
class Placement:
    """A device and a number format; `spread` where the weights go over several GPUs."""

    device: torch.device
    dtype: torch.dtype
    spread: bool = False

    @property
    def device_map(self) -> str | dict[str, torch.device] | None:
        """What `from_pretrained` is told; None loads into main memory."""
        if self.spread:
            return "auto"
        return {"": self.device} if self.device.type == "cuda" else None


def choose_device(name: str = "auto") -> torch.device:
    """The device called `name`; auto takes CUDA, else the CPU.

    Raises ModelError if it is not there, or is one that lanes cannot be exact on.
    """
    cuda = _has_cuda()
    if name == "auto":
        return torch.device("cuda:0" if cuda else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if device.type == "mps":
        raise ModelError(
            "Apple GPUs have no float64, by which tokens are chosen here; use --device cpu."
        )
    if device.type not in ("cpu", "cuda"):
        raise ModelError(f"There is no device called {name!r}; use auto, cpu, cuda or cuda:1.")
    if device.type == "cpu":
        return torch.device("cpu")
    if not cuda:
        raise ModelError("PyTorch finds no cuda device here; use --device cpu.")
    index = device.index or 0
    if index >= torch.cuda.device_count():
        raise ModelError(f"There is no {name} here; the last GPU is cuda:{_gpus() - 1}.")
    return torch.device("cuda", index)


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """The number format called `name`; auto keeps float32 but on CUDA.

    In float32 on a CPU all lanes choose the same tokens; on a GPU bfloat16 is what
    models are made for, and twice as fast. Raises ModelError for one that there is not.
    """
    if name == "auto":
        if device.type != "cuda":
            return torch.float32
        exact = torch.cuda.get_device_capability(device)[0] >= 8
        return torch.bfloat16 if exact else torch.float16
    if name not in DTYPES:
        raise ModelError(f"There is no number format {name!r}; use auto or {', '.join(DTYPES)}.")
    return DTYPES[name]


def place(device: torch.device, dtype: torch.dtype, needed: int, *, chosen: bool) -> Placement:
    """Find room for `needed` bytes of weights; several GPUs share what one cannot hold.

    chosen: this very device was named by the user, so that no other one is used.
    Raises MemoryShort if there is no room.
    """
    free = free_memory(device)
    if free is None or needed + _MARGIN <= free:
        return Placement(device, dtype)
    if device.type == "cuda" and not chosen and _gpus() > 1:
        total = sum(free_memory(torch.device("cuda", i)) or 0 for i in range(_gpus()))
        if needed * 1.1 + _MARGIN * _gpus() <= total:
            return Placement(device, dtype, spread=True)
    raise MemoryShort(
        f"This model needs about {_gigabytes(needed + _MARGIN)} of memory in "
        f"{str(dtype).removeprefix('torch.')} and {device} has {_gigabytes(free)} free; "
        f"choose a smaller model or a shorter number format (--dtype bfloat16)."
    )


def free_memory(device: torch.device) -> int | None:
    """Bytes free on `device`; None where nobody can tell."""
    if device.type == "cuda":
        try:
            return torch.cuda.mem_get_info(device)[0]
        except RuntimeError:  # a GPU that is only lent for the time of a call
            return None
    return min((size for size in (_main_memory(), _container_memory()) if size), default=None)


def device_name(device: torch.device) -> str:
    """What the device is called by its maker, for recordings."""
    if device.type == "cuda":
        try:
            return torch.cuda.get_device_name(device)
        except RuntimeError:
            return "NVIDIA GPU"
    return _processor() or platform.machine() or "CPU"


def _has_cuda() -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an old driver is reported by a warning; it means no
        return torch.cuda.is_available()


def _gpus() -> int:
    return torch.cuda.device_count()


def _main_memory() -> int | None:
    try:
        import psutil
    except ImportError:
        return None
    return int(psutil.virtual_memory().available)


def _container_memory() -> int | None:
    """What a Linux container may still take, where it is held to less than the machine has."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
        stat = (folder / "memory.stat").read_text().split()
    except (OSError, ValueError):
        return None
    # Pages of files that were read count as used, but are given up on demand.
    cached = int(stat[stat.index("inactive_file") + 1]) if "inactive_file" in stat else 0
    return max(limit - used + cached, 0)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    name = next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), "")
    return f"{name} ({os.cpu_count()} threads)" if name else platform.processor()


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"
