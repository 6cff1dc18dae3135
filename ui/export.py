"""Pages that need no server: one run in one file, or the gallery as a static site.

    python -m ui.export run.jsonl.gz --out run.html
    python -m ui.export --gallery site/

Both open from disk: classic scripts and inlined data, since neither `fetch` nor `import()`
works there. No request leaves them.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import shutil
import sys
from functools import cache
from pathlib import Path

from engine.errors import RecordingError
from engine.events import Unreadable
from engine.record import load
from ui.files import plotly
from ui.recordings import ENDINGS, gallery, place, text_of
from ui.words import ASSETS, ICON, LANGUAGES, PLAYER, dictionary, inert

HOLE = "<!--recording-->"
"""Where the recording's lines go in a shell; `<` in them is spelled out."""
META_HOLE = "<!--meta-->"
"""Where its title and sentences by language go, as JSON, or null. desk.js fills both as well."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slipstream</title>
<link rel="icon" href="data:image/svg+xml,{icon}">
<style>{styles}</style>
{data}
</head>
<body>
<div id="slipstream"></div>
{scripts}
</body>
</html>
"""


def _script(text: str) -> str:
    # The only thing that ends an inline script early.
    return "<script>" + text.replace("</script", "<\\/script") + "</script>"


def _page(data: list[str], scripts: list[str]) -> str:
    styles = "".join(
        (ASSETS / name).read_text(encoding="utf-8") for name in ("player.css", "site.css")
    )
    words = {language: dictionary(language) for language in LANGUAGES}
    own = [(ASSETS / name).read_text(encoding="utf-8") for name in (*PLAYER, "site.js")]
    return _PAGE.format(
        icon=ICON,
        styles=styles,
        data="\n".join([inert("words", words), *data]),
        scripts="\n".join([*scripts, *map(_script, own)]),
    )


@cache
def shell() -> str:
    """A page with everything but the recording and what is said of it: HOLE and META_HOLE."""
    holders = [
        f'<script type="application/x-ndjson" id="slipstream-recording">{HOLE}</script>',
        f'<script type="application/json" id="slipstream-meta">{META_HOLE}</script>',
    ]
    return _page(holders, [_script(plotly().read_text(encoding="utf-8"))])


def page(lines: str) -> str:
    """One self-contained page that plays the recording with these lines."""
    empty = shell().replace(META_HOLE, "null", 1)
    return empty.replace(HOLE, lines.replace("<", "\\u003c"), 1)


def site(recordings: Path, out: Path) -> int:
    """Write the gallery as a static site into the folder `out`; returns how many recordings.

    Each recording is a script of its own, loaded when it is opened.
    Raises Unreadable for a recording that cannot be read.
    """
    (out / "recordings").mkdir(parents=True, exist_ok=True)
    entries = gallery(recordings)
    for entry in entries:
        path = place(recordings, entry["name"])
        assert path is not None  # the gallery lists what is there
        packed = gzip.compress(text_of(path).encode(), mtime=0)
        data = json.dumps([entry["name"], base64.b64encode(packed).decode()])
        script = f"Slipstream.site.take(...{data});\n"
        (out / "recordings" / f"{entry['name']}.js").write_text(script, encoding="utf-8")
    shutil.copyfile(plotly(), out / "plotly.min.js")
    (out / "index.html").write_text(_page([inert("gallery", entries)], []), encoding="utf-8")
    return len(entries)


def main(argv: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ui.export", description=__doc__)
    parser.add_argument("recording", type=Path, nargs="?", help="a .jsonl or .jsonl.gz file")
    parser.add_argument("--out", type=Path, help="the page to write (default: beside it)")
    parser.add_argument("--gallery", type=Path, metavar="FOLDER", help="write a static site there")
    parser.add_argument("--recordings", type=Path, default=ASSETS / "recordings")
    args = parser.parse_args(argv)
    if (args.recording is None) == (args.gallery is None):
        parser.error("name a recording, or a folder with --gallery")
    try:
        if args.gallery is not None:
            count = site(args.recordings, args.gallery)
            print(f"{count} recordings are in {args.gallery}; open its index.html.")
            return 0
        load(args.recording)
        bare = next(
            (
                args.recording.name.removesuffix(e)
                for e in ENDINGS
                if args.recording.name.endswith(e)
            ),
            args.recording.name,
        )
        out = args.out or args.recording.with_name(f"{bare}.html")
        out.write_text(page(text_of(args.recording)), encoding="utf-8")
        print(f"{out} plays the run in any browser.")
    except (RecordingError, Unreadable) as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"It cannot be written: {error.strerror}.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
