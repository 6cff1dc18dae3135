"""The recordings that come with the page: whole, of this schema, and identical in every lane."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.events import Compare, Finish
from engine.record import fold, load
from slipstream import gallery

RECORDINGS = sorted((Path(__file__).parent.parent / "assets" / "recordings").glob("*.jsonl*"))


def test_there_is_one() -> None:
    assert RECORDINGS


def test_a_name_that_is_not_in_the_list_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert gallery.main(["nobody"]) == 2
    assert "nobody" in capsys.readouterr().err


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_a_bundled_recording_is_whole_and_its_lanes_agree(path: Path) -> None:
    events = load(path)
    texts = set(fold(events).values())
    assert len(texts) == 1
    assert all(event.reason != "error" for event in events if isinstance(event, Finish))
    verdicts = [event for event in events if isinstance(event, Compare) and event.complete]
    assert verdicts
    assert all(verdict.identical for verdict in verdicts)
    assert path.stat().st_size < 2**20
