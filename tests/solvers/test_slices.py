from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from regretless.solvers.slices import SLICE_SECONDS, slice_size, stays_local


@given(jobs=st.integers(1, 500), workers=st.integers(1, 40), seconds=st.floats(0.0, 1.0))
def test_slices_cover_all_jobs_and_never_grow(jobs: int, workers: int, seconds: float) -> None:
    waiting, sizes = jobs, []
    while waiting:
        sizes.append(slice_size(waiting, workers, seconds))
        assert sizes[-1] >= 1
        waiting -= sizes[-1]
    assert sum(sizes) == jobs
    assert sizes == sorted(sizes, reverse=True)


@given(jobs=st.integers(1, 500), workers=st.integers(1, 40), seconds=st.floats(1e-6, 1.0))
def test_all_slices_but_the_last_take_a_few_milliseconds(jobs: int, workers: int, seconds: float) -> None:
    size = slice_size(jobs, workers, seconds)
    assert size == jobs or size * seconds >= SLICE_SECONDS * (1 - 1e-9)


def test_only_a_batch_of_less_than_two_slices_stays_local() -> None:
    assert stays_local(1, 1.9 * SLICE_SECONDS)
    assert not stays_local(1, 2.1 * SLICE_SECONDS)
    assert not stays_local(3, SLICE_SECONDS)


def test_the_last_jobs_go_one_by_one_where_each_takes_long() -> None:
    assert [slice_size(waiting, 2, 0.1) for waiting in (24, 4, 3, 2, 1)] == [6, 1, 1, 1, 1]
