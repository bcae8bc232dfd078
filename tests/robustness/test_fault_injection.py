from __future__ import annotations

from typing import Any

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import RegretlessWarning, SolveError
from regretless.training import evaluate, methods

from . import small
from .faults import FAULTS, Faulty, Injector, install

SHARE = 0.2
LIMIT = 0.25  # seconds; the pool gives up after 1, which every test with a hang waits, and a fault hangs for three


def rules() -> list[Any]:
    """Every method with both rules; the fast ones have the rule that the method has a use for."""
    own = {name: "cache" if row.cached else "skip" for name, row in methods.TABLE.items()}
    other = {"cache": "skip", "skip": "cache"}
    fast = [small.fast_if_of_its_kind(name, rule) for name, rule in own.items()]
    return fast + [pytest.param(name, other[rule], marks=pytest.mark.slow) for name, rule in own.items()]


@pytest.mark.parametrize(("name", "on_failure"), rules())
def test_every_method_trains_to_the_end_with_a_faulty_engine(
    name: str, on_failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = small.data()
    injector = Injector(SHARE, seed=len(name))
    install(monkeypatch, injector)
    problem = small.problem(engine="faulty", time_limit=LIMIT, on_failure=on_failure)
    fitted, loss = small.train(name, problem, given, epochs=3)
    assert torch.isfinite(small.weights(fitted)).all()
    history = fitted.history
    if injector.done:
        # every fault is one failed solve, and none is lost or counted twice
        counted = problem.statistics
        assert counted.solves == sum(injector.done.values())
        assert counted.failed == counted.not_optimal == injector.failed
    if name == "auto":  # scoring is outside of the epochs
        growth = problem.statistics.by_purpose["growth"].solves
        assert history.total("solves") == growth > 0
        assert 0 < history.total("failed") == history.total("not_optimal") < injector.failed
        # four linear models, perhaps an average of them, and the committee
        assert problem.statistics.by_purpose["scoring"].solves in (5 * len(given), 6 * len(given))
    if injector.done and loss is not None:
        assert history.total("solves") == sum(injector.done.values())
        assert history.total("failed") == history.total("not_optimal") == injector.failed
    oracle = None if loss is None else loss.oracle
    if isinstance(oracle, SolutionCache):
        assert injector.failed > 0
        assert problem.model.check(oracle.solutions.double().numpy()).all(), "every cached solution is feasible"
        assert oracle.statistics.failed == injector.failed
    result = evaluate(fitted.model, given, problem)
    assert result.instances + result.failed == len(given)
    assert result.exact == (result.failed == 0)
    assert result.regret >= -1e-9, "a decision that is better than the optimum is a wrong one"


def test_no_wrong_label_comes_out_of_a_faulty_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = small.data(40)
    injector = Injector(SHARE, seed=1)
    install(monkeypatch, injector)
    problem = small.problem(engine="faulty", time_limit=LIMIT, on_failure="skip", workers=2)
    with pytest.warns(RegretlessWarning, match=f"{'[0-9]+'} of 40 instances have no solution and are left out"):
        labelled = Dataset.solve(problem, exact.features, exact.costs)
    assert len(labelled) == 40 - injector.failed
    assert labelled.not_optimal == 0, "those that are left are proven optimal"
    known = {tuple(row.tolist()): best for row, best in zip(exact.costs, exact.solutions, strict=True)}
    for cost, best in zip(labelled.costs, labelled.solutions, strict=True):
        assert torch.equal(best, known[tuple(cost.tolist())])


@pytest.mark.parametrize("name", ["spo", "map-dc", "direct", "auto"])
def test_with_raise_the_error_names_instance_and_cause(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = small.data()
    install(monkeypatch, Injector(1.0, seed=2))
    problem = small.problem(engine="faulty", time_limit=LIMIT)
    causes = "injected|infeasible for the model|must have shape|time limit"
    where = "" if name in ("direct", "auto") else r"training instance \d+ in epoch 1, step 1, learning rate 0\.05: "
    with pytest.raises(SolveError, match=rf"{where}no solution for instance \d+ of the batch: .*({causes})"):
        small.train(name, problem, given)


class Later:
    """An injector that spoils nothing until a number of solves has been made."""

    def __init__(self, first: int, share: float) -> None:
        self.left, self.injector = first, Injector(0.0, seed=2)
        self.share = share

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        install(monkeypatch, self.injector)
        well = Faulty.solve

        def solve(engine: Faulty, *given: Any) -> Any:
            self.left -= 1
            self.injector.share = self.share if self.left < 0 else 0.0
            return well(engine, *given)

        monkeypatch.setattr(Faulty, "solve", solve)


@pytest.mark.parametrize("solves", [12, 30])
def test_a_search_stops_where_growth_or_the_last_scoring_fails_under_raise(
    solves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = small.data()  # 12 instances: scored once before the growth, which makes 18 solves, and once after
    Later(solves, 1.0).install(monkeypatch)
    problem = small.problem(engine="faulty", time_limit=LIMIT)
    with pytest.raises(SolveError, match=r"no solution for instance \d+ of the batch"):
        small.train("auto", problem, given, terms="none")
    counts = problem.statistics.by_purpose
    assert "growth" in counts
    assert counts["scoring"].solves == (12 if solves == 12 else 13), "the first failure ends it"


@pytest.mark.parametrize("name", ["direct", "auto"])
def test_an_answer_that_beats_its_label_stops_a_search(name: str) -> None:
    given = small.data()
    wrong = Dataset(given.features, given.costs, torch.zeros_like(given.solutions))  # an empty knapsack is not optimal
    with pytest.raises(SolveError, match=r"better than its label .* A label is optimal by definition"):
        small.train(name, small.problem(), wrong)


def test_labels_that_cannot_be_solved_are_named_under_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    given = small.data()
    install(monkeypatch, Injector(0.3, seed=3))
    with pytest.raises(SolveError, match=r"no solution for instance \d+ of the batch"):
        Dataset.solve(small.problem(engine="faulty", time_limit=LIMIT), given.features, given.costs)


@pytest.mark.parametrize("on_failure", ["cache", pytest.param("skip", marks=pytest.mark.slow)])
def test_every_kind_of_fault_comes_and_training_ends(on_failure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = small.data(60)
    injector = Injector(SHARE, seed=0, hangs=3)
    install(monkeypatch, injector)
    problem = small.problem(engine="faulty", time_limit=LIMIT, on_failure=on_failure)
    fitted, _ = small.train("spo-cache", problem, given, epochs=6)
    assert set(injector.done) == {*FAULTS, "well"}
    assert injector.done["hangs"] > 1
    assert problem.statistics.failed == fitted.history.total("failed") == injector.failed
    assert torch.isfinite(small.weights(fitted)).all()
