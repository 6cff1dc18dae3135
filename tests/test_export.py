"""Exported pages and sites: everything in them, nothing that ends a script, nothing left out."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.scripted import HOSTILE, Script, record
from ui import export
from ui.export import HOLE, META_HOLE, page, shell, site
from ui.files import plotly
from ui.recordings import text_of
from ui.words import LANGUAGES, dictionary


class Elements(HTMLParser):
    """Scripts and addresses of a page, as a browser's parser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.addresses += [str(named[key]) for key in ("src", "href") if key in named]
        if tag == "script":
            self.scripts.append((named, ""))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and self.scripts:
            named, text = self.scripts[-1]
            self.scripts[-1] = (named, text + data)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append("/" + tag)


def holder(text: str, name: str) -> str:
    found = [body for named, body in Elements(text).scripts if named.get("id") == name]
    assert len(found) == 1
    return found[0]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    record(path, Script(text=HOSTILE), prompt="</script><img src=x onerror=hacked()>")
    return path


def test_a_page_holds_its_recording_and_asks_for_nothing(recording: Path) -> None:
    lines = recording.read_text("utf-8")
    made = page(lines)
    own = holder(made, "slipstream-recording")
    assert "<" not in own
    assert [json.loads(line) for line in own.splitlines()] == [
        json.loads(line) for line in lines.splitlines()
    ]
    assert all(address.startswith("data:") for address in Elements(made).addresses)
    assert "img" not in Elements(made).tags


def test_there_is_one_place_for_the_recording_and_the_player_does_not_name_it() -> None:
    assert shell().count(HOLE) == shell().count(META_HOLE) == 1
    assert holder(shell(), "slipstream-meta") == META_HOLE
    assert holder(shell(), "slipstream-recording") == HOLE


def test_every_script_goes_in_whole() -> None:
    inside = [body for named, body in Elements(shell()).scripts if not named.get("type")]
    assert len(inside) == len(export.PLAYER) + 2
    assert inside[0] == plotly().read_text("utf-8").replace("</script", "<\\/script")
    for name, body in zip((*export.PLAYER, "site.js"), inside[1:], strict=True):
        assert body == (export.ASSETS / name).read_text("utf-8")


def test_a_page_knows_its_words_in_every_language() -> None:
    words = json.loads(holder(shell(), "slipstream-words"))
    assert words == {language: dictionary(language) for language in LANGUAGES}


def test_a_site_has_every_recording_of_its_gallery(tmp_path: Path, recording: Path) -> None:
    out = tmp_path / "site"
    assert site(tmp_path, out) == 1
    index = (out / "index.html").read_text("utf-8")
    (entry,) = json.loads(holder(index, "slipstream-gallery"))
    script = (out / "recordings" / f"{entry['name']}.js").read_text("utf-8")
    found = re.fullmatch(r"Slipstream\.site\.take\(\.\.\.(.*)\);\n", script)
    assert found
    name, packed = json.loads(found[1])
    assert name == entry["name"] == "run"
    assert gzip.decompress(base64.b64decode(packed)) == recording.read_bytes()
    assert (out / "plotly.min.js").read_bytes() == plotly().read_bytes()
    assert all(address.startswith("data:") for address in Elements(index).addresses)
    again = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    site(tmp_path, out)
    assert again == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_the_command_line_writes_a_page_or_a_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundled = next(iter(sorted((export.ASSETS / "recordings").glob("*.jsonl*"))))
    recording = tmp_path / "a.jsonl"
    recording.write_text(text_of(bundled), "utf-8")
    assert export.main([str(recording)]) == 0
    assert recording.with_suffix(".html").read_text("utf-8") == page(recording.read_text("utf-8"))
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(recording.read_bytes()))
    assert export.main([str(packed), "--out", str(tmp_path / "c.html")]) == 0
    assert (tmp_path / "c.html").read_text("utf-8") == page(recording.read_text("utf-8"))
    assert export.main(["--gallery", str(tmp_path / "s"), "--recordings", str(tmp_path)]) == 0
    assert "2 recordings" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "hello", '{"kind": "run", "schema": 99}\n'])
def test_what_is_no_recording_is_refused_in_a_sentence(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    assert export.main([str(path)]) == 2
    said = capsys.readouterr().err
    assert said.strip().endswith(".")
    assert len(said.strip().splitlines()) == 1
    assert not path.with_suffix(".html").exists()


def test_a_site_holds_no_name_that_leads_out_of_its_folder(tmp_path: Path, recording: Path) -> None:
    listed = [
        {"name": name, "title": {"en": "</script><b>"}, "about": {}}
        for name in ("../run", "/run", "..", "", "run")
    ]
    (tmp_path / "gallery.json").write_text(json.dumps(listed), "utf-8")
    out = tmp_path / "deep" / "site"
    assert site(tmp_path, out) == 1
    assert sorted(path.name for path in out.rglob("*.js")) == ["plotly.min.js", "run.js"]
    assert "b" not in Elements((out / "index.html").read_text("utf-8")).tags


def test_a_folder_that_cannot_be_written_is_said(
    tmp_path: Path, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("")
    assert export.main(["--gallery", str(tmp_path / "taken"), "--recordings", str(tmp_path)]) == 2
    assert "cannot be written" in capsys.readouterr().err
