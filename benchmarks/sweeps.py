"""Sweeps of SSR's draft point and of the thinking budget, with a figure of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.kept import Kept
from benchmarks.lanes import of_lane
from benchmarks.report import signed, table
from benchmarks.savings import reused, saved
from benchmarks.trial import Trial
from slipstream import Model, Request

Race = Callable[[str, Request], list[Trial]]
"""What gives the trials of a question's race, measured now or before."""

LANES = ("vanilla", "ssr")
POINTS = tuple(i / 10 for i in range(1, 10))
BUDGETS = (0.25, 0.5, 0.75, 1.0, 1.5)


@dataclass(frozen=True, slots=True)
class Point:
    """Means over the questions at one setting.

    at: share of the thinking, or of the budget asked for. saved: share of vanilla's
    seconds over the identical runs, None where there is none. prefix, suffix: share of the
    answer's tokens that were reused that way.
    """

    at: float
    saved: float | None
    prefix: float
    suffix: float


def run(
    model: Model,
    requests: Sequence[tuple[str, Request]],
    kinds: Sequence[str],
    kept: Kept,
    figure: Path,
) -> dict[str, list[dict[str, float | None]]]:
    """Sweep each of `kinds`, print a table and write a figure beside `figure`.

    kinds: keys of KINDS. kept: every race of a sweep is kept there, or taken from there.
    """
    found: dict[str, list[dict[str, float | None]]] = {}
    for kind in kinds:
        points = KINDS[kind](partial(kept.trials, model), requests)
        found[kind] = [asdict(point) for point in points]
        rows = [
            (f"{p.at:.0%}", signed(p.saved), f"{p.prefix:.0%}", f"{p.suffix:.0%}") for p in points
        ]
        print(f"\n{table((kind, 'saved', 'prefix', 'suffix'), rows)}")
        path = figure.with_name(f"{figure.stem}-{kind}.html")
        draw(kind, points, path)
        print(f"drawn in {path}")
    return found


def _draft_points(race: Race, requests: Sequence[tuple[str, Request]]) -> list[Point]:
    """One draft at 10 … 90% of each question's own thinking, which is measured first."""
    lengths = {}
    for name, request in requests:
        (alone,) = race(name, replace(request, lanes=("vanilla",)))
        lengths[name] = alone.thinking

    def asked(name: str, request: Request, share: float) -> Request:
        return replace(request, draft_at=max(1, round(share * lengths[name])), draft_every=0)

    return _swept(race, requests, POINTS, asked)


def _budgets(race: Race, requests: Sequence[tuple[str, Request]]) -> list[Point]:
    """Other thinking budgets, with the draft points as asked for."""

    def asked(name: str, request: Request, share: float) -> Request:
        return replace(request, thinking_budget=max(1, round(share * request.thinking_budget)))

    return _swept(race, requests, BUDGETS, asked)


def _swept(
    race: Race,
    requests: Sequence[tuple[str, Request]],
    shares: Sequence[float],
    asked: Callable[[str, Request, float], Request],
) -> list[Point]:
    """Every question at every share, changed for it by `asked`."""
    points = []
    for share in shares:
        found: list[Trial] = []
        for name, request in requests:
            found += race(name, replace(asked(name, request, share), lanes=LANES))
        points.append(_point(share, found))
    return points


def _point(at: float, found: Sequence[Trial]) -> Point:
    prefix, suffix = reused(of_lane(found, "ssr"))
    return Point(at, saved(found, "ssr"), prefix, suffix)


KINDS = {"draft-point": _draft_points, "budget": _budgets}


def draw(kind: str, points: Sequence[Point], path: Path) -> None:
    """Saving and reuse against the setting, as one page that needs no network."""
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    named: dict[str, Any] = {"draft-point": "draft opened at this share of the thinking"}
    figure = make_subplots(specs=[[{"secondary_y": True}]])
    shares = [point.at for point in points]
    for name, colour, values in (
        ("reused as prefix", "#0072B2", [point.prefix for point in points]),
        ("reused as suffix", "#56B4E9", [point.suffix for point in points]),
    ):
        figure.add_trace(go.Bar(x=shares, y=values, name=name, marker_color=colour))
    figure.add_trace(
        go.Scatter(
            x=shares,
            y=[point.saved for point in points],
            name="time saved against vanilla",
            mode="lines+markers",
            line={"color": "#D55E00", "width": 3},
        ),
        secondary_y=True,
    )
    figure.update_layout(barmode="stack", template="plotly_white", legend={"orientation": "h"})
    figure.update_xaxes(
        title=named.get(kind, "thinking budget, share of the one asked for"), tickformat=".0%"
    )
    figure.update_yaxes(title="share of the answer's tokens", tickformat=".0%", secondary_y=False)
    figure.update_yaxes(title="time saved", tickformat=".0%", secondary_y=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.write_html(path, include_plotlyjs=True)
