"""What the checkers of all families share: reading an answer's form, naming what is wrong.

Nothing here executes what a model wrote, but for `run_python`, which the page never calls.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer has the form that was asked for, whether it is right, and why."""

    parsed: bool
    right: bool
    reason: str


RIGHT = Verdict(parsed=True, right=True, reason="Every value is as the prompt asks for.")


def unread(reason: str) -> Verdict:
    """An answer that has not the form that was asked for."""
    return Verdict(parsed=False, right=False, reason=reason)


def wrong(reason: str) -> Verdict:
    """An answer of the right form with a mistake in it."""
    return Verdict(parsed=True, right=False, reason=reason)


def compare(
    expected: Sequence[Sequence[str]], found: Sequence[Sequence[str]], columns: Sequence[str]
) -> Verdict:
    """Rows against rows; the reason names the first difference.

    columns: what the values of a row are called.
    """
    for at, (wanted, got) in enumerate(zip(expected, found, strict=False), 1):
        if len(got) != len(wanted):
            return wrong(f"Row {at} has {len(got)} values instead of {len(wanted)}.")
        for column, want, have in zip(columns, wanted, got, strict=True):
            if want != have:
                return wrong(f"Row {at}: {column} is {have}, not {want}.")
    if len(found) != len(expected):
        return wrong(f"There are {len(found)} rows instead of {len(expected)}.")
    return RIGHT


def unfenced(text: str) -> str | None:
    """The code in a fence that is the whole text, or a text without any fence.

    None if there is text beside a fence.
    """
    if "```" not in text:
        return text
    found = re.fullmatch(r"```[a-zA-Z]*\n(.*?)\n?```", text.strip(), re.DOTALL)
    return found[1] if found and "```" not in found[1] else None


def markdown_rows(text: str) -> list[list[str]] | None:
    """Cells of a Markdown table, in a fence or not, its header first.

    None if there is anything but a table.
    """
    lines = [line.strip() for line in (unfenced(text) or "").strip().splitlines()]
    if len(lines) < 3 or any(not re.fullmatch(r"\|.*\|", line) for line in lines):
        return None
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    ruled = all(re.fullmatch(r":?-{3,}:?", cell) for cell in rows[1])
    return [rows[0], *rows[2:]] if ruled and len(rows[1]) == len(rows[0]) else None


