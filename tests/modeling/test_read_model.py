"""The same models written in every library read as the same arrays."""

from __future__ import annotations

import gzip
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest

from regretless.errors import FileError, InputError
from regretless.modeling import ModelRead, read
from regretless.problem import Problem

inf = np.inf


@dataclass(frozen=True)
class Model:
    """A model as plain data, from which each library builds its own."""

    lower: list[float]
    upper: list[float]
    integer: list[bool]
    objective: list[float]
    rows: list[tuple[list[float], str, float]]
    sense: str = "min"
    constant: float = 0.0
    names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names.extend(f"x_{j}" for j in range(len(self.lower)))

    @property
    def variables(self):
        return zip(self.names, self.lower, self.upper, self.integer, strict=True)


def _assignment(k: int) -> Model:
    rows = [([float(j // k == i) for j in range(k * k)], "==", 1.0) for i in range(k)]
    rows += [([float(j % k == i) for j in range(k * k)], "==", 1.0) for i in range(k)]
    n = k * k
    return Model([0.0] * n, [1.0] * n, [True] * n, [float(3 + j * 7 % 5) for j in range(n)], rows)


MODELS = {
    "knapsack": Model([0] * 4, [1] * 4, [True] * 4, [4, 5, 3, 7], [([3, 4, 2, 5], "<=", 8)], sense="max"),
    "assignment": _assignment(3),
    "equalities": Model(
        [0, -2, 0],
        [9, 6, 5],
        [True] * 3,
        [2, -1, 3],
        [([1, 2, 1], "==", 7), ([3, -1, 0], ">=", 1), ([-1, 1, 2], "<=", 4)],
    ),
    "integer and continuous": Model(
        [0, 0, -inf],
        [inf, 4, 10],
        [True, False, False],
        [1, -2.5, 0.5],
        [([1.5, 1, 0.25], "<=", 9), ([1, 0, -1], ">=", 0)],
    ),
    "maximization with a constant": Model(
        [0] * 3, [1, 1, 3], [True] * 3, [6, 2, -1], [([1, 1, 1], "<=", 2), ([0, 1, -2], ">=", -3)], "max", 12.0
    ),
}
READERS: dict[str, object] = {}


def builds(function):
    READERS[function.__name__] = function
    return function


def _sides(row):
    coefficients, operator, bound = row
    pairs = [(j, a) for j, a in enumerate(coefficients) if a]
    return pairs, bound if operator != "<=" else -inf, bound if operator != ">=" else inf


@builds
def mps(model: Model, folder):
    kinds = {"==": "E", "<=": "L", ">=": "G"}
    text = ["NAME model", "OBJSENSE", f"    {model.sense.upper()}", "ROWS", " N cost"]
    text += [f" {kinds[operator]} r{i}" for i, (_, operator, _) in enumerate(model.rows)] + ["COLUMNS"]
    for j, name in enumerate(model.names):
        marker = "    M{} 'MARKER' '{}'"
        text += [marker.format(j, "INTORG")] if model.integer[j] else []
        text.append(f"    {name} cost {model.objective[j]!r}")
        text += [f"    {name} r{i} {row[0][j]!r}" for i, row in enumerate(model.rows) if row[0][j]]
        text += [marker.format(j, "INTEND")] if model.integer[j] else []
    text += ["RHS", f"    RHS cost {-model.constant!r}"]
    text += [f"    RHS r{i} {row[2]!r}" for i, row in enumerate(model.rows)] + ["BOUNDS"]
    for name, low, high in zip(model.names, model.lower, model.upper, strict=True):
        text.append(f" MI BND {name}" if low == -inf else f" LO BND {name} {low!r}")
        text.append(f" PL BND {name}" if high == inf else f" UP BND {name} {high!r}")
    path = folder / "model.mps"
    path.write_text("\n".join([*text, "ENDATA", ""]))
    return path


@builds
def lp(model: Model, folder):
    def expression(values):
        return " ".join(f"{a:+} {name}" for a, name in zip(values, model.names, strict=True) if a)

    text = [
        "maximize" if model.sense == "max" else "minimize",
        f" cost: {expression(model.objective)} {model.constant:+}",
    ]
    text += [
        "subject to",
        *(f" r{i}: {expression(a)} {op.replace('==', '=')} {b}" for i, (a, op, b) in enumerate(model.rows)),
    ]
    text += ["bounds"]
    text += [
        f" {low} <= {name} <= {high}" for name, low, high in zip(model.names, model.lower, model.upper, strict=True)
    ]
    text += [
        "general",
        " " + " ".join(name for name, integer in zip(model.names, model.integer, strict=True) if integer),
        "end",
        "",
    ]
    path = folder / "model.lp.gz"
    path.write_bytes(gzip.compress("\n".join(text).encode()))
    return path


@builds
def cpmpy(model: Model, folder):
    cp = pytest.importorskip("cpmpy")
    if not all(model.integer):
        pytest.skip("CPMpy has no continuous variables")
    x = [
        cp.intvar(int(lo), int(hi), name=name) if hi != 1 or lo else cp.boolvar(name=name)
        for name, lo, hi in zip(model.names, model.lower, model.upper, strict=True)
    ]
    built = cp.Model()
    for coefficients, operator, bound in model.rows:
        left = sum(int(a) * x[j] for j, a in enumerate(coefficients) if a)
        built += {"==": left == int(bound), "<=": left <= int(bound), ">=": left >= int(bound)}[operator]
    objective = sum(int(a) * v for a, v in zip(model.objective, x, strict=True)) + int(model.constant)
    built.maximize(objective) if model.sense == "max" else built.minimize(objective)
    return built


@builds
def pyomo(model: Model, folder):
    pe = pytest.importorskip("pyomo.environ")
    built = pe.ConcreteModel()
    finite = [[None if abs(b) == inf else b for b in side] for side in (model.lower, model.upper)]
    for j, name in enumerate(model.names):
        domain = pe.Integers if model.integer[j] else pe.Reals
        built.add_component(name, pe.Var(domain=domain, bounds=(finite[0][j], finite[1][j])))
    x = [built.component(name) for name in model.names]
    built.rows = pe.ConstraintList()
    for coefficients, operator, bound in model.rows:
        left = sum(a * x[j] for j, a in enumerate(coefficients) if a)
        built.rows.add({"==": left == bound, "<=": left <= bound, ">=": left >= bound}[operator])
    objective = sum(a * v for a, v in zip(model.objective, x, strict=True)) + model.constant
    built.cost = pe.Objective(expr=objective, sense=pe.maximize if model.sense == "max" else pe.minimize)
    return built


@builds
def cvxpy(model: Model, folder):
    cp = pytest.importorskip("cvxpy")
    x = [cp.Variable(name=name, integer=integer, bounds=[low, high]) for name, low, high, integer in model.variables]
    rows = []
    for coefficients, operator, bound in model.rows:
        left = sum(a * x[j] for j, a in enumerate(coefficients) if a)
        rows.append({"==": left == bound, "<=": left <= bound, ">=": left >= bound}[operator])
    objective = sum(a * v for a, v in zip(model.objective, x, strict=True)) + model.constant
    return cp.Problem(cp.Maximize(objective) if model.sense == "max" else cp.Minimize(objective), rows)


@builds
def mathopt(model: Model, folder):
    library = pytest.importorskip("ortools.math_opt.python.mathopt")
    built = library.Model()
    x = [
        built.add_variable(lb=low, ub=high, is_integer=integer, name=name)
        for name, low, high, integer in model.variables
    ]
    for row in model.rows:
        pairs, low, high = _sides(row)
        built.add_linear_constraint(lb=low, ub=high, expr=sum(a * x[j] for j, a in pairs))
    built.set_objective(
        sum(a * v for a, v in zip(model.objective, x, strict=True)) + model.constant, is_maximize=model.sense == "max"
    )
    return built


@builds
def gurobipy(model: Model, folder):
    library = pytest.importorskip("gurobipy")
    try:
        environment = library.Env(params={"OutputFlag": 0})
    except library.GurobiError as error:
        pytest.skip(f"no Gurobi license: {error}")
    built = library.Model(env=environment)
    x = [
        built.addVar(lb=low, ub=high, vtype="I" if integer else "C", name=name)
        for name, low, high, integer in model.variables
    ]
    for coefficients, operator, bound in model.rows:
        left = library.quicksum(a * x[j] for j, a in enumerate(coefficients) if a)
        built.addConstr({"==": left == bound, "<=": left <= bound, ">=": left >= bound}[operator])
    objective = library.quicksum(a * v for a, v in zip(model.objective, x, strict=True)) + model.constant
    built.setObjective(objective, library.GRB.MAXIMIZE if model.sense == "max" else library.GRB.MINIMIZE)
    return built


@builds
def linopy(model: Model, folder):
    library = pytest.importorskip("linopy")
    built = library.Model()
    x = [
        built.add_variables(lower=low, upper=high, integer=integer, name=name)
        for name, low, high, integer in model.variables
    ]
    for i, (coefficients, operator, bound) in enumerate(model.rows):
        left = sum(a * x[j] for j, a in enumerate(coefficients) if a)
        built.add_constraints(left, operator.replace("==", "="), bound, name=f"r{i}")
    built.add_objective(sum(a * v for a, v in zip(model.objective, x, strict=True)), sense=model.sense)
    return built


def _same(a: ModelRead, b: ModelRead) -> None:
    assert (a.sense, a.cost_names, a.milp.names) == (b.sense, b.cost_names, b.milp.names)
    assert np.array_equal(a.milp.A.toarray(), b.milp.A.toarray())
    for name in ("row_lower", "row_upper", "lower", "upper", "integer", "fixed_cost", "constant"):
        assert np.array_equal(getattr(a.milp, name), getattr(b.milp, name)), name
    assert (a.milp.cost_map is None) == (b.milp.cost_map is None)
    assert a.milp.fingerprint == b.milp.fingerprint


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("library", READERS)
def test_every_library_gives_the_same_arrays(library, name, tmp_path):
    model = MODELS[name]
    # linopy holds no constant in an objective, so the user hands it over
    constant = model.constant if library == "linopy" else 0.0
    got = read(READERS[library](model, tmp_path), constant=constant)
    milp, sense, cost_names = got
    assert sense == model.sense
    assert list(cost_names) == model.names == list(milp.names)
    rows = np.array([row[0] for row in model.rows], dtype=float)
    signs = np.array([row[np.flatnonzero(row)[0]] > 0 for row in rows])
    low, high = (np.array([_sides(row)[side] for row in model.rows]) for side in (1, 2))
    assert np.array_equal(milp.A.toarray(), np.where(signs[:, None], rows, -rows))
    assert np.array_equal(milp.row_lower, np.where(signs, low, -high))
    assert np.array_equal(milp.row_upper, np.where(signs, high, -low))
    assert np.array_equal(milp.lower, model.lower)
    assert np.array_equal(milp.upper, model.upper)
    assert milp.integer.tolist() == model.integer
    assert milp.cost_map is None
    assert not milp.fixed_cost.any()
    assert milp.constant == model.constant
    _same(got, read(READERS["mps"](model, tmp_path)))


@pytest.mark.parametrize("library", READERS)
def test_known_costs_and_the_constant_stay_in_the_objective(library, tmp_path):
    model = MODELS["maximization with a constant"]
    constant = model.constant if library == "linopy" else 0.0
    got = read(READERS[library](model, tmp_path), ["x_2", "x_0"], constant=constant)
    assert got.cost_names == ("x_2", "x_0")
    assert got.milp.cost_map.toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
    assert got.milp.fixed_cost.tolist() == [0, 2, 0]
    answer = Problem(got.milp, sense=got.sense).solve([[5.0, 3.0]])
    # max 5 x2 + 3 x0 + 2 x1 + 12 with x0 + x1 + x2 <= 2 and x1 - 2 x2 >= -3
    assert answer.decision.tolist() == [[1.0, 0.0, 1.0]]
    assert answer.objective.tolist() == [20.0]


@pytest.mark.slow
def test_nothing_is_imported_but_the_library_of_the_model(tmp_path):
    path = mps(MODELS["knapsack"], tmp_path)
    code = (
        "import sys; from regretless.modeling import read; before = set(sys.modules)\n"
        f"read({str(path)!r})\n"
        "print([m for m in ('cpmpy', 'pyomo', 'cvxpy', 'ortools', 'gurobipy', 'linopy') if m in sys.modules],"
        " 'highspy' in before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"


def test_a_foreign_object_is_refused_with_the_list_of_what_is_read():
    with pytest.raises(
        InputError, match=r"cpmpy\.Model, pyomo\.environ\.ConcreteModel, .*linopy\.Model, got builtins\.dict"
    ):
        read({"x": 1})


def test_a_user_class_on_top_of_a_library_class_is_recognized():
    pe = pytest.importorskip("pyomo.environ")

    class Mine(pe.ConcreteModel):
        pass

    model = Mine()
    model.x = pe.Var(domain=pe.Binary)
    model.cost = pe.Objective(expr=3 * model.x)
    assert read(model).cost_names == ("x",)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match=r"there is no file .*none\.mps"):
        read(tmp_path / "none.mps")


def test_a_function_in_place_of_a_model_is_refused_with_the_way_to_pass_it():
    with pytest.raises(InputError, match=r"got builtins\.function; .* Problem\(oracle=function, dimension=d\)"):
        read(lambda costs: costs < 0)
