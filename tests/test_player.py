"""The pure half of the player, tested by node's own test runner."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.scripted import ENGLISH, KOREAN, THINKING, Script, record

HERE = Path(__file__).parent


def test_the_pure_part_of_the_player(tmp_path: Path):
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI"):
            pytest.fail("node is not installed")
        pytest.skip("node is not installed")
    lanes = ("vanilla", "racer", "racer-logits", "ssr")
    record(tmp_path / "english.jsonl", Script(text=ENGLISH, nodes=63), lanes)
    record(tmp_path / "korean.jsonl", Script(text=KOREAN, differs=("racer", 30, True)), lanes)
    # A draft every 12 tokens of thinking; a border inside a token.
    four = ("vanilla", "racer", "ssr", "racer+ssr")
    record(tmp_path / "thinking.jsonl", Script(thinking=THINKING), four)
    record(tmp_path / "cut.jsonl", Script(thinking=THINKING, cut=True), four)
    record(tmp_path / "again.jsonl", Script(thinking=THINKING, draft_every=12), four)
    (tmp_path / "thinking.txt").write_text(THINKING, "utf-8")
    (tmp_path / "answer.txt").write_text(ENGLISH, "utf-8")
    done = subprocess.run(
        [node, "--test", "--test-reporter=spec", str(HERE / "player.test.js")],  # failures last
        env={**os.environ, "RECORDINGS": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
