"""SSR: the answer drafted from partial reasoning (arXiv 2608.20359)."""

from ssr.drafter import SSR
from ssr.schedule import Schedule

__all__ = ["SSR", "Schedule"]
