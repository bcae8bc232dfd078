from __future__ import annotations

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.cache import cache_files as files
from regretless.errors import FileError, InputError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.storage import save_state

MODEL = MILP([[1.0, 1.0, 1.0]], row_upper=2.0)
ROWS = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]


def test_a_cache_comes_back_from_its_file(tmp_path):
    problem = Problem(MODEL)
    cache = SolutionCache(problem, ROWS, p_solve=0.5, seed=3)
    cache(torch.randn(6, 3))
    cache.save(tmp_path / "cache")
    back = SolutionCache.load(tmp_path / "cache", Problem(MODEL), p_solve=0.5)
    assert torch.equal(back.solutions, cache.solutions)
    assert back.statistics == cache.statistics
    assert torch.equal(back.store.mean(), cache.store.mean())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_file_keeps_the_precision(tmp_path, dtype):
    third = torch.tensor([[1 / 3, 0.0, 0.0]], dtype=torch.float64)
    SolutionCache(Problem(MODEL), third, dtype=dtype).save(tmp_path / "cache")
    back = SolutionCache.load(tmp_path / "cache", Problem(MODEL))
    assert back.solutions.dtype == dtype
    assert torch.equal(back.solutions, third.to(dtype))
    assert SolutionCache.load(tmp_path / "cache", Problem(MODEL), dtype=torch.float32).solutions.dtype == torch.float32


def test_a_cache_of_another_problem_is_refused(tmp_path):
    SolutionCache(Problem(MODEL), ROWS).save(tmp_path / "cache")
    other = Problem(MILP([[1.0, 1.0, 1.0]], row_upper=1.0))
    with pytest.raises(InputError, match="belongs to another problem"):
        SolutionCache.load(tmp_path / "cache", other)


def test_no_pickle_is_in_the_file(tmp_path):
    SolutionCache(Problem(MODEL), ROWS).save(tmp_path / "cache")
    content = (tmp_path / "cache").read_bytes()
    assert int.from_bytes(content[:8], "little") < len(content)
    assert content[8:9] == b"{"  # safetensors: a JSON header, then numbers
    assert b"regretless.cache" in content


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_file_is_named_and_left_alone(tmp_path, damage):
    path = tmp_path / "cache"
    SolutionCache(Problem(MODEL), ROWS).save(path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[:-7]
    elif damage == "flip":
        content[-3] ^= 255
    else:
        content = bytearray()
    path.write_bytes(content)
    with pytest.raises(FileError, match="cache"):
        SolutionCache.load(path, Problem(MODEL))
    assert path.read_bytes() == bytes(content)


def test_a_file_of_another_kind_and_a_missing_field_are_named(tmp_path):
    save_state(tmp_path / "labels", {}, kind="labels")
    with pytest.raises(FileError, match=r"regretless\.cache"):
        files.load(tmp_path / "labels")
    save_state(tmp_path / "half", {"fingerprint": "", "store": {}, "statistics": {}}, kind="cache")
    with pytest.raises(FileError, match="'coin' is missing"):
        files.load(tmp_path / "half")
    with pytest.raises(FileError, match="nowhere"):
        files.load(tmp_path / "nowhere")
