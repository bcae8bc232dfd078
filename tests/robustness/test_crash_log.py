"""``decide --log`` and ``audit`` are killed at random moments: no acknowledged row is lost, and none is there twice."""

from __future__ import annotations

import random
import re
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from regretless.deciding.decision_log import DecisionLog
from regretless.runs import Spec, run

from .killing import Nursery

DAYS, ITEMS = 64, ["x", "y", "z"]
ACKNOWLEDGED = re.compile(r"^(\d+) of \d+ instances are in ", re.MULTILINE)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, chance = tmp_path_factory.mktemp("crash-log"), np.random.default_rng(0)
    (folder / "m.lp").write_text("minimize\n v: x + y + z\nsubject to\n two: x + y + z >= 2\nbinary\n x y z\nend\n")
    features = chance.normal(size=(DAYS, 2))
    write(folder / "x.csv", ["a", "b"], "", features)
    write(folder / "c.csv", ITEMS, "", 5 + features @ chance.normal(size=(2, 3)))
    options = {"features": str(folder / "x.csv"), "costs": str(folder / "c.csv")}
    spec = Spec(str(folder / "m.lp"), "two-stage", settings={"fit": "best"}, options=options)
    run(spec, folder / "run", progress=False)
    return folder


def write(path: Path, columns: list[str], prefix: str, values: np.ndarray) -> Path:
    rows = [f"{prefix}{i}," + ",".join(map(repr, row)) for i, row in enumerate(values.tolist())]
    path.write_text("\n".join([",".join(["instance", *columns]), *rows]) + "\n")
    return path


def kill_decisions(victims: Nursery, trained: Path, folder: Path, kills: int) -> int:
    """Kill, check, and complete; returns how many kills came after the first acknowledged row."""
    log, chance = folder / "d.db", random.Random(0)
    values = np.random.default_rng(1).normal(size=(DAYS, 2))
    seconds = victims.run("cli", "decide", trained / "run", "--features", trained / "x.csv", "--log", folder / "t.db")
    useful = 0
    for k in range(kills):
        new = write(folder / f"{k}.csv", ["a", "b"], f"{k}-", values)
        words = ("cli", "decide", trained / "run", "--features", new, "--log", log)
        victims.kill(*words, after=chance.uniform(0.3, 1.0) * seconds)
        told = [int(n) for n in ACKNOWLEDGED.findall(victims.errors.read_text())]
        acknowledged = max(told, default=0)
        names = logged(log) if log.exists() else []
        assert len(names) == len(set(names))
        mine = [name for name in names if name.startswith(f"{k}-")]
        assert mine[:acknowledged] == [f"{k}-{i}" for i in range(acknowledged)], "an acknowledged row is lost"
        useful += acknowledged > 0
        if k % 2:  # started again, the command completes what was interrupted
            victims.run(*words)
            assert sorted(name for name in logged(log) if name.startswith(f"{k}-")) == sorted(
                f"{k}-{i}" for i in range(DAYS)
            )
    return useful


def logged(path: Path) -> list[str]:
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return []  # killed before the tables were made
    return [name for (name,) in db.execute("SELECT instance FROM decisions ORDER BY id")]


def kill_audits(victims: Nursery, trained: Path, folder: Path, kills: int) -> None:
    """Kill audits: the log stays as it is, and a page is complete or not there."""
    log, page, chance = folder / "a.db", folder / "audit.html", random.Random(1)
    victims.run("cli", "decide", trained / "run", "--features", trained / "x.csv", "--log", log)
    with DecisionLog(log) as opened:
        before = [record.key for record in opened.records()]
    words = ("cli", "audit", log, "--costs", trained / "c.csv", "--out", page)
    seconds = victims.run(*words)
    page.unlink()
    for _ in range(kills):
        victims.kill(*words, after=chance.uniform(0.2, 1.0) * seconds)
        assert not page.exists() or page.read_text().endswith("</html>")
        page.unlink(missing_ok=True)
        with DecisionLog(log) as opened:
            assert [record.key for record in opened.records()] == before


def test_two_kills_lose_no_acknowledged_row_and_write_none_twice(
    victims: Nursery, trained: Path, tmp_path: Path
) -> None:
    kill_decisions(victims, trained, tmp_path, 2)


@pytest.mark.slow
def test_thirty_kills_lose_no_acknowledged_row_and_write_none_twice(
    victims: Nursery, trained: Path, tmp_path: Path
) -> None:
    useful = kill_decisions(victims, trained, tmp_path, 30)
    assert useful >= 5, "some kills must come after a row was acknowledged"
    kill_audits(victims, trained, tmp_path, 30)


def test_two_commands_on_one_log_write_every_row_once(victims: Nursery, trained: Path, tmp_path: Path) -> None:
    log = tmp_path / "d.db"
    victims.start("cli", "decide", trained / "run", "--features", trained / "x.csv", "--log", log)
    from regretless.cli import main

    with pytest.raises(SystemExit) as end:
        main(["decide", str(trained / "run"), "--features", str(trained / "x.csv"), "--log", str(log)])
    assert end.value.code == 0
    assert victims.end() == 0
    assert sorted(logged(log)) == sorted(str(i) for i in range(DAYS))
