from __future__ import annotations

import contextlib
import errno
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from regretless.errors import FileError, InputError
from regretless.storage import (
    load_state,
    read_json,
    save_state,
    strict,
    write_bytes,
    write_json,
    write_parts,
    write_text,
)

STATE = {"rows": torch.arange(3), 7: (torch.tensor(1.5), [None, "é", True]), "left": {"p": 0.05}}


def same(a: Any, b: Any) -> bool:
    """Equality that also looks at types, dtypes and shapes, and takes NaN as equal to NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.nan_to_num(7.5), b.nan_to_num(7.5))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b) or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


def leftovers(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


DTYPES = [
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3,), (2, 3)])
def test_every_dtype_and_shape_comes_back(tmp_path: Path, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = (torch.arange(math.prod(shape)).reshape(shape) % 2).to(dtype)
    save_state(tmp_path / "f", tensor, kind="test")
    assert same(load_state(tmp_path / "f", kind="test"), tensor)


def test_tensors_that_share_memory_or_have_gradients_come_back(tmp_path: Path) -> None:
    tied = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
    save_state(tmp_path / "f", {"a": tied, "b": tied, "c": tied.T, "d": tied[1]}, kind="test")
    back, plain = load_state(tmp_path / "f", kind="test"), tied.detach()
    assert same(back, {"a": plain, "b": plain, "c": plain.T.contiguous(), "d": plain[1]})


keys = st.text(max_size=5) | st.integers()
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
leaves |= st.lists(st.floats(width=32), max_size=3).map(torch.tensor)
states = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
        | st.dictionaries(st.sampled_from(["__tensor__", "d", "l", "t"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(state=states)
def test_any_nested_state_comes_back(tmp_path_factory: pytest.TempPathFactory, state: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "nested"
    save_state(path, state, kind="test")
    assert same(load_state(path, kind="test"), state)


def test_integer_keys_are_not_mixed_up_with_their_names(tmp_path: Path) -> None:
    save_state(tmp_path / "f", {1: "int", "1": "str"}, kind="test")
    assert load_state(tmp_path / "f", kind="test") == {1: "int", "1": "str"}


def test_parameters_and_views_are_saved_as_what_they_show(tmp_path: Path) -> None:
    base = torch.arange(12.0).reshape(3, 4)
    state = {"view": base.T[1:], "again": base, "parameter": torch.nn.Parameter(torch.ones(2))}
    save_state(tmp_path / "f", state, kind="test")
    back = load_state(tmp_path / "f", kind="test")
    assert torch.equal(back["view"], base.T[1:])
    assert torch.equal(back["again"], base)
    assert same(back["parameter"], torch.ones(2))


@pytest.mark.parametrize("view", [torch.arange(8.0)[3:4].as_strided((1, 1), (1, 64)), torch.zeros(1, 4)[:, 1:2].T])
def test_views_of_one_number_are_saved_whatever_their_strides(tmp_path: Path, view: torch.Tensor) -> None:
    save_state(tmp_path / "f", view, kind="test")
    assert torch.equal(load_state(tmp_path / "f", kind="test"), view)


@pytest.mark.parametrize("value", [np.int64(3), np.float32(0.5), np.bool_(True)])
def test_numbers_of_numpy_are_stored_as_numbers(tmp_path: Path, value: Any) -> None:
    save_state(tmp_path / "f", {"setting": value}, kind="test")
    back = load_state(tmp_path / "f", kind="test")["setting"]
    assert (back, type(back)) == (value.item(), type(value.item()))


@pytest.mark.parametrize("value", [{1, 2}, object(), 1j, b"raw", {"deep": [{"x": {3}}]}])
def test_what_cannot_be_stored_is_refused_and_writes_nothing(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError, match="a state holds numbers, strings, lists, dictionaries and tensors, got"):
        save_state(tmp_path / "f", value, kind="test")
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("key", [(1, 2), None, 1.5])
def test_keys_that_json_would_change_are_refused(tmp_path: Path, key: Any) -> None:
    with pytest.raises(InputError, match="keys of a state are strings or integers, got"):
        save_state(tmp_path / "f", {key: 1}, kind="test")


def test_equal_states_give_equal_bytes_every_time(tmp_path: Path) -> None:
    contents = set()
    for _ in range(20):  # safetensors orders several header fields anew each time
        save_state(tmp_path / "f", {"b": torch.ones(2), "a": torch.zeros(1), "n": 1.5}, kind="test")
        contents.add((tmp_path / "f").read_bytes())
    assert len(contents) == 1


def test_what_was_loaded_does_not_change_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    save_state(path, torch.zeros(10_000), kind="test")
    back = load_state(path, kind="test")
    with path.open("r+b") as file:
        file.seek(-4000, os.SEEK_END)
        file.write(b"\xff" * 4000)
    assert torch.equal(back, torch.zeros(10_000))


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "small"
    save_state(path, STATE, kind="test")
    content = path.read_bytes()
    survivors = []
    for position in range(len(content)):
        for mask in (0x20, 0xFF):
            damaged = bytearray(content)
            damaged[position] ^= mask
            path.write_bytes(damaged)
            with contextlib.suppress(FileError):
                survivors.append((mask, load_state(path, kind="test")))
    # A \u00e9 written as \u00E9 says the same: such a file is not damaged. Nothing else gets through.
    assert all(mask == 0x20 and same(back, STATE) for mask, back in survivors), survivors


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "small"
    save_state(path, STATE, kind="test")
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        with pytest.raises(FileError, match="small"):
            load_state(path, kind="test")
    path.write_bytes(content + b"\0")
    with pytest.raises(FileError, match="damaged"):
        load_state(path, kind="test")


@given(content=st.binary(max_size=200))
def test_foreign_bytes_are_a_file_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "foreign"
    path.write_bytes(content)
    with pytest.raises(FileError, match="foreign"):
        load_state(path, kind="test")


def crafted(path: Path, **fields: Any) -> Path:
    path.write_bytes(save({}, metadata={"regretless": json.dumps(fields)}))
    return path


def test_a_file_of_another_kind_names_the_field(tmp_path: Path) -> None:
    save_state(tmp_path / "f", {}, kind="cache")
    with pytest.raises(FileError, match=r"f: field 'format' must be 'regretless.checkpoint', got 'regretless.cache'"):
        load_state(tmp_path / "f", kind="checkpoint")


def test_a_plain_safetensors_file_is_foreign(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(save({"weight": torch.ones(2)}))
    with pytest.raises(FileError, match=r"field 'format' must be 'regretless.test', got None"):
        load_state(tmp_path / "f", kind="test")


def test_a_newer_version_names_the_field_and_an_older_one_is_read(tmp_path: Path) -> None:
    save_state(tmp_path / "f", 1, kind="test", version=3)
    with pytest.raises(FileError, match="field 'version' is 3, this library reads up to 2; upgrade regretless"):
        load_state(tmp_path / "f", kind="test", version=2)
    assert load_state(tmp_path / "f", kind="test", version=4) == 1


@pytest.mark.parametrize("version", ["1", None, 1.0, True, "²", [1]])
def test_a_version_that_is_no_whole_number_names_the_field(tmp_path: Path, version: Any) -> None:
    path = crafted(tmp_path / "f", format="regretless.test", version=version, state=None)
    with pytest.raises(FileError, match="field 'version' must be an integer"):
        load_state(path, kind="test")


@pytest.mark.parametrize(
    "state", [{"__tensor__": "9"}, {"d": 3}, {"d": [[1]]}, {"t": None}, {"x": 1}, {"__tensor__": []}, {"d": [[[], 1]]}]
)
def test_a_hostile_state_with_a_valid_checksum_names_the_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Any
) -> None:
    monkeypatch.setattr("regretless.storage._split", lambda value, tensors: value)
    save_state(tmp_path / "f", state, kind="test")
    with pytest.raises(FileError, match="f: field 'state' cannot be read"):
        load_state(tmp_path / "f", kind="test")


def test_a_bottomless_state_is_a_file_error(tmp_path: Path) -> None:
    depth = 100_000
    text = '{"format": "regretless.test", "version": 1, "state": ' + "[" * depth + "]" * depth + "}"
    (tmp_path / "f").write_bytes(save({}, metadata={"regretless": text}))
    with pytest.raises(FileError, match="f is damaged"):
        load_state(tmp_path / "f", kind="test")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*nothing: No such file"):
        load_state(tmp_path / "nothing", kind="test")
    with pytest.raises(FileError, match="Is a directory"):
        load_state(tmp_path, kind="test")


@pytest.mark.parametrize("call", ["os.replace", "os.fsync"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    path = tmp_path / "f"
    save_state(path, {"old": True}, kind="test")

    def fail(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(call, fail)
        expected = FileError if isinstance(error, OSError) else KeyboardInterrupt
        with pytest.raises(expected) as caught:
            save_state(path, {"old": False}, kind="test")
    if isinstance(error, OSError):
        assert "No space left on device; what was there before is unchanged" in str(caught.value)
        assert str(path) in str(caught.value)
    assert load_state(path, kind="test") == {"old": True}
    assert leftovers(tmp_path) == ["f"]


@pytest.mark.parametrize(("platform", "tries"), [("win32", 3), ("linux", 1)])
def test_windows_waits_for_a_file_that_another_program_holds_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, tries: int
) -> None:
    attempts, replace = [], os.replace

    def busy(*paths: Any) -> None:
        attempts.append(paths)
        if len(attempts) < 3:
            raise PermissionError(errno.EACCES, "Access is denied")
        replace(*paths)

    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr("os.replace", busy)
    with contextlib.nullcontext() if platform == "win32" else pytest.raises(FileError, match="Access is denied"):
        write_text(tmp_path / "f", "x")
    assert len(attempts) == tries


def test_windows_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Access is denied")

    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("os.replace", busy)
    monkeypatch.setattr("regretless.storage.BUSY_SECONDS", 0.05)
    with pytest.raises(FileError, match="Access is denied; what was there before is unchanged"):
        write_text(tmp_path / "f", "x")
    assert leftovers(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match=r"cannot write .*f: Permission denied; is the folder there and writable\?"):
        write_bytes(tmp_path / "f", b"x")


def test_a_file_where_a_folder_is_needed_is_named(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "x")
    with pytest.raises(FileError, match="cannot write"):
        write_text(tmp_path / "file" / "inside", "y")


def test_folders_are_made_and_the_umask_holds(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a" / "b" / "f", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "b" / "f").stat().st_mode & 0o777 == 0o640


def test_numbers_that_json_does_not_have_are_null() -> None:
    assert strict({"a": float("nan"), "b": [float("inf"), 1.5, ("x", -float("inf"))]}) == {
        "a": None, "b": [None, 1.5, ["x", None]],
    }  # fmt: skip


def test_json_files_are_strict_and_files_with_nan_stay_readable(tmp_path: Path) -> None:
    write_json(tmp_path / "f.json", {"a": math.nan, "b": [math.inf, 1.0]})
    assert (tmp_path / "f.json").read_text() == '{\n  "a": null,\n  "b": [\n    null,\n    1.0\n  ]\n}\n'
    (tmp_path / "f.json").write_text('{"a": NaN}')
    assert math.isnan(read_json(tmp_path / "f.json")["a"])


def test_json_comes_back_and_damage_is_named(tmp_path: Path) -> None:
    write_json(tmp_path / "f.json", {"b": [1, 2.5, None], "a": "é"})
    assert read_json(tmp_path / "f.json") == {"a": "é", "b": [1, 2.5, None]}
    for content in (b'{"a": ', b"\xff\xfe", b"", b"[" * 100_000):
        (tmp_path / "f.json").write_bytes(content)
        with pytest.raises(FileError, match=r"cannot read .*f\.json as JSON"):
            read_json(tmp_path / "f.json")
    with pytest.raises(FileError, match=r"missing\.json"):
        read_json(tmp_path / "missing.json")


def test_a_state_that_holds_itself_is_refused(tmp_path):
    state: dict = {"a": 1}
    state["again"] = state
    with pytest.raises(InputError, match="holds itself"):
        save_state(tmp_path / "state", state, kind="test")
    assert list(tmp_path.iterdir()) == []


def test_parts_that_fail_leave_what_was_there(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new"
        raise RuntimeError("no more")

    write_parts(tmp_path / "f", [b"a", b"b"])
    with pytest.raises(RuntimeError, match="no more"):
        write_parts(tmp_path / "f", parts())
    assert (tmp_path / "f").read_bytes() == b"ab"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("name", ["n" * 255, "ü" * 127])
def test_a_name_may_have_the_largest_length(name: str, tmp_path: Path) -> None:
    write_text(tmp_path / name, "all of it")
    assert [path.name for path in tmp_path.iterdir()] == [name]
