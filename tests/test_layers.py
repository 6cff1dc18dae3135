"""Who may import whom, read off the sources; and what claims to need no torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("engine", "racer", "ssr", "slipstream", "ui", "benchmarks", "training", "tests", "app")
TORCH_FREE_FOR_UI = {
    "engine.events", "engine.tree", "engine.record", "engine.text", "engine.errors",
}  # fmt: skip


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).glob("**/*.py"))


def imported(path: Path) -> set[str]:
    """Every module a file imports, anywhere in it, as a full dotted name."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*up, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = ROOT.joinpath(*module.split("."), f"{alias.name}.py")
                found.add(f"{module}.{alias.name}" if inner.exists() else module)
    return found


def tops(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(path)}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def says_no_torch(path: Path) -> bool:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    text = " ".join(docstring.lower().split())
    return "no torch" in text or "never torch" in text


ALL = [path for package in OURS[:-2] for path in sources(package)]
MARKED = [path for path in ALL if says_no_torch(path)]


def ids(path: Path) -> str:
    return module_of(path)


@pytest.mark.parametrize("path", sources("engine"), ids=ids)
def test_the_engine_imports_nothing_of_what_is_built_on_it(path: Path) -> None:
    assert not tops(path) & (set(OURS) - {"engine"})
    assert not tops(path) & {"gradio", "plotly"}


@pytest.mark.parametrize("path", sources("racer") + sources("ssr"), ids=ids)
def test_a_drafting_method_imports_the_engine_and_itself_only(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0]
    assert not tops(path) & (set(OURS) - {"engine", own})
    assert not tops(path) & {"gradio", "plotly", "torch", "transformers"}


@pytest.mark.parametrize("path", sources("ui"), ids=ids)
def test_the_page_imports_only_the_engines_torch_free_parts(path: Path) -> None:
    names = imported(path)
    engine = {name for name in names if name.partition(".")[0] == "engine"}
    assert engine <= TORCH_FREE_FOR_UI
    assert not tops(path) & {"torch", "transformers", "racer", "ssr", "slipstream", "app"}


@pytest.mark.parametrize("path", sources("slipstream"), ids=ids)
def test_what_puts_the_engine_together_knows_no_page(path: Path) -> None:
    assert not tops(path) & {"ui", "gradio", "plotly", "app", "tests"}


@pytest.mark.parametrize("path", ALL, ids=ids)
def test_no_program_file_imports_the_tests(path: Path) -> None:
    assert "tests" not in tops(path)


def caches(keyword: ast.keyword) -> bool:
    value = keyword.value
    return keyword.arg == "use_cache" and isinstance(value, ast.Constant) and value.value is True


def test_the_only_file_of_the_engine_that_calls_the_model_to_decode_is_the_target() -> None:
    """`use_cache=True` is what decoding looks like; a reference forward has it False."""
    calling = [
        path.name
        for path in sources("engine") + sources("racer") + sources("slipstream")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and any(map(caches, node.keywords))
    ]
    assert calling == ["target.py"]


def test_the_marks_are_found() -> None:
    """Otherwise the next test would say nothing."""
    names = {module_of(path) for path in MARKED}
    assert {"engine.tree", "engine.events", "engine.drafter", "engine.capacity"} <= names
    assert names >= {"engine.errors", "engine.text"}


def test_what_is_marked_as_free_of_torch_imports_none_in_any_way() -> None:
    modules = sorted({module_of(path) for path in MARKED} | TORCH_FREE_FOR_UI | {"racer"})
    program = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(name)\n"
        "    assert 'torch' not in sys.modules, name\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *modules],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.strip().splitlines()[-1:]


def test_the_program_itself_is_short() -> None:
    assert len((ROOT / "app.py").read_text(encoding="utf-8").splitlines()) < 80
