"""The command line on the real model: a race without a browser, and sentences for mistakes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from engine.record import fold, halves, load

ROOT = Path(__file__).parent.parent


def app(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "app.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.model
def test_a_headless_race_writes_a_recording_that_holds_its_text(tmp_path: Path):
    path = tmp_path / "run.jsonl"
    done = app(
        *("--model", "embedded", "--prompt", "Name three colours.", "--lanes", "vanilla,racer"),
        *("--max-new-tokens", "24", "--record", str(path), "--title", "Colours"),
    )
    assert done.returncode == 0, done.stderr
    events = load(path)
    assert events[0].title == "Colours"
    texts = fold(events)
    assert texts["vanilla"] == texts["racer"] != ""
    for text in halves(events, "racer").values():  # it thinks first, and both are printed
        assert text.strip() in done.stdout
    assert "racer: identical to vanilla in all" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--model", "./no/such/folder", "--prompt", "x"), "no/such/folder"),
        (("--model", "./no-such.gguf", "--prompt", "x"), "no-such.gguf"),
    ],
)
def test_a_wrong_model_is_one_sentence_and_no_traceback(arguments, sentence):
    done = app(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.model
def test_a_wrong_lane_is_one_sentence(tmp_path: Path):
    done = app("--model", "embedded", "--prompt", "x", "--lanes", "turbo")
    assert done.returncode == 2
    assert "There is no lane 'turbo'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.model
def test_started_as_a_space_starts_it_the_page_answers(tmp_path: Path):
    """PORT from the environment, no pip at run time, the host's usual variables."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    blocked = tmp_path / "pip.py"
    blocked.write_text("raise ImportError('no pip here')\n")
    environment = {
        **os.environ,
        "PORT": str(port),
        "SPACE_ID": "somebody/slipstream",
        "PYTHONPATH": str(tmp_path),
        "MAX_MAX_NEW_TOKENS": "64",
    }
    server = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=environment)
    try:
        assert _answers(f"http://127.0.0.1:{port}/", 90)
    finally:
        server.terminate()
        server.wait(20)


def _answers(url: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.status == 200
        except OSError:
            time.sleep(0.3)
    return False
