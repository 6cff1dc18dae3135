"""Linear layers that are read and never trained, fast in both directions on a CPU.

A CPU multiplies fastest by a matrix that lies in memory the way it is read. Forwards need
W transposed, gradients W itself; keeping both costs memory and saves a third of a step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class _Multiply(torch.autograd.Function):
    """x Wᵀ with a gradient for x alone. x: (…, in). W: (out, in)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, across: Tensor) -> Tensor:
        """across: W transposed, contiguous, (in, out)."""
        ctx.weight = weight
        return x @ across

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Through x; the weights are not trained."""
        return gradient @ ctx.weight, None, None


class FrozenLinear(nn.Module):
    """`nn.Linear` without training; the same result to rounding."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.weight = linear.weight
        self.bias = linear.bias
        self._across = linear.weight.detach().t().contiguous()

    def forward(self, x: Tensor) -> Tensor:
        """Multiply: (…, in_features) → (…, out_features)."""
        out: Tensor = _Multiply.apply(x, self.weight.detach(), self._across)  # type: ignore[no-untyped-call]
        return out if self.bias is None else out + self.bias


def freeze(model: nn.Module) -> int:
    """Replace every frozen linear layer of a float32 CPU model; returns how many there were."""
    count = 0
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear and not child.weight.requires_grad:
                setattr(parent, name, FrozenLinear(child))
                count += 1
    return count
