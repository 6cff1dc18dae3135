"""Linear layers with weights laid out once for the CPU's matrix kernels.

oneDNN reads a prepacked float32 weight about twice as fast for 1 to 32 rows as
`F.linear` reads the plain one. The operators are those Inductor emits; they are
private to torch, so they are probed and left alone where they do not work.
"""

from __future__ import annotations

import logging

import torch
from torch import Tensor, nn

log = logging.getLogger(__name__)


class PackedLinear(nn.Module):
    """`nn.Linear` with its weight packed; same result to rounding, inference only."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.bias = linear.bias
        # Not a parameter or buffer: a packed weight has no strides and cannot be moved or saved.
        self._packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), None)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply: (..., in_features) → (..., out_features)."""
        out: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._packed, self.bias, "none", [], "")
        return out


def packing_works(dtype: torch.dtype) -> bool:
    """Whether this torch on this CPU packs weights of `dtype` and multiplies right."""
    plain = nn.Linear(64, 96, dtype=dtype).requires_grad_(False)
    x = torch.linspace(-1, 1, 3 * 64, dtype=dtype).reshape(1, 3, 64)
    try:
        close = torch.allclose(PackedLinear(plain)(x), plain(x), rtol=1e-2, atol=1e-2)
    except (RuntimeError, AttributeError, NotImplementedError) as error:
        log.info("weights of %s stay unpacked: %s", dtype, error)
        return False
    if not close:
        log.warning("packed weights of %s multiply wrong on this machine; left unpacked", dtype)
    return close


@torch.inference_mode()
def pack(model: nn.Module) -> int:
    """Pack every linear layer of a CPU model in place; returns how many were packed.

    The plain weights are let go, except one shared with the embedding. Adapters must
    be merged before. Zero on another device, for other dtypes, or where packing fails.
    """
    parameter = next(model.parameters())
    if parameter.device.type != "cpu" or parameter.dtype not in (torch.float32, torch.bfloat16):
        return 0
    if not packing_works(parameter.dtype):
        return 0
    packed = 0
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            # Exactly nn.Linear: a subclass may compute something else.
            if type(child) is nn.Linear:
                setattr(parent, name, PackedLinear(child))
                packed += 1
    return packed
