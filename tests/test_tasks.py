"""The tasks a small model learns from: a prompt is enough to know what the answer must be."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from engine.embedded import embedded
from training import general
from training.checks import RIGHT, python_tree, run_python
from training.tasks import (
    FAMILIES,
    SPLITS,
    Example,
    classes,
    family_of,
    itinerary,
    programme,
    pseudocode,
    purchases,
    table,
    tsv,
)
from training.tasks.pools import FRESH, TRAIN, numbers, part
from training.topics import TOPICS

SEEDS = range(200)
MODULES = (table, purchases, tsv, itinerary, programme, classes, pseudocode)
PYTHON = ("classes", "pseudocode")
families = pytest.mark.parametrize("name", FAMILIES)

CHAT = (
    "",
    "Hello!",
    "Explain in simple words why the sky is blue.",
    "Turn the notes into a Markdown table. Add the sum of each row and a running total.",
    "Write a Python class Parcel with the fields name, weight and price, and docstrings.",
    "Write a Python class Parcel with type hints and docstrings.\n\nIt should be nice.",
    "Convert this HTML to TSV.\n\n<p>nothing</p>",
    "Plan a journey from Here to There.\n\nHere to Somewhere by bus, 4 minutes",
    "\n\n\n\n",
    "- \n\n- ",
)


@cache
def examples(name: str, split: str) -> tuple[Example, ...]:
    return tuple(FAMILIES[name].make(seed, split) for seed in SEEDS)


def both(name: str) -> Iterator[Example]:
    for split in SPLITS:
        yield from examples(name, split)


@cache
def _spec(example: Example) -> Any:
    return FAMILIES[example.family].spec(example.prompt)


def faulty(name: str, example: Example, answer: str) -> str:
    """Why the checker does not take a wrong answer."""
    verdict = FAMILIES[name].grade(_spec(example), answer.strip())
    assert not verdict.right, answer
    assert re.fullmatch(r"[^\n]+\.", verdict.reason)
    return verdict.reason


# --- prompts


@families
def test_the_answer_of_an_example_passes_its_checker(name: str) -> None:
    for example in both(name):
        verdict = FAMILIES[name].check(example.prompt, example.answer)
        assert verdict == RIGHT, example


@families
def test_thinking_and_answer_follow_from_the_text_of_the_prompt(name: str) -> None:
    family = FAMILIES[name]
    example = examples(name, TRAIN)[0]
    assert family.spec(example.prompt.replace("\n", "\r\n") + "\r\n") == _spec(example)
    for seed in range(50):
        dice = random.Random(seed)
        spec = family.draw(dice, TRAIN)
        assert family.spec(family.ask(dice, spec)) == spec
    for example in both(name):
        spec = _spec(example)
        assert family.think(spec) == example.thinking
        assert family.write(spec) == example.answer


@families
def test_a_seed_makes_the_same_example_again_and_another_in_another_split(name: str) -> None:
    assert FAMILIES[name].make(7, TRAIN) == FAMILIES[name].make(7, TRAIN)
    assert len({example.prompt for example in both(name)}) == 2 * len(SEEDS)


@families
def test_a_prompt_is_recognised_by_its_own_family_only(name: str) -> None:
    for example in list(both(name))[::4]:
        assert [n for n, family in FAMILIES.items() if family.spec(example.prompt)] == [name]
        assert family_of(example.prompt) == name


def test_other_prompts_are_of_no_family() -> None:
    prompts = [general.make(seed, split).prompt for seed in SEEDS for split in SPLITS]
    for prompt in (*CHAT, *prompts):
        assert family_of(prompt) is None
    verdict = FAMILIES["table"].check("Hello!", "| a |\n| --- |\n| b |")
    assert not verdict.parsed


@families
def test_a_prompt_that_was_spoilt_is_of_no_family_or_has_another_answer(name: str) -> None:
    family = FAMILIES[name]
    for example in examples(name, FRESH)[:20]:
        lines = example.prompt.splitlines()
        for at in range(len(lines)):
            spoilt = "\n".join([*lines[:at], "what is this", *lines[at:]])
            spec = family.spec(spoilt)
            assert spec is None or family.write(spec) == example.answer


def test_a_route_with_a_fork_or_without_an_end_is_no_task() -> None:
    ask = "Find the way from A to C with these one-way connections and write a numbered itinerary"
    ask += " with the minutes so far.\n\n"
    whole = "A to B by bus, 4 minutes\nB to C by bus, 4 minutes"
    assert family_of(ask + whole) == "itinerary"
    assert family_of(ask + whole + "\nA to C by bus, 4 minutes") is None
    assert family_of(ask + "A to B by bus, 4 minutes\nB to A by bus, 4 minutes") is None


@pytest.mark.parametrize("tags", ["<p>", "<p ", "<p><b>", "<b>", "<p><ul><div><tr>"])
def test_a_long_prompt_of_open_tags_is_read_once(tags: str) -> None:
    start = time.process_time()
    assert (
        family_of(
            "Turn the HTML into TSV. The new last column, Total, adds up the numbers "
            "so far.\n\n" + tags * (100_000 // len(tags))
        )
        is None
    )
    assert time.process_time() - start < 5


def test_html_is_read_as_a_browser_reads_it() -> None:
    row = "<tr><td>{}</td><td>{}</td></tr>\n"
    ask = "Convert this HTML to TSV and add a column Total with the running total of the last "
    ask += "column.\n\n<table>\n"
    rows = row.format("A &amp; B", 4) + row.format("C", 5) + "</table>"
    prompt = ask + row.format("Name", "Days") + rows
    assert FAMILIES["tsv"].check(prompt, "Name\tDays\tTotal\nA & B\t4\t4\nC\t5\t9").right
    assert family_of(ask + rows) is None  # no header, so what would stand above Total?


def test_a_prompt_that_leaves_more_than_one_right_answer_is_no_task() -> None:
    paid = "We began with 4. Put this into JSON with a sum and a running total in every object."
    paid += "\n\nAda paid 3 for {} and 2 for {}."
    assert family_of(paid.format("tea", "salt")) == "purchases"
    assert family_of(paid.format("tea", "tea")) is None
    assert family_of(paid.format("total", "tea")) is None
    evening = "We start at {}. Put the items into order and write a timetable with begin and end "
    evening += "of each.\n\nstart -> song, Ada, 5 min\nsong -> quiz, Eli, 6 min"
    assert family_of(evening.format("9:15")) == "programme"
    assert family_of(evening.format("09:15")) is None
    kind = "Write a Python class Parcel with type hints and docstrings.\n\nData: {}: {}, size: int"
    kind += "\n- {}"
    assert family_of(kind.format("weight", "int", "both: return weight plus size")) == "classes"
    assert family_of(kind.format("title", "str", "both: return title plus size")) is None
    assert family_of(kind.format("title", "str", "add_title: add amount to title")) is None
    assert family_of(kind.format("title", "str", "name: set title to text")) == "classes"
    assert family_of(kind.format("title", "str", "name: set size to text")) is None


def test_sums_may_have_more_digits_than_their_terms() -> None:
    prompt = (
        "Use the connections to go from A to C. I need numbered steps and the sum of the "
        "minutes.\n\nA to B by bus, 9000 minutes\nB to C by bus, 9000 minutes"
    )
    family = FAMILIES["itinerary"]
    answer = family.write(family.spec(prompt))
    assert "18000" in answer
    assert family.check(prompt, answer).right


def test_a_class_with_a_word_of_python_as_a_name_is_no_task() -> None:
    prompt = "Write a Python class Parcel with type hints and docstrings.\n\nFields: {} (int)\n"
    prompt += "Methods:\n- reset() sets {} to 0"
    assert family_of(prompt.format("size", "size")) == "classes"
    assert family_of(prompt.format("lambda", "lambda")) is None


# --- mistakes


@families
def test_no_line_can_be_left_out_doubled_or_put_elsewhere(name: str) -> None:
    for example in [*examples(name, TRAIN)[:4], *examples(name, FRESH)[:4]]:
        lines = example.answer.splitlines()
        for at, line in enumerate(lines):
            if not line:
                continue
            faulty(name, example, "\n".join(lines[:at] + lines[at + 1 :]))
            faulty(name, example, "\n".join(lines[: at + 1] + lines[at:]))
            after = lines[at + 1 : at + 2]
            if after and after[0] not in ("", line):
                swapped = [*lines[:at], after[0], line, *lines[at + 2 :]]
                faulty(name, example, "\n".join(swapped))


@families
def test_no_digit_can_be_another(name: str) -> None:
    for example in examples(name, FRESH)[:6]:
        said = [found.span() for found in re.finditer(r'""".*"""', example.answer)]
        for found in re.finditer(r"\d", example.answer):
            at = found.start()
            if name == "classes" and any(start < at < end for start, end in said):
                continue  # what a docstring says there is not checked
            digit = str((int(found[0]) + 1) % 10)
            faulty(name, example, example.answer[:at] + digit + example.answer[at + 1 :])


@families
def test_no_text_can_stand_around_the_answer(name: str) -> None:
    for example in examples(name, FRESH)[:20]:
        for around in ("Here you are:\n{}", "{}\n\nI hope this helps!", "{}\n{}"):
            faulty(name, example, around.replace("{}", example.answer))


@families
def test_an_answer_cut_short_is_wrong_and_nothing_makes_a_checker_fall(name: str) -> None:
    dice = random.Random(1)
    for example in examples(name, FRESH)[:3]:
        answer = example.answer
        for end in range(0, len(answer) - 5, 7):
            faulty(name, example, answer[:end])
        for _ in range(100):
            at = dice.randrange(len(answer))
            mark = dice.choice('\n\t |"`{}[]():#\\\0é\x0b0')
            FAMILIES[name].check(example.prompt, answer[:at] + mark + answer[at + 1 :])
            FAMILIES[name].spec(example.prompt[:at] + mark + example.prompt[at + 1 :])
    assert not FAMILIES[name].check(example.prompt, "(" * 5000).parsed


REPLACED: dict[str, tuple[tuple[str, str], ...]] = {
    "table": (("| Sum |", "| Total |"), ("| ---", "| --")),
    "purchases": (('"sum"', '"Sum"'), ('"name"', '"who"'), (', "total"', ', "total": 1, "total"')),
    "tsv": (("\t", " "), ("Total", "Sum")),
    "itinerary": (("From", "To"), ("1. ", "- "), ("minutes", "hours"), (" to ", " and ")),
    "programme": (("-", " - "), ("The end", "End"), ("minutes", "min")),
    "classes": (
        ("class ", "class A"),
        ("__init__", "__new__"),
        ("-> None", "-> int"),
        (": str", ""),
        ("self.", "this."),
        ("    def", "    async def"),
        (":\n", "(list):\n"),
        (":\n", "(metaclass=list):\n"),
        ("(self, ", "(self, more, "),
        ("```python", "```python\nimport os"),
    ),
    "pseudocode": (
        ("return ", "yield "),
        ("def ", "def a"),
        ("(", "(self, "),
        (" = ", " += "),
        ("```python", "```python\nimport os"),
    ),
}


@families
def test_each_kind_of_mistake_is_found(name: str) -> None:
    found = set()
    for old, new in REPLACED[name]:
        for example in examples(name, FRESH)[:20]:
            if old in example.answer:
                faulty(name, example, example.answer.replace(old, new, 1))
                found.add(old)
    assert found == {old for old, _ in REPLACED[name]}


@pytest.mark.parametrize("name", PYTHON)
def test_docstrings_have_to_be_there_and_say_a_note_where_there_is_one(name: str) -> None:
    example = examples(name, FRESH)[0]
    other = re.sub(r'""".*"""', '"""Something else."""', example.answer)
    if name == "classes":  # nobody said what they have to say
        assert FAMILIES[name].check(example.prompt, other).right
    else:
        assert "note" in faulty(name, example, other)
        quiet = re.sub(r'"""(.*)\."""', lambda note: f'"""{note[1].lower()}"""', example.answer)
        assert FAMILIES[name].check(example.prompt, quiet).right
    for found in re.finditer(r'""".*"""', example.answer):
        without = example.answer[: found.start()] + "pass" + example.answer[found.end() :]
        assert "docstring" in faulty(name, example, without)
        empty = example.answer[: found.start()] + '"""   """' + example.answer[found.end() :]
        assert "docstring" in faulty(name, example, empty)


def test_the_same_written_in_another_way_is_right() -> None:
    tables = examples("table", FRESH)[0]
    assert FAMILIES["table"].check(tables.prompt, tables.answer.replace("| ", "|  ")).right
    fenced = f"```markdown\n{tables.answer}\n```"
    assert FAMILIES["table"].check(tables.prompt, fenced).right
    titled = tables.answer.replace("| Name | Place |", "| Who | Where |", 1)
    assert FAMILIES["table"].check(tables.prompt, titled).right
    lists = examples("purchases", FRESH)[0]
    fenced = f"```json\n{lists.answer.replace('[', '[ ')}\n```"
    assert FAMILIES["purchases"].check(lists.prompt, fenced).right
    for name, old, new in (
        ("classes", r"self\.(\w+) \+= amount", r"self.\1 = self.\1 + amount"),
        ("classes", r"self\.(\w+) \+= amount", r"self.\1 = amount + self.\1"),
        ("classes", r"return self\.(\w+) > (\d+)", r"return \2 < self.\1"),
        ("classes", r"return self\.(\w+) \+ self\.(\w+)", r"return self.\2 + self.\1"),
        ("classes", r"\}: \{", "}:{"),
        ("pseudocode", r"(\w+) \+= (\w+)", r"\1 = \1 + \2"),
        ("pseudocode", r"if (\w+) < (\w+):", r"if \2 > \1:"),
        ("pseudocode", r"def (\w+)\((\w+)\):", r"def \1(\2: list[int]) -> list[int]:"),
    ):
        example = next(e for e in examples(name, FRESH) if re.search(old, e.answer))
        assert FAMILIES[name].check(example.prompt, re.sub(old, new, example.answer)).right


def test_white_space_that_nobody_sees_is_not_wrong_and_an_empty_cell_is() -> None:
    sheet = examples("tsv", FRESH)[0]
    assert FAMILIES["tsv"].check(sheet.prompt, f" \n{sheet.answer}\n").right
    assert not FAMILIES["tsv"].check(sheet.prompt, f"\t{sheet.answer}").right
    assert not FAMILIES["tsv"].check(sheet.prompt, f"{sheet.answer}\t").right


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("pseudocode", "return ", "return " + "not " * 1500),
        ("pseudocode", "return ", "return " + "1 + " * 1500),
        ("pseudocode", "    return ", "    if a:\n        b\n" + "    elif a:\n        b\n" * 300),
        ("classes", "-> None", "-> a" + ".a" * 1500),
    ],
)
def test_code_nested_beyond_measure_is_judged_all_the_same(name: str, old: str, new: str) -> None:
    example = examples(name, FRESH)[0]
    verdict = FAMILIES[name].check(example.prompt, example.answer.replace(old, new, 1))
    assert not verdict.parsed


def test_a_reason_is_one_line_that_can_be_written_down() -> None:
    example = examples("purchases", FRESH)[0]
    rows = json.loads(example.answer)
    thing = next(key for key in rows[0] if key not in ("name", "sum", "total"))
    for key, value in (
        (thing, str(rows[0][thing])),
        ("name", "a\nb"),
        ("name", "\ud800"),
        ("\ud800", 1),
    ):
        answer = json.dumps([{**rows[0], key: value}, *rows[1:]])
        faulty("purchases", example, answer).encode()
    assert faulty("purchases", example, "[{}]") == "Object 1 has the keys none."
    text = json.dumps([{**rows[0], thing: "3"}, *rows[1:]])
    assert f"{thing} is '3', not " in faulty("purchases", example, text)


def test_a_reason_names_the_place() -> None:
    example = examples("table", TRAIN)[0]
    *lines, last = example.answer.splitlines()
    cells = last.split(" | ")
    cells[-2] = "99"
    reason = faulty("table", example, "\n".join([*lines, " | ".join(cells)]))
    assert reason.startswith(f"Row {len(lines) - 1}: Sum is 99, not ")


# --- what is kept apart, and how much there is


def _route(spec: Any) -> set[str]:
    return {stop for leg in spec.legs for stop in (leg.start, leg.end)}


def _looped(spec: Any) -> set[str]:
    lines = [line for function in spec.functions for line in function.lines]
    return {word for line in lines if line.kind == "for" for word in (line.first, line.second)}


NAMES: dict[str, Callable[[Any], set[str]]] = {
    "table": lambda s: {s.first, s.second, *(n for row in s.rows for n in (row.name, row.place))},
    "purchases": lambda s: {s.first, s.second, *(name for name, _, _ in s.paid)},
    "tsv": lambda s: {cell for row in s.rows for cell in row[:-1]},
    "itinerary": _route,
    "programme": lambda s: {name for item in s.items for name in (item.name, item.who)},
    "classes": lambda s: {s.name, *(name for name, _ in s.fields)},
    "pseudocode": _looped,
}


@families
def test_fresh_prompts_have_names_that_training_never_saw(name: str) -> None:
    seen, fresh = (
        {word for example in examples(name, split) for word in NAMES[name](_spec(example))}
        for split in SPLITS
    )
    assert len(seen) > 25
    assert len(fresh) > 8
    assert not seen & fresh


def test_fresh_prompts_have_numbers_that_training_never_saw() -> None:
    dice = random.Random(3)
    seen, fresh = ({tuple(numbers(dice, split, 3, 2, 9)) for _ in range(1500)} for split in SPLITS)
    assert not seen & fresh
    assert len(seen | fresh) > 480
    assert len({sum(each) % 5 for each in fresh}) == 5
    with pytest.raises(ValueError, match="split"):
        part("abc", "test")


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.FAMILY.name)
def test_prompts_are_worded_in_many_ways(module: Any) -> None:
    used = set()
    for example in examples(module.FAMILY.name, TRAIN):
        paragraphs = example.prompt.split("\n\n")
        for at, wording in enumerate(module.WORDINGS):
            if any(wording.read(paragraph) is not None for paragraph in paragraphs):
                used.add(at)
    assert len(used) == len(module.WORDINGS) >= 8


@families
def test_thinking_holds_every_number_of_the_answer(name: str) -> None:
    for example in both(name):
        answer = re.sub(r"^\d+\. ", "", example.answer, flags=re.MULTILINE)
        assert set(re.findall(r"\d+", answer)) <= set(re.findall(r"\d+", example.thinking))


@pytest.fixture(scope="module")
def tokens() -> Callable[[str], int]:
    """How many tokens of the embedded model a text has."""
    tokenizer = Tokenizer.from_file(str(embedded() / "tokenizer.json"))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.mark.model
def test_thinking_and_answers_are_long_enough_to_show_something(
    tokens: Callable[[str], int],
) -> None:
    longer = 0
    for name in FAMILIES:
        lengths = [(tokens(e.thinking), tokens(e.answer)) for e in list(both(name))[::3]]
        fitting = [150 <= thinking <= 350 and 120 <= answer <= 300 for thinking, answer in lengths]
        assert sum(fitting) >= 0.95 * len(fitting), name
        longer += sum(t for t, _ in lengths) >= sum(a for _, a in lengths)
    assert longer >= len(FAMILIES) / 2


@pytest.mark.model
def test_general_thinking_is_brief(tokens: Callable[[str], int]) -> None:
    lengths = [tokens(general.make(seed, split).thinking) for seed in SEEDS for split in SPLITS]
    assert sum(40 <= length <= 120 for length in lengths) >= 0.95 * len(lengths)


# --- general examples


def test_general_examples_are_many_and_whole() -> None:
    assert len(TOPICS) >= 40
    for name, topic in TOPICS.items():
        for split in SPLITS:
            for seed in range(20):
                for text in topic.make(random.Random(seed), split):
                    assert text.strip() == text, name
                    assert text, name
                    assert not re.search(r"\{[a-zA-Z_]+\}", text), (name, text)
    prompts = {general.make(seed, TRAIN).prompt for seed in range(1000)}
    assert len(prompts) > 800
    assert general.make(5, TRAIN) == general.make(5, TRAIN)


def test_general_python_is_python() -> None:
    for seed in range(100):
        assert python_tree(TOPICS["function"].make(random.Random(seed), TRAIN)[2])


# --- code that a model wrote


@pytest.mark.parametrize("name", PYTHON)
def test_code_is_run_in_a_process_of_its_own(name: str) -> None:
    family, example = FAMILIES[name], examples(name, FRESH)[1]
    assert family.probe is not None
    ran = run_python(example.answer, family.probe(_spec(example)))
    assert ran.ended, ran.reason
    assert ran.printed


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "x = [0] * 10**9",
        "while True: print('a' * 10**6)",
        "import sys\nwhile True: sys.stderr.write('a' * 10**6)",
        "open('here', 'w')",
        "import socket",
        "import os; os.system('true')",
        "1 / 0",
        "```python\npass\n```\nand more",
    ],
)
def test_code_that_does_harm_is_stopped(code: str) -> None:
    ran = run_python(code, "print('done')", seconds=1)
    assert not ran.ended
    assert "done" not in ran.printed
    assert len(ran.printed) <= 65536
    assert 0 < len(ran.reason) <= 65536


def test_nothing_here_needs_torch_or_the_page() -> None:
    code = "import sys, training.tasks, training.general\n"
    code += "assert not {'torch', 'gradio', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent)


def test_a_function_with_two_parameters_of_one_name_is_no_python() -> None:
    assert python_tree("def f(a, b):\n    return a\n") is not None
    assert python_tree("def f(a, a):\n    return a\n") is None
    assert python_tree("class A:\n    def f(self, *self):\n        return 1\n") is None


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        # Another parameter or field of the same kind, which one value for all would not show.
        ("classes", r"return self\.(\w+) \+ self\.(\w+)", r"return self.\1 + self.\1"),
        ("pseudocode", r"if (\w+) < (\w+):", r"if \2 < \1:"),
        ("pseudocode", r"if (\w+) > (\w+):", r"if \2 > \1:"),
    ],
)
def test_what_is_executed_shows_a_wrong_value(name: str, old: str, new: str) -> None:
    family = FAMILIES[name]
    example = next(e for e in examples(name, FRESH) if re.search(old, e.answer))
    assert family.probe is not None
    probe = family.probe(family.spec(example.prompt))
    wanted = run_python(example.answer, probe)
    assert wanted.ended
    assert run_python(re.sub(old, new, example.answer), probe).printed != wanted.printed
