from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import torch

from regretless.errors import FileError, RegretlessError
from regretless.problems.energy import EnergyOracle, formulate, read_icon

TEXT = """\
60
2
2
0 190 0.1 0.0
10 5.5
7 170 0.1 0.1
8 6
3
0 4 1 12 471.40
6 2.25
1 3 8 24 4.2e2
4 0
5 10 0 24 200
5 3
"""
LINES = TEXT.splitlines()


def write(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "instance.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_every_field_is_read(tmp_path: Path) -> None:
    instance = read_icon(write(tmp_path, TEXT))
    assert (instance.name, instance.slots, instance.resources) == ("instance", 24, 2)
    assert [m.id for m in instance.machines] == [0, 7]
    assert instance.machines[1].capacity == (8.0, 6.0)
    assert (instance.machines[0].idle, instance.machines[0].up, instance.machines[1].down) == (190.0, 0.1, 0.1)
    task = instance.tasks[1]
    assert (task.id, task.duration, task.earliest, task.latest, task.power, task.usage) == (1, 3, 8, 24, 420, (4, 0))


def test_empty_lines_and_windows_line_ends_are_passed_over(tmp_path: Path) -> None:
    assert read_icon(write(tmp_path, TEXT.replace("\n", "\r\n\r\n"))) == read_icon(write(tmp_path, TEXT))


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (1, "half", "line 1: expected the minutes per slot .* got 'half'"),
        (1, "7", "line 1: expected minutes per slot that divide 1440, got '7'"),
        (2, "0", "line 2: expected the number of resources, at least 1, got '0'"),
        (3, "2.5", "line 3: expected the number of machines as an integer, got 2.5"),
        (3, "9999999999", "line 8: expected the fields 'id idle up down' of a machine"),
        (4, "0 190 0.1", r"line 4: expected the fields 'id idle up down' of a machine \(4 numbers\), got '0 190 0.1'"),
        (5, "10", r"line 5: expected the capacities of machine 0 \(2 numbers\), got '10'"),
        (6, "0 170 0.1 0.1", "line 6: expected a machine with its own id, got the id 0 a second time"),
        (8, "9999999999", "line 15: expected the fields 'id duration earliest latest power' of a task, got the end"),
        (8, "2", "line 13: expected the end of the file after the last task, got '5 10 0 24 200'"),
        (9, "0 4 1 12 nan", "line 9: .* numbers between 0 and 1e.15, got 'nan'"),
        (9, "0 4 1 12 1e99", "line 9: .* got '1e99'"),
        (9, "0 -4 1 12 3", "line 9: .* got '-4'"),
        (9, "0 4 1 12 1_0", "line 9: .* got '1_0'"),
        (9, "0 4.5 1 12 3", "line 9: expected the duration of task 0 as an integer, got 4.5"),
        (9, "0 4 1 25 3", "line 9: expected a time window inside 0 .. 24, got 1 .. 25"),
        (11, "1 20 8 24 3", "line 11: expected a time window of at least 20 slots, got 8 .. 24"),
        (12, "11 0", r"line 12: expected resource usages that fit at least one machine, got \[11.0, 0.0\]"),
        (13, "1 10 0 24 200", "line 13: expected a task with its own id"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: int, text: str, message: str) -> None:
    changed = "\n".join([*LINES[: line - 1], text, *LINES[line:]]) + "\n"
    with pytest.raises(FileError, match=message) as error:
        read_icon(write(tmp_path, changed))
    assert "instance.txt" in str(error.value)


def test_the_error_for_an_incomplete_file_names_what_is_missing(tmp_path: Path) -> None:
    for kept in range(len(LINES)):
        with pytest.raises(FileError, match=f"line {max(kept, 1)}: expected .*, got the end of the file"):
            read_icon(write(tmp_path, "\n".join(LINES[:kept])))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00" * 100, b""])
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(FileError, match=r"instance\.txt"):
        read_icon(write(tmp_path, content))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.txt", tmp_path):
        with pytest.raises(FileError, match="cannot read"):
            read_icon(path)


def mutate(rng: random.Random) -> bytes:
    """Change, drop, repeat, swap or insert characters, words or lines, one to three times."""
    text = TEXT
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(("digit", "digit", "digit", "characters", "word", "line", "cut"))
        if kind == "digit":
            at = rng.choice([i for i, character in enumerate(text) if character.isdigit()] or [0])
            text = text[:at] + rng.choice("0123456789") + text[at + 1 :]
        elif kind == "characters":
            at = rng.randrange(len(text) + 1)
            junk = "".join(rng.choice("0123456789.-+eE \n\tx_\x00é\r") for _ in range(rng.randint(0, 3)))
            text = text[:at] + junk + text[at + rng.randint(0, 3) :]
        elif kind == "word":
            words = text.split(" ")
            words[rng.randrange(len(words))] = rng.choice(
                ("0", "1", "24", "1e15", "99999999999", "-1", "0.5", "inf", "")
            )
            text = " ".join(words)
        elif kind == "line":
            lines = text.split("\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i] = rng.choice((lines[j], "", str(rng.randint(0, 50)), f"{lines[i]} 1", "9" * 400))
            text = "\n".join(lines)
        else:
            text = text[: rng.randrange(len(text) + 1)]
        text = text or "\n"
    content = bytearray(text.encode())
    if rng.random() < 0.1:
        content[rng.randrange(len(content))] = rng.randrange(256)
    return bytes(content)


@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_mutated_files_end_with_the_librarys_own_errors_only(tmp_path: Path, count: int) -> None:
    rng, read, refusals = random.Random(0), 0, []
    for _ in range(count):
        path = write(tmp_path, mutate(rng))
        try:
            instance = read_icon(path)
        except FileError as error:
            refusals.append(str(error))
            continue
        read += 1
        try:
            model = formulate(instance)
            oracle = EnergyOracle(instance, model=model, time_limit=5.0)
            prices = torch.as_tensor(np.random.default_rng(read).normal(size=(2, instance.slots)))
            solved = oracle.solve(prices, decision=True)
        except RegretlessError:
            continue
        assert solved.decision is not None
        assert model.check(solved.decision[solved.found].numpy()).all()
    # Both ends of the test are reached: files that are refused, and changed files that still mean something.
    assert min(read, len(refusals)) > count / 20
    assert all("instance.txt" in message for message in refusals)
