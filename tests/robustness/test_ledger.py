"""The ledger of solves adds up to what a counting engine counted, for every method and every command that solves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
import torch

from regretless.benchmark_problem import BenchmarkProblem
from regretless.data import Dataset
from regretless.errors import SolveError
from regretless.problems.knapsack.oracle import KnapsackOracle
from regretless.runs import Spec, run
from regretless.solvers.ledger import Purpose
from regretless.training import Interrupted, methods
from regretless.training.models import make_model
from tests import runs_here
from tests.cli.files import CommandLine, make_files

from . import counting, small
from .test_determinism import Signalled

ITEMS, TRAIN, VALIDATION, TEST = 5, 12, 5, 4
LABELS = TRAIN + VALIDATION + TEST
GIVEN = [small.data(n, seed=n) for n in (TRAIN, VALIDATION, TEST)]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    return counting.install(monkeypatch)


def solves(ledger: dict[str, dict[str, float]]) -> dict[str, float]:
    assert set(ledger) == set(get_args(Purpose))
    return {purpose: count["solves"] for purpose, count in ledger.items()}


def loaded(model: Callable[[int], torch.nn.Module] | None = None) -> BenchmarkProblem:
    problem = small.problem(engine="counting")
    train, validation, test = (Dataset.solve(problem, part.features, part.costs) for part in GIVEN)
    make = model or (lambda seed: make_model(train.features, ITEMS, costs=train.costs, seed=seed))
    return BenchmarkProblem("small", problem, train, test, validation, make, 5)


@pytest.mark.parametrize("name", map(small.fast_if_of_its_kind, methods.names()))
def test_the_ledger_of_every_method_adds_up(name: str, counted: Counter[int], tmp_path: Path) -> None:
    settings = small.AUTO | {"terms": "none"} if name == "auto" else small.settings_of(name)
    held_out = {} if name == "auto" else {"patience": 2, "watch": True}
    given = loaded()
    before = counted[ITEMS]
    assert before == LABELS
    spec = Spec("synthetic-knapsack-60", name, epochs=3, settings=settings, **held_out)
    run(spec, tmp_path / "run", loaded=given, progress=False)
    figures = json.loads((tmp_path / "run" / "metrics.json").read_text())
    found = solves(figures["ledger"])
    assert sum(found.values()) == counted[ITEMS]
    assert found["labels"] == LABELS
    committee = name == "auto" and figures["chosen"] != "two-stage"  # compared with two-stage on the same data
    assert found["evaluation"] == (2 * TEST if committee else TEST)
    assert found["scoring"] == (2 * TRAIN if name == "auto" else 0)
    # solves of a linear relaxation are counted as growth, although they are not exact
    assert (found["growth"] > 0) is (methods.method(name).solves or name == "spo-relax")
    assert (found["watching"] > 0) is (name != "auto")
    rows = (tmp_path / "run" / "history.csv").read_text().splitlines()
    column = rows[0].split(",").index("solves")
    inside = sum(int(float(row.split(",")[column] or 0)) for row in rows[1:])
    last = 2 * TRAIN if name == "direct" and not figures["reason"].startswith("no better") else 0
    # direct compares first and last weights after its epochs
    assert inside in (found["growth"], found["growth"] - last)


def test_a_run_in_two_parts_counts_both(counted: Counter[int], tmp_path: Path) -> None:
    spec = Spec("synthetic-knapsack-60", "map-dc", epochs=3, settings={"p_solve": 0.5}, watch=True)
    with pytest.raises(Interrupted):
        run(spec, tmp_path, loaded=loaded(lambda seed: Signalled(small.Model(), 5)), progress=False)
    again = loaded(lambda seed: small.Model())
    figures = run(spec, tmp_path, loaded=again, progress=False)
    assert sum(solves(figures["ledger"]).values()) == counted[ITEMS] - LABELS, "the labels were solved twice"


def test_a_failed_solve_counts_once(counted: Counter[int], monkeypatch: pytest.MonkeyPatch) -> None:
    given = loaded()
    solve = counting.Counting.solve

    def fails(engine: Any, *costs: Any) -> Any:
        solve(engine, *costs)
        raise RuntimeError("injected")

    monkeypatch.setattr(counting.Counting, "solve", fails)
    with pytest.raises(SolveError):
        given.problem(torch.ones(3, ITEMS, dtype=torch.float64))
    assert given.problem.statistics.solves == counted[ITEMS] == LABELS + 3


class TestCommands:
    """On files of the user, whose model has six variables."""

    @pytest.fixture
    def cli(self, capsys: pytest.CaptureFixture[str]) -> CommandLine:
        return CommandLine(capsys)

    @pytest.mark.parametrize("more", [["--method", "map-dc", "--p-solve", 0.5], ["--method", "auto"]])
    def test_train_evaluate_and_decide(
        self, more: Sequence[object], cli: CommandLine, counted: Counter[int], tmp_path: Path
    ) -> None:
        files = make_files(tmp_path)
        words = [
            "train", files.model, "--cost-variables", "x_*", "--features", files.x, "--costs", files.c, "--test", 0.2,
            "--epochs", 2, "--engine", "counting", "--out", tmp_path / "run", *more, "--json",
        ]  # fmt: skip
        held_out = [] if "auto" in more else ["--validation", 0.2]
        found = solves(cli.ok(*words, *held_out).json["ledger"])
        assert sum(found.values()) == counted[6] > 0
        assert found["labels"] == 40
        for command in (
            ["evaluate", tmp_path / "run", "--on", "test"],
            ["evaluate", tmp_path / "run", "--features", files.x, "--costs", files.c],
            ["decide", tmp_path / "run", "--features", files.x, "--out", tmp_path / "d.csv"],
        ):
            before = counted[6]
            found = solves(cli.ok(*command, "--json").json["ledger"])
            assert sum(found.values()) == counted[6] - before > 0, command
            assert found["growth"] == 0, command
        assert found["decisions"] == 40
        assert f"solves: decisions {40}" in cli.ok(*command).out

    def test_tune(self, cli: CommandLine, counted: Counter[int], tmp_path: Path) -> None:
        pytest.importorskip("optuna")
        files = make_files(tmp_path)
        words = [
            "tune", files.model, "--cost-variables", "x_*", "--features", files.x, "--costs", files.c, "--test", 0.2,
            "--validation", 0.2, "--method", "spo-cache", "--p-solve", 0.5, "--trials", 2, "--most-epochs", 2,
            "--engine", "counting", "--out", tmp_path / "search", "--json",
        ]  # fmt: skip
        found = solves(cli.ok(*words).json["ledger"])
        assert sum(found.values()) == counted[6]
        assert found["evaluation"] == 2 * 8

    @pytest.fixture
    def rows(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Sizes of the batches that the knapsack's own oracle solved, in this process."""
        sizes: list[int] = []
        solve = KnapsackOracle.solve

        def counts(oracle: KnapsackOracle, costs: torch.Tensor, *given: Any, **more: Any) -> Any:
            sizes.append(len(costs))
            return solve(oracle, costs, *given, **more)

        monkeypatch.setattr(KnapsackOracle, "solve", counts)
        return sizes

    def test_reproduce(
        self, cli: CommandLine, rows: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        runs_here.install(monkeypatch)
        monkeypatch.setattr("regretless.paper.reproduce.write_figures", lambda *_: [])
        monkeypatch.setattr("regretless.cli.reproduce.write", lambda *_: tmp_path / "report.html")
        words = ["reproduce", "smoke", "--methods", "spo,map-dc", "--seeds", 1, "--epochs", 1]
        summary = cli.ok(*words, "--out", tmp_path, "--json").json
        ledgers = [json.loads(path.read_text()) for path in tmp_path.glob("runs/*/metrics.json")]
        assert len(ledgers) == summary["runs"] > 3
        made = [solves(figures["ledger"]) for figures in ledgers]
        # Labels belong to a problem, and every run on it shows them: the grid has two problems.
        labels = {row["labels"] for row in made}
        assert len(labels) == 1
        others = sum(n for row in made for purpose, n in row.items() if purpose != "labels")
        assert others + 2 * labels.pop() == sum(rows)
        assert sum(solves(summary["ledger"]).values()) == sum(rows)

    def test_demo(self, cli: CommandLine, rows: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def quick(problem: str, method: str) -> dict[str, Any]:
            return {"epochs": 1, "lr": 0.1, "batch_size": 24, "settings": {}}

        monkeypatch.setattr("regretless.cli.demo.training_defaults", quick)
        ledger = cli.ok("demo", "--problem", "knapsack", "--out", tmp_path, "--json").json["ledger"]
        assert sum(solves(ledger).values()) == sum(rows)
