"""RACER: training-free draft trees from retrieval and reused logits (arXiv 2604.14885)."""

from racer.drafter import Racer

__all__ = ["Racer"]
