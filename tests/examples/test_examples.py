"""Every example runs, is short, and shows what it says."""

from __future__ import annotations

import csv
import importlib.util
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Draw without a window, and keep no figure open."""
    pytest.importorskip("matplotlib").use("Agg")
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


def example(name: str, *needed: str) -> ModuleType:
    for package in needed:
        pytest.importorskip(package, reason=f"the example needs {package}")
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_short_and_says_how_to_run_it() -> None:
    found = sorted(FOLDER.glob("*.py"))
    assert len(found) >= 6
    for path in found:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < (120 if path.stem == "battery_every_day" else 80), path.name
        assert f"python examples/{path.name}" in text
        title, line = text.splitlines()[1:3]
        assert line == "=" * len(title), f"{path.name} starts with a title, for the gallery"


def test_every_example_is_run_here() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    assert all(f'example("{path.stem}"' in here for path in FOLDER.glob("*.py"))


def test_a_model_of_cpmpy_is_trained_on(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = example("own_milp_cpmpy", "cpmpy").main()
    assert 0 <= after < before / 2
    assert "works[" in capsys.readouterr().out


def test_a_pytorch_loop_uses_the_cache(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = example("pytorch_loop").main()
    assert 0 <= after < before / 2
    said = capsys.readouterr().out.split()
    assert int(said[2]) < int(said[0]) / 10  # solved, of all predictions


def test_a_lightning_module_trains() -> None:
    if not any(importlib.util.find_spec(name) for name in ("lightning", "pytorch_lightning")):
        pytest.skip("neither lightning nor pytorch-lightning is installed")
    before, after = example("lightning_module").main()
    assert 0 <= after < before / 2


def test_a_loop_of_its_own_shares_one_cache_between_ranks() -> None:
    before, after, _ = example("data_parallel").main()
    assert 0 <= after < before / 2


@pytest.mark.slow
def test_lightning_and_accelerate_train_on_ranks() -> None:
    if any(importlib.util.find_spec(name) for name in ("lightning", "pytorch_lightning")):
        before, after = example("lightning_ranks").main()
        assert 0 <= after < before / 2
    before, after = example("accelerate_ranks", "accelerate").main()
    assert 0 <= after < before / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["data_parallel", "lightning_ranks", "accelerate_ranks"])
def test_two_ranks_share_one_cache(name: str) -> None:
    needed = {"lightning_ranks": "lightning", "accelerate_ranks": "accelerate"}.get(name)
    if needed is not None:
        pytest.importorskip(needed, reason=f"the example needs {needed}")
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    words = [str(FOLDER / f"{name}.py"), "2"] if name == "lightning_ranks" else [*torchrun, str(FOLDER / f"{name}.py")]
    said = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=600)
    assert said.returncode == 0, said.stderr
    assert "ranks: 2, " in said.stdout


def test_a_plain_function_is_a_solver() -> None:
    relative = example("shortest_path_networkx", "networkx").main()
    assert 0 <= relative["1.0"] < 0.2
    assert 0 <= relative["0.05"] < 0.2


def test_a_model_file_goes_from_training_to_decisions() -> None:
    module = example("model_file")
    rows = list(csv.DictReader(io.StringIO(module.main())))
    assert len(rows) == 1
    assert rows[0]["status"] == "optimal"
    assert {f"decision:{name}" for name in [*module.STALLS, "van"]} <= set(rows[0])


def test_known_costs_count_in_the_decision() -> None:
    module = example("partial_costs")
    assert 0 <= module.main() < 0.3
    problem = module.rl.Problem(module.producer(), sense="max")
    # At prices that pay the upkeep and not a start, nothing runs.
    assert problem.solve([[1.0] * module.HOURS]).objective.item() == 0.0


def test_a_battery_goes_the_whole_way_from_past_prices_to_a_retrained_run(tmp_path: Path) -> None:
    audit, figures = example("battery_every_day", "pyomo", "pandas").main(tmp_path, days=30, new=3, epochs=1)
    totals = audit.totals()
    assert totals["days"] == totals["compared_days"] == 3
    assert 0 < -totals["objective"] <= -totals["best"] + 1e-9
    assert figures["ledger"]["labels"]["solves"] == 3
    assert figures["status"] == "done"


def test_arrays_are_a_model() -> None:
    regrets = example("own_milp").main()
    assert 0 <= regrets["auto"] < regrets["two-stage"]


def test_a_model_of_pyomo_is_trained_on() -> None:
    assert 0 <= example("pyomo_model", "pyomo").main() < 0.2


@pytest.mark.slow
def test_a_convex_portfolio_is_trained_on() -> None:
    relative = example("cvxpy_portfolio", "cvxpy").main()
    assert 0 <= relative["auto"] < relative["two-stage"]


@pytest.mark.slow
def test_a_deep_model_is_trained_on() -> None:
    relative = example("deep_model").main()
    assert 0 <= relative["deep"] < relative["linear"]


@pytest.mark.slow
def test_a_pipeline_is_cross_validated() -> None:
    scores = example("sklearn_pipeline", "sklearn").main()
    assert -0.5 < min(scores.values()) <= max(scores.values()) <= 0


def test_a_family_decides_for_every_crew() -> None:
    assert 0 <= example("families").main() < 0.2


def test_the_example_for_the_gpu_runs_without_one() -> None:
    assert example("gpu").main() in ("cpu", "cuda")


@pytest.mark.slow
def test_ray_and_threads_decide_alike() -> None:
    assert example("ray_solves").main()


def test_retraining_follows_a_drift() -> None:
    regrets = example("production_loop").main()
    assert regrets["retrained"] < regrets["trained once"]


def test_boosted_trees_are_compared_with_models_of_this_library() -> None:
    regrets = example("boosted_trees", "sklearn").main()
    assert regrets["splines, regression"] < regrets["boosted trees"] < 0.5 * regrets["linear, regression"]
    assert regrets["linear, SPO+ with a cache"] < 0.5 * regrets["linear, regression"]
