from __future__ import annotations

import copy
import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import MILP, with_infinities


@st.composite
def milps(draw: st.DrawFn) -> MILP:
    """Small models with general integers, continuous variables, ranges, equalities, cost maps and known costs."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rows = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    low = rng.integers(-5, 4, rows).astype(float)
    high = low + rng.integers(0, 6, rows)
    low[rng.random(rows) < 0.3] = -np.inf
    high[rng.random(rows) < 0.3] = np.inf
    lower = rng.integers(-2, 1, n).astype(float)
    return MILP(
        rng.integers(-3, 4, (rows, n)).astype(float),
        row_lower=low,
        row_upper=high,
        lower=lower,
        upper=lower + rng.integers(0, 4, n),
        integer=rng.random(n) < 0.7,
        cost_map=draw(st.sampled_from([None, rng.integers(-2, 3, (draw(st.integers(1, 4)), n)).astype(float)])),
        fixed_cost=draw(st.sampled_from([None, rng.integers(-3, 4, n).astype(float)])),
        constant=draw(st.sampled_from([0.0, -2.5])),
    )


def grid(milp: MILP) -> np.ndarray[Any, Any]:
    """All points of the box, half-integers included, and one step outside."""
    axes = [np.arange(low - 1, high + 1.5, 0.5) for low, high in zip(milp.lower, milp.upper, strict=True)]
    return np.array(list(product(*axes)))


@given(milp=milps())
def test_check_agrees_with_the_definition(milp: MILP) -> None:
    points = grid(milp)
    A = milp.A.toarray()
    expected = [
        all(float(v).is_integer() for v in x[milp.integer])
        and bool((x >= milp.lower).all() and (x <= milp.upper).all())
        and bool((A @ x >= milp.row_lower).all() and (A @ x <= milp.row_upper).all())
        for x in points
    ]
    assert milp.check(points).tolist() == expected


@given(milp=milps(), seed=st.integers(0, 1000))
def test_value_in_cost_space_is_the_objective(milp: MILP, seed: int) -> None:
    rng = np.random.default_rng(seed)
    c, x = rng.normal(size=milp.dimension), rng.normal(size=milp.n)
    G = np.eye(milp.n) if milp.cost_map is None else milp.cost_map.toarray()
    value = c @ (G @ x) + milp.fixed_cost @ x + milp.constant
    costs = np.append(c, 1.0)[: milp.width]
    assert costs @ milp.solution(x)[0] == pytest.approx(value)
    assert milp.objective(costs[None])[0] @ x + milp.constant == pytest.approx(value)


@given(milp=milps(), seed=st.integers(0, 1000))
def test_maps_of_a_batch_are_the_maps_of_its_rows(milp: MILP, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, costs = rng.normal(size=(5, milp.n)), rng.normal(size=(5, milp.width))
    assert milp.solution(x).shape == (5, milp.width)
    assert np.allclose(milp.solution(x), np.concatenate([milp.solution(row) for row in x]))
    assert np.allclose(milp.objective(costs), np.concatenate([milp.objective(row[None]) for row in costs]))


def test_the_weight_of_known_costs_scales_them() -> None:
    milp = MILP([[1.0, 1.0]], fixed_cost=[2.0, 3.0], constant=10.0)
    assert milp.objective(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 2.0]])).tolist() == [[1.0, 1.0], [5.0, 7.0]]
    assert milp.solution([1.0, 1.0]).tolist() == [[1.0, 1.0, 15.0]]


def test_width_has_one_more_column_only_for_known_costs() -> None:
    assert (MILP([[1.0, 1.0]]).dimension, MILP([[1.0, 1.0]]).width) == (2, 2)
    assert MILP([[1.0, 1.0]], fixed_cost=0.0).width == 2
    assert MILP([[1.0, 1.0]], fixed_cost=[0.0, 1.0]).width == 3
    assert MILP([[1.0, 1.0]], constant=1.0).width == 3
    mapped = MILP([[1.0, 1.0]], cost_map=np.ones((4, 2)), constant=1.0)
    assert (mapped.n, mapped.dimension, mapped.width) == (2, 4, 5)


def test_tolerance_grows_with_the_bound_and_is_small_at_zero() -> None:
    milp = MILP([[1.0]], row_upper=1e6, upper=np.inf, integer=False)
    assert milp.check([[1e6 + 0.5], [1e6 + 2.0]]).tolist() == [True, False]
    assert milp.check([[-0.5e-6], [-2e-6]]).tolist() == [True, False]
    assert milp.check([[1e6 + 0.5]], tolerance=1e-9).tolist() == [False]


def test_rows_and_bounds_of_large_integers_are_checked_to_the_unit() -> None:
    milp = MILP([[3_000_000.0, 2_000_003.0]], row_upper=5_000_000.0, upper=5e6)
    assert milp.check([[1.0, 1.0], [1.0, 0.0], [1.0 - 1e-7, 0.0]]).tolist() == [False, True, True]
    cents = MILP([[600_000.01, 400_000.0]], row_upper=1e6)
    assert cents.check([1.0, 1.0]).tolist() == [False]
    free = MILP([[0.0]], upper=5e6)
    assert free.check([[5e6 + 1.0], [5e6]]).tolist() == [False, True]
    assert milp.relax().check([1.0, 1.0]).tolist() == [True]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("integer", [True, False])
def test_points_that_are_not_finite_are_infeasible(value: float, integer: bool) -> None:
    milp = MILP(np.zeros((0, 2)), lower=-np.inf, upper=np.inf, integer=integer)
    assert milp.check([[0.0, 0.0], [0.0, value]]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"A": np.zeros((2, 0))}, r"a MILP needs at least one variable, got A of shape \(2, 0\)"),
        ({"A": [[1.0, np.nan]]}, "A must be finite"),
        ({"A": [[1.0, np.inf]]}, "A must be finite"),
        ({"A": "text"}, "A must be a matrix of numbers, dense or sparse, got str"),
        ({"A": [[1.0], [1.0, 2.0]]}, "A must be a matrix of numbers, dense or sparse, got list"),
        ({"A": np.zeros((1, 2, 3))}, "A must be a matrix of numbers"),
        ({"cost_map": [[1.0]]}, r"cost_map must have shape \(d, 2\), got \(1, 1\)"),
        ({"cost_map": [[np.inf, 0.0]]}, "cost_map must be finite"),
        ({"fixed_cost": [np.nan, 0.0]}, "fixed_cost and constant must be finite"),
        ({"constant": np.inf}, "fixed_cost and constant must be finite"),
        ({"constant": "much"}, "constant must be numbers, got str"),
        ({"row_lower": [0.0, 0.0]}, r"row_lower must be a scalar or have shape \(1,\), got \(2,\)"),
        ({"upper": [[1.0, 1.0]]}, r"upper must be a scalar or have shape \(2,\), got \(1, 2\)"),
        ({"lower": ["a", "b"]}, "lower must be numbers, got list"),
        ({"A": [[10**400, 1]]}, "A must be a matrix of numbers, dense or sparse, got list: int too large"),
        ({"upper": 10**400}, "upper must be numbers, got int: int too large"),
        ({"row_upper": np.nan}, "row bounds must not be NaN; use -inf and inf"),
        ({"lower": [np.nan, 0.0]}, "variable bounds must not be NaN"),
        ({"row_lower": 2.0, "row_upper": 1.0}, r"row 0 leaves nothing between its bounds 2\.0 and 1\.0"),
        ({"lower": [0.0, 3.0], "upper": 2.0}, r"variable 1 leaves nothing between its bounds 3\.0 and 2\.0"),
        ({"row_lower": np.inf}, "row 0 leaves nothing between its bounds inf and inf"),
        ({"lower": -np.inf, "upper": -np.inf}, "variable 0 leaves nothing between its bounds -inf and -inf"),
        ({"names": ("a",)}, "names must hold 2 names, got 1"),
    ],
)
def test_what_is_wrong_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MILP(**({"A": [[1.0, 1.0]]} | settings))


@pytest.mark.parametrize("x", [[[1.0]], [1.0, 2.0, 3.0], np.zeros((1, 2, 2))])
def test_decisions_of_another_shape_are_refused(x: Any) -> None:
    milp = MILP([[1.0, 1.0]])
    for method in (milp.check, milp.solution):
        with pytest.raises(InputError, match=r"x must have shape \(batch, 2\), got"):
            method(x)


def test_a_model_with_no_rows_is_only_bounds() -> None:
    assert MILP(np.zeros((0, 2))).check([[0, 1], [2, 0], [0.5, 0.5]]).tolist() == [True, False, False]


def test_relax_drops_integrality_and_nothing_else() -> None:
    milp = MILP([[1.0, 1.0]], row_upper=1.5, cost_map=[[1.0, 2.0]], fixed_cost=1.0, constant=2.0, names=("a", "b"))
    relaxed = milp.relax()
    assert milp.check([[0.5, 0.5]]).tolist() == [False]
    assert relaxed.check([[0.5, 0.5], [1.0, 1.0]]).tolist() == [True, False]
    assert np.array_equal(relaxed.solution([[0.5, 0.5]]), milp.solution([[0.5, 0.5]]))
    assert relaxed.names == milp.names
    assert relaxed.relax().fingerprint == relaxed.fingerprint != milp.fingerprint


@given(milp=milps())
def test_equal_models_have_equal_fingerprints(milp: MILP) -> None:
    A = milp.A.toarray()
    rows, columns = np.nonzero(np.ones_like(A))
    # explicit zeros, entries given twice, any order
    double = sparse.coo_matrix((np.tile(A[rows, columns] / 2, 2), (np.tile(rows, 2), np.tile(columns, 2))), A.shape)
    settings: dict[str, Any] = {
        name: getattr(milp, name)
        for name in ("row_lower", "row_upper", "lower", "upper", "integer", "cost_map", "fixed_cost", "constant")
    }
    for given_as in (A, A.tolist() if A.size else A, sparse.csc_array(A), double):
        assert MILP(given_as, **settings).fingerprint == milp.fingerprint
    assert pickle.loads(pickle.dumps(milp)).fingerprint == milp.fingerprint
    assert copy.deepcopy(milp).fingerprint == milp.fingerprint


def test_negative_zeros_do_not_change_the_fingerprint() -> None:
    assert MILP([[1.0]], row_lower=-0.0).fingerprint == MILP([[1.0]], row_lower=0.0).fingerprint
    assert MILP([[1.0]], lower=[-0.0]).fingerprint == MILP([[1.0]], lower=[0.0]).fingerprint


CHANGES: list[dict[str, Any]] = [
    {"A": [[1.0, 2.5], [0.0, 1.0]]},
    {"A": [[1.0, 2.0], [1.0, 0.0]]},
    {"row_lower": -2.0},
    {"row_upper": [3.0, 4.0]},
    {"lower": [0.0, -1.0]},
    {"upper": 2.0},
    {"integer": [True, False]},
    {"cost_map": np.eye(2)},
    {"fixed_cost": [0.0, 1.0]},
    {"constant": 1.0},
]


def test_every_part_of_the_model_changes_the_fingerprint() -> None:
    base: dict[str, Any] = {"A": [[1.0, 2.0], [0.0, 1.0]], "row_lower": -1.0, "row_upper": 3.0}
    prints = [MILP(**(base | change)).fingerprint for change in [{}, *CHANGES]]
    assert len(set(prints)) == len(prints)


def test_names_do_not_change_the_fingerprint() -> None:
    assert MILP([[1.0]], names=("a",)).fingerprint == MILP([[1.0]]).fingerprint


def test_the_callers_arrays_are_neither_changed_nor_kept() -> None:
    given_matrix = sparse.csr_array((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    bound = np.array([1.0])
    milp = MILP(given_matrix, row_upper=bound)
    assert given_matrix.data.tolist() == [1.0, 2.0, 0.0]
    before = milp.fingerprint
    given_matrix.data[:], bound[:] = 9.0, 9.0
    assert milp.fingerprint == before
    assert milp.A.toarray().tolist() == [[0.0, 3.0]]


def test_integer_bounds_round_inward_and_leave_the_impossible_alone():
    milp = MILP(np.zeros((0, 3)), lower=[0.2, -np.inf, 0.3], upper=[2.9, 1.5, 0.6], integer=[True, False, True])
    lower, upper = milp.integer_bounds()
    assert lower.tolist() == [1.0, -np.inf, 0.3]
    assert upper.tolist() == [2.0, 1.5, 0.6]


def test_huge_bounds_are_infinite():
    assert with_infinities([1e20, -1e30, 3.0, -np.inf]).tolist() == [np.inf, -np.inf, 3.0, -np.inf]


def test_rows_of_tiny_coefficients_are_scaled_up_with_their_bounds() -> None:
    tiny = 2.0**-40
    milp = MILP([[3 * tiny, 4 * tiny], [3.0, 4.0], [0.0, 0.0]], row_upper=[5 * tiny, 5.0, 1e-9])
    assert milp.check([[1, 1], [0, 1]]).tolist() == [False, True]
    (row, other, empty), upper = milp.A.toarray(), milp.row_upper
    assert row.tolist() == [384.0, 512.0]
    assert upper[0] == 640.0
    assert other.tolist() == [3.0, 4.0]
    assert empty.tolist() == [0.0, 0.0]
    assert upper[1:].tolist() == [5.0, 1e-9]
    assert MILP(milp.A, row_upper=upper).fingerprint == milp.fingerprint, "once is enough"


def test_a_scaled_row_is_written_and_replaced_in_the_units_of_the_caller() -> None:
    A, upper = [[1e-5, 3e-5], [1.0, 2.0]], [2e-5, 2.0]
    milp = MILP(A, row_lower=[-np.inf, 0.0], row_upper=upper)
    assert milp.row_upper[0] > 1
    assert milp.written("A").toarray().tolist() == A
    assert milp.written("row_lower").tolist() == [-np.inf, 0.0]
    assert milp.written("row_upper").tolist() == upper
    assert milp.written("upper").tolist() == [1.0, 1.0]
    other = milp.replaced(row_upper=np.array([4e-5, 3.0]))
    assert other.fingerprint == MILP(A, row_lower=[-np.inf, 0.0], row_upper=[4e-5, 3.0]).fingerprint
    assert other.check([[1, 1], [1, 0]]).tolist() == [True, True]
    assert milp.check([[1, 1], [1, 0]]).tolist() == [False, True]


def test_the_matrix_of_the_caller_is_not_scaled() -> None:
    given = sparse.csr_array(np.array([[1e-9, 2e-9]]))
    MILP(given, row_upper=1e-9)
    assert given.toarray().tolist() == [[1e-9, 2e-9]]


def test_the_text_of_a_model_has_its_size_and_no_numbers_of_it():
    assert repr(MILP([[1.0, 2.0]], integer=[True, False])) == "MILP(1 rows, 2 variables, 1 of them integer, 2 costs)"
    known = MILP([[1.0, 2.0]], fixed_cost=[0.0, 3.0], cost_map=[[1.0, 0.0]])
    assert repr(known).endswith("2 of them integer, 1 costs, with known costs)")
