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
        """across: W transposed, contiguous, (in, out), in the number format to multiply in."""
        ctx.weight = weight
        return (x.to(across.dtype) @ across).to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Through x; the weights are not trained."""
        weight = ctx.weight
        return (gradient.to(weight.dtype) @ weight).to(gradient.dtype), None, None


class FrozenLinear(nn.Module):
    """`nn.Linear` without training; the same result to rounding.

    dtype: the number format it multiplies in; autocast does not reach into a function with
    its own gradient, so what autocast would do is done here.
    """

    def __init__(self, linear: nn.Linear, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.weight = nn.Parameter(linear.weight.detach().to(dtype), requires_grad=False)
        self.bias = linear.bias
        self._across = self.weight.detach().t().contiguous()

    def forward(self, x: Tensor) -> Tensor:
        """Multiply: (…, in_features) → (…, out_features)."""
        out: Tensor = _Multiply.apply(x, self.weight.detach(), self._across)  # type: ignore[no-untyped-call]
        return out if self.bias is None else out + self.bias


def freeze(model: nn.Module, dtype: torch.dtype = torch.float32) -> int:
    """Replace every frozen linear layer of a CPU model; returns how many there were.

    dtype: the number format they multiply in from then on.
    """
    count = 0
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear and not child.weight.requires_grad:
                setattr(parent, name, FrozenLinear(child, dtype))
                count += 1
    return count
