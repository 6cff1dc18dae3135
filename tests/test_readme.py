"""What the README shows works as it stands there, and its front matter would start a Space."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def front_matter() -> dict[str, str]:
    block = README.split("---")[1]
    return dict(re.findall(r"^(\w+): (.+)$", block, flags=re.MULTILINE))


def test_the_front_matter_would_start_a_space():
    fields = front_matter()
    assert fields["sdk"] == "gradio"
    assert fields["sdk_version"] == version("gradio")
    assert fields["python_version"] == '"3.12"'
    assert (ROOT / fields["app_file"]).is_file()
    assert len(fields["short_description"]) < 60


def test_every_file_the_readme_links_to_exists():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


@pytest.mark.model
def test_the_python_example_runs_and_its_lanes_agree():
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 11
    out = subprocess.run(
        [sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "racer identical to vanilla: True" in out
    assert re.search(r"^vanilla \d+ forwards$", out, flags=re.MULTILINE)
