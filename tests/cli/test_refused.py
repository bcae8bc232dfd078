"""A refused command leaves the file system as it was: every option of every command, with bad values."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from regretless.cli import main
from regretless.cli.app import all_commands

from .files import CommandLine, Files, make_files

# With a method: checking the settings of a search takes ten times as long as those of one method.
NAMED = "train synthetic-knapsack-60 --method map-dc --option days=30 --epochs 1 --out out"
FILE = "train knapsack.lp --method map-dc --cost-variables x_* --features x.csv --costs c.csv --epochs 1 --out out"
TUNE = "tune synthetic-knapsack-60 --option days=30 --trials 1 --most-epochs 2 --out out"
TUNE_FILE = FILE.replace("train", "tune").replace("--epochs 1", "--trials 1 --most-epochs 2 --validation 0.2")
# Commands and, by option, values that must be refused. "taken" is a file of the user, "run" a finished run.
TRAINING = {
    "problem": ["tsp", "none.lp", "energy:none.txt"],
    "out": ["taken", "taken/deeper"],
    "method": ["magic"],
    "p-solve": ["5", "-0.1", "nan", "often"],
    "seed": ["-1", "4294967296", "1.5"],
    "batch-size": ["0", "-3"],
    "split": ["foo"],
    "engine": ["abacus"],
    "workers": ["0", "-2"],
    "executor": ["slurm", "threads:2", "ray:"],
    "time-limit": ["-1", "0", "nan"],
    "gap": ["0.1", "-1", "2", "nan", "small"],  # the problem has an oracle of its own
    "set": ["temprature=1", "grow_at=foo", "policy=dice", "capacity=0", "p_solve=often", "warm_start=true", "word"],
    "option": ["dayz=3", "days=abc", "days=5", "seed=-1", "on_failure=shrug", "word"],
}
FILES = {
    "features": ["none.csv", "x.txt", "c.csv/x.csv"],
    "costs": ["none.csv", "x.csv"],
    "constraints": ["none.csv", "x.txt"],
    "id": ["none"],
    "categories": ["none"],
    "ignore": ["none"],
    "missing": ["guess"],
    "unseen": ["guess"],
    "cost-variables": ["y_*"],
    "validation": ["1.5", "-0.1", "nan", "0.001"],
    "test": ["1.5", "-0.1", "nan", "0.001"],
    "model": ["forest"],
    "hidden": ["0", "-1"],
}
BAD: list[tuple[str, dict[str, list[str]]]] = [
    (NAMED, TRAINING | {"grow-at": ["foo"], "init": ["foo"], "epochs": ["-1", "1.5"], "lr": ["nan", "0", "-1", "inf"],
                        "patience": ["-1"], "on-failure": ["shrug"], "start": ["none"], "resume": []}),
    (FILE, FILES | {"patience": ["3"], "engine": ["abacus"], "split": ["paper"], "time-limit": ["0"],
                    "gap": ["-1", "2", "nan"]}),
    (f"{FILE} --model mlp", {"hidden": ["0", "-1"]}),
    (FILE.replace("--method map-dc", "--method auto"), {"validation": ["0.2"], "lr": ["0.1"], "epochs": ["0"],
                                                        "init": ["shared"], "patience": ["2"]}),
    (f"{NAMED} --method spo", {"p-solve": ["0.05"], "grow-at": ["predicted"], "set": ["p_solve=0.5"]}),
    (TUNE, TRAINING | {"trials": ["0"], "most-epochs": ["1"], "with-p-solve": []}),
    (TUNE_FILE, FILES | {"validation": ["0", "1.5"]}),
    (f"{TUNE} --method spo --with-p-solve", {}),
    ("evaluate run",
     {"run": ["none", "."], "on": ["all"], "features": ["x.csv"], "costs": ["c.csv"], "workers": ["0"],
      "executor": ["slurm"], "forecasts": ["none.csv", "x.csv", "c.csv"]}),
    ("evaluate run --features x.csv --costs c.csv",
     {"features": ["none.csv"], "costs": ["none.csv"], "on": ["test"], "constraints": ["none.csv"],
      "unseen": ["guess"], "forecasts": ["none.csv", "x.csv"]}),
    ("decide run --features x.csv --out d.csv",
     {"run": ["none", "."], "features": ["none.csv", "c.csv"], "out": ["d.xlsx", "run", "taken/d.csv"],
      "engine": ["abacus"], "workers": ["0"], "time-limit": ["-1"], "gap": ["-1", "2"], "constraints": ["none.csv"],
      "model": ["none.lp"],
      "executor": ["slurm"], "unseen": ["guess"], "deadline": ["-1", "0", "nan"], "log": ["taken", "taken/deeper"]}),
    ("audit log.db --costs realised.csv",
     {"log": ["none.db", "taken"], "costs": ["none.csv", "x.csv"], "out": ["taken/page.html"], "workers": ["0"],
      "time-limit": ["-1", "0", "nan"]}),
    ("retrain run --features x.csv --costs c.csv --out new",
     {"run": ["none", "."], "features": ["none.csv", "c.csv"], "costs": ["none.csv", "x.csv"],
      "constraints": ["none.csv"], "unseen": ["guess"],
      "out": ["taken", "run"], "epochs": ["-1"], "lr": ["nan", "0"], "workers": ["0"], "executor": ["slurm"],
      "resume": []}),
    ("demo", {"problem": ["matching"], "out": ["taken", "taken/deeper"], "seed": ["-1"], "workers": ["0", "-2"]}),
    ("doctor", {}),
    ("data list", {}),
    ("data fetch magic", {"name": ["magic"]}),
    ("report run", {"results": ["none"], "out": ["taken/report.html"]}),
    ("reproduce smoke --seeds 1 --out out",
     {"group": ["tsp"], "methods": ["magic", "", "spo,magic"], "seeds": ["0", "-1"], "workers": ["0"], "init": ["foo"],
      "executor": ["slurm", "threads"], "engine": ["abacus"], "epochs": ["-1"], "out": ["taken", "taken/deeper"]}),
    ("suite --problems top-k --methods two-stage --seeds 1 --out out",
     {"grid": ["medium"], "problems": ["knapsack-60", ""], "methods": ["magic", "direct", ""], "seeds": ["0", "-1"],
      "start": ["zero"], "workers": ["0"], "executor": ["slurm", "threads"], "out": ["taken", "taken/deeper"]}),
]  # fmt: skip


def flags(name: str) -> list[str]:
    return [p.name for p in all_commands()[name].params if getattr(p, "is_flag", False) and p.name != "help"]


def command_of(words: str) -> str:
    return next(name for name in all_commands() if f"{words} ".startswith(f"{name} "))


def cases() -> list[list[str]]:
    """The words of every refused command."""
    made = []
    for base, options in BAD:
        words, name = base.split(), command_of(base)
        arguments = [p.name for p in all_commands()[name].params if p.param_type_name == "argument"]
        for option, values in options.items():
            for value in values:
                if option in arguments:
                    changed = [*words]
                    changed[len(name.split())] = value
                    made.append(changed)
                else:
                    made.append([*words, f"--{option}", value])
        made += [[*words, f"--{flag.replace('_', '-')}=3"] for flag in flags(name)]
        if not options and not flags(name):
            made.append(words)
    made.append(f"{TUNE} --method spo --with-p-solve".split())
    return made


def make_log(files: Files) -> None:
    """Decisions of the run, and the true costs that came later."""
    for source, name in ((files.x, "named.csv"), (files.c, "realised.csv")):
        header, *rows = source.read_text().splitlines()
        lines = [f"instance,{header}", *(f"{i},{row}" for i, row in enumerate(rows))]
        (files.folder / name).write_text("\n".join(lines) + "\n")
    x, log = str(files.folder / "named.csv"), str(files.folder / "log.db")
    with pytest.raises(SystemExit) as end:
        main(["decide", str(files.folder / "run"), "--features", x, "--log", log])
    assert not end.value.code


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Files:
    from regretless.runs import Spec, run

    files = make_files(tmp_path_factory.mktemp("refused"))
    options = {"features": str(files.x), "costs": str(files.c), "cost_variables": ["x_*"], "test": 0.2}
    run(Spec(str(files.model), "map-dc", epochs=1, options=options), files.folder / "run", progress=False)
    (files.folder / "taken").write_text("a file of the user")
    make_log(files)
    return files


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("words", cases(), ids=" ".join)
def test_a_refused_command_says_why_in_one_line_and_leaves_everything_as_it_was(
    words: list[str], cli: CommandLine, place: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.folder)
    monkeypatch.setattr("regretless.data.solve_labels", lambda *_, **__: pytest.fail("labels were solved"))
    before = snapshot(place.folder)
    assert cli(*words).error
    assert snapshot(place.folder) == before


def test_every_option_of_every_command_has_a_bad_value() -> None:
    covered: dict[str, set[str]] = {}
    for base, options in BAD:
        covered.setdefault(command_of(base), set()).update(option.replace("-", "_") for option in options)
    for name, command in all_commands().items():
        options = {p.name.removesuffix("_") for p in command.params if not getattr(p, "is_flag", False)}
        assert options <= covered.get(name, set()), f"add bad values for {options - covered.get(name, set())} of {name}"


@pytest.mark.parametrize(
    ("words", "module"),
    [
        (f"{NAMED.replace(' --epochs 1', '')} --method direct", "cma"),
        (f"{NAMED} --engine scip", "pyscipopt.scip"),
        (NAMED, "safetensors.torch"),
        (TUNE, "optuna"),
        ("reproduce smoke --out out", "matplotlib"),
        ("reproduce smoke --out out", "jinja2"),
        ("demo", "matplotlib"),
        ("demo", "jinja2"),
        ("decide run --features x.csv --out d.parquet", "pyarrow.parquet"),
    ],
)
def test_a_missing_package_is_told_before_anything_is_done(
    words: str, module: str, cli: CommandLine, place: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.folder)
    monkeypatch.setattr("regretless.data.solve_labels", lambda *_, **__: pytest.fail("labels were solved"))
    monkeypatch.setitem(sys.modules, module, None)
    before = snapshot(place.folder)
    result = cli(*words.split())
    assert result.code == 1
    assert "pip install" in result.error
    assert snapshot(place.folder) == before
