"""What makes a training step fast on this machine: number format and memory."""

from __future__ import annotations

import ctypes
import time

import torch


def half_is_faster(device: torch.device) -> bool:
    """Whether matrices are multiplied faster in bfloat16 than in float32.

    A GPU says so itself; processors without instructions for it emulate it and are many
    times slower.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu":
        return False
    return _seconds(torch.bfloat16) < 0.9 * _seconds(torch.float32)


def _seconds(dtype: torch.dtype) -> float:
    left, right = torch.ones(256, 576, dtype=dtype), torch.ones(576, 1536, dtype=dtype)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        left @ right
        best = min(best, time.perf_counter() - start)
    return best


def keep_memory() -> None:
    """Have glibc keep what is freed: a step needs the same large blocks again and again.

    Otherwise each is given back to the system and mapped anew page by page, which costs a
    twentieth of the time. Without glibc nothing is changed.
    """
    try:
        allocator = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
    allocator(mmap_threshold, 32 << 20)  # the most it takes
    allocator(trim_threshold, (1 << 31) - 1)