def json_value(text: str) -> Any:
    """The value of a JSON text, in a fence or not; None if it is none."""
    bare = unfenced(text)
    if bare is None:
        return None
    try:
        return json.loads(bare, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys occur once; of twins the last would win unseen."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


# Levels of a syntax tree. Python parses more than it can walk: a model that repeats itself
# writes a chain of a thousand `not`s, and comparing that would break off the race.
_DEEPEST = 100


def python_tree(text: str) -> ast.Module | None:
    """The syntax tree of Python in a fence or without one; None if it is not Python alone.

    Nor is it Python that anybody asked for if it is nested beyond all measure.
    """
    bare = unfenced(text)
    if bare is None or not bare.strip():
        return None
    try:
        with warnings.catch_warnings():  # an odd escape in a string is no matter here
            warnings.simplefilter("ignore")
            tree = ast.parse(bare)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        if any(_twins(node) for node in level if isinstance(node, ast.arguments)):
            return None
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return None if level else tree


def _twins(node: ast.arguments) -> bool:
    """Whether two parameters have one name, which Python finds only when it compiles."""
    more = [each for each in (node.vararg, node.kwarg) if each]
    names = [each.arg for each in (*node.posonlyargs, *node.args, *node.kwonlyargs, *more)]
    return len(set(names)) < len(names)


def has_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> bool:
    """Whether a class or function begins with a docstring that says something."""
    return bool((ast.get_docstring(node) or "").strip())


def body_of(node: ast.ClassDef | ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a class or function behind its docstring."""
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def same_statements(first: Sequence[ast.stmt], second: Sequence[ast.stmt]) -> bool:
    """Whether two stretches of code do the same in the same way.

    `x = x + 1` and `x += 1` count as the same, as do `a + b` and `b + a` (all that is added
    here is numbers), and `a < b` and `b > a`; an `else` behind a `return` counts as if it
    were not there; annotations do not count.
    """
    if [ast.dump(each) for each in first] == [ast.dump(each) for each in second]:
        return True
    try:
        return _plain(first) == _plain(second)
    except RecursionError:  # too deep for what is left of the stack
        return False


def _plain(statements: Sequence[ast.stmt]) -> list[str]:
    # Through text, so that the given tree is left as it is.
    module = ast.parse(ast.unparse(ast.Module(list(statements), [])))
    return [ast.dump(statement) for statement in _flat([_Plainer().visit(s) for s in module.body])]


def _flat(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    flat: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, ast.If | ast.For | ast.While):
            statement.body = _flat(statement.body)
            statement.orelse = _flat(statement.orelse)
        flat.append(statement)
        if (
            isinstance(statement, ast.If)
            and statement.orelse
            and isinstance(statement.body[-1], ast.Return)
        ):
            flat += statement.orelse
            statement.orelse = []
    return flat


class _Plainer(ast.NodeTransformer):
    """One way of writing for things that can be written in two."""

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`x += e` as `x = x + e`."""
        self.generic_visit(node)
        old = ast.parse(ast.unparse(node.target), mode="eval").body
        return ast.Assign([node.target], self.visit_BinOp(ast.BinOp(old, node.op, node.value)))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """The parts of a sum in one order; texts and lists are not added but joined."""
        self.generic_visit(node)
        parts = (node.left, node.right)
        joined = any(
            isinstance(p, ast.JoinedStr | ast.List | ast.ListComp) or _text(p) for p in parts
        )
        if not isinstance(node.op, ast.Add) or joined:
            return node
        return ast.BinOp(*_ordered(node))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`a < b` as `b > a`, and `a <= b` as `b >= a`."""
        self.generic_visit(node)
        turned = {ast.Lt: ast.Gt, ast.LtE: ast.GtE}.get(type(node.ops[0]))
        if len(node.ops) != 1 or turned is None:
            return node
        return ast.Compare(node.comparators[0], [turned()], [node.left])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """`x: int = e` as `x = e`."""
        self.generic_visit(node)
        return node if node.value is None else ast.Assign([node.target], node.value)


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _ordered(node: ast.BinOp) -> tuple[ast.expr, ast.operator, ast.expr]:
    left, right = sorted((node.left, node.right), key=ast.dump)
    return left, node.op, right


@dataclass(frozen=True, slots=True)
class Run:
    """What became of code that was executed: whether it ended well, and what it printed."""

    ended: bool
    printed: str
    reason: str


# Runs in the other process. It takes everything it needs before the door is shut: from
# then on nothing can be opened, started, connected to or imported that is not yet there.
_INSIDE = """
import json, resource, sys, typing, math, dataclasses
job = json.load(sys.stdin)
seconds, size = job["seconds"], job["megabytes"] * 2**20
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
resource.setrlimit(resource.RLIMIT_AS, (size, size))
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
code = [compile(job[part], part, "exec") for part in ("answer", "probe")]
harmless = ("exec", "compile", "object.__getattr__", "object.__setattr__", "sys._getframe")
def shut(event, details):
    if event not in harmless:
        raise PermissionError("not allowed: " + event)
sys.addaudithook(shut)
names = {"__name__": "answer"}
for part in code:
    exec(part, names)
"""


def run_python(answer: str, probe: str, *, seconds: int = 2, megabytes: int = 512) -> Run:
    """Execute Python that a model wrote, then `probe`, and return what was printed.

    NEVER for the page: only the evaluation of a training run calls this. It runs in a
    process of its own in an empty folder, with limits of time, memory and output, and
    with files, network and other processes refused by an audit hook. That stops a
    blunder, not an attacker. Needs a POSIX system.
    """
    bare = unfenced(answer)
    if bare is None:
        return Run(ended=False, printed="", reason="There is text beside the code.")
    job = {"answer": bare, "probe": probe, "seconds": seconds, "megabytes": megabytes}
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile() as printed,
        tempfile.TemporaryFile() as failed,
    ):
        try:
            done = subprocess.run(  # noqa: S603 (this Python, fixed words)
                [sys.executable, "-I", "-S", "-c", _INSIDE],
                input=json.dumps(job).encode(),
                stdout=printed,
                stderr=failed,
                cwd=folder,
                env={},
                timeout=2 * seconds + 5,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Run(ended=False, printed="", reason="It did not end in time.")
        text, fault = (_read(file) for file in (printed, failed))
    if done.returncode:
        last = fault.strip().splitlines()[-1:]
        return Run(ended=False, printed=text, reason=(last or ["It was stopped."])[0])
    return Run(ended=True, printed=text, reason="It ended by itself.")


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(65536).decode(errors="replace")
