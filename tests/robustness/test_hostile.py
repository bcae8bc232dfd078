from __future__ import annotations

import ast
import io
import os
import pickle
import zipfile
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import torch

from regretless.cache import SolutionCache
from regretless.cli import main
from regretless.errors import FileError, RegretlessError
from regretless.modeling import read
from regretless.paper.grid import load_grid
from regretless.problems import load
from regretless.problems.energy.icon import read_icon
from regretless.problems.matching.cora import read_pickle
from regretless.report import write as write_report
from regretless.runs import Spec, run
from regretless.storage import load_state, write_json
from regretless.tables import read_costs
from tests.cli.files import CommandLine

from . import small

SOURCE = Path(__file__).parents[2] / "src" / "regretless"
SCRIPT = "<script>alert(1)</script>"


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@cache
def _calls() -> list[tuple[str, str, ast.Call]]:
    return [
        (str(path.relative_to(SOURCE)), ast.unparse(node.func), node)
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


def test_the_source_has_no_door_for_code_in_data() -> None:
    refused = {
        "eval", "exec", "compile", "__import__", "os.system", "os.popen", "pickle.load", "pickle.loads", "torch.save",
        "torch.load", "joblib.load", "yaml.load", "marshal.loads", "shelve.open", "dill.load", "np.save", "np.savez",
    }  # fmt: skip
    # A process that runs a user's function gets it from its parent, over a pipe; a Ray worker from its driver.
    between_processes = ("solvers/processes.py", "solvers/ray_crew.py", "solvers/ray_crew.py", "runs/ray_runs.py")
    allowed = [(path, "pickle.loads") for path in between_processes]
    assert [(path, name) for path, name, _ in _calls() if name in refused and (path, name) not in allowed] == []
    loads = [(path, node) for path, name, node in _calls() if name in ("np.load", "numpy.load")]
    assert loads, "NPZ files are read somewhere"
    for path, node in loads:
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        assert given.get("allow_pickle") == "False", path
    shells = [path for path, name, node in _calls() for keyword in node.keywords if keyword.arg == "shell"]
    assert shells == []


def test_files_are_written_by_the_atomic_writers_only() -> None:
    """Nothing opens a file for writing on its own, but for the writer itself and what is no file of results."""
    allowed = {
        "storage.py": "the writer itself",
        "downloads/fetch.py": "a temporary file that pooch renames once its checksum is verified",
        "runs/worker.py": "its own standard output",
        "modeling/model_files.py": "a copy in a temporary folder that HiGHS reads and nobody keeps",
    }
    writers = {"write_text", "write_bytes", "to_csv", "savefig", "to_parquet", "tofile", "dump"}
    own = {"write_text", "write_bytes", "history.to_csv", "chart.figure.savefig"}  # of storage; text; into memory
    bad = []
    for path, name, node in _calls():
        if path in allowed:
            continue
        last = name.rpartition(".")[2]
        mode = [ast.literal_eval(a) for a in node.args[:2] if isinstance(a, ast.Constant)]
        opens = last == "open" and any(
            isinstance(m, str) and set(m) <= set("rwxabt+") and set(m) & set("wxa+") for m in mode
        )
        if opens or (last in writers and name not in own):
            bad.append((path, name, node.lineno))
    assert bad == []


@pytest.mark.parametrize("suffix", ["cache", "checkpoint", "npz", "pkl"])
def test_a_pickle_in_any_file_is_not_run(suffix: str, tmp_path: Path) -> None:
    mark, path = tmp_path / "mark", tmp_path / f"file.{suffix}"
    content = pickle.dumps(Bomb(mark))
    readers = {
        "cache": lambda: SolutionCache.load(path, small.problem()),
        "checkpoint": lambda: load_state(path, kind="checkpoint"),
        "npz": lambda: read_costs(path, ("a",)),
        "pkl": lambda: read_pickle(path),
    }
    path.write_bytes(content)
    with pytest.raises(RegretlessError):
        readers[suffix]()
    if suffix == "npz":
        buffer = io.BytesIO()
        np.savez(buffer, costs=np.array([Bomb(mark)], dtype=object))
        path.write_bytes(buffer.getvalue())
        with pytest.raises(FileError, match="without pickle"):
            readers[suffix]()
    torch.save({"x": Bomb(mark)}, path)
    with pytest.raises(RegretlessError):
        readers[suffix]()
    assert not mark.exists()


def test_an_archive_cannot_write_outside_of_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a" / "x.npz"
    path.parent.mkdir()
    array = io.BytesIO()
    np.save(array, np.ones((2, 1)))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../costs.npy", array.getvalue())
        archive.writestr("/etc/costs.npy", array.getvalue())
    with pytest.raises(RegretlessError):
        read_costs(path, ("a",))
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "x.npz"]


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "..\\x", "a/../../b", "\x00", "CON", "~root"])
def test_names_of_grids_and_problems_are_no_paths(name: str) -> None:
    for call in (lambda: load_grid(name), lambda: load(name)):
        with pytest.raises(RegretlessError):
            call()


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "/dev/zero", "/", "\x00x"])
@pytest.mark.parametrize("reader", [read, read_icon, lambda p: read_costs(p, ("a",)), lambda p: load(f"energy:{p}")])
def test_paths_that_lead_elsewhere_give_the_librarys_errors(reader, path: str) -> None:
    with pytest.raises(RegretlessError):
        reader(path)


def test_a_run_is_kept_under_its_hash_whatever_its_names_are() -> None:
    digest = Spec("../../../tmp/x", "spo", options={"a": "../.."}).digest
    assert digest.isalnum()
    assert len(digest) == 16


MPS = """NAME {name}
ROWS
 N obj
 L {row}
COLUMNS
    {x} obj 1 {row} 1
    y obj 2 {row} 1
RHS
    RHS {row} 1
BOUNDS
 BV BND {x}
 BV BND y
ENDATA
"""
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img/src=x/onerror=alert(1)>',
    "=cmd|'/C_calc'!A0",
    "../../x",
    "%s%n",
    "é" * 40,
)


class Elements(HTMLParser):
    """Elements and attributes that a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts, self.handlers, self.images = 0, [], []

    def handle_starttag(self, tag, attributes) -> None:
        self.scripts += tag == "script"
        self.handlers += [name for name, _ in attributes if name.startswith("on")]
        self.images += [value for name, value in attributes if name in ("src", "href") and value and "alert" in value]


def _elements(path: Path) -> Elements:
    parser = Elements()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Elements:
    """The elements of a page without hostile names."""
    folder = tmp_path_factory.mktemp("usual")
    run(Spec("synthetic-knapsack-60", "spo-cache", epochs=1, options={"days": 20}), folder / "plain")
    return _elements(write_report(folder / "plain", folder / "plain.html"))


@pytest.mark.parametrize("name", [*HOSTILE[:3], *(pytest.param(name, marks=pytest.mark.slow) for name in HOSTILE[3:])])
def test_hostile_names_go_through_the_command_line_into_the_report_as_text(
    name: str, usual: Elements, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.mps").write_text(MPS.format(name=name, row=name + "r", x=name), encoding="utf-8")
    quoted = '"' + name.replace('"', '""') + '"'
    (tmp_path / "c.csv").write_text(f"{quoted},y\n" + "1,2\n2,1\n" * 6, encoding="utf-8")
    (tmp_path / "x.csv").write_text("f\n" + "3\n4\n" * 6, encoding="utf-8")
    words = ["train", "m.mps", "--features", "x.csv", "--costs", "c.csv", "--method", "spo-cache", "--epochs", "1"]
    for command in (
        [*words, "--test", "0.5", "--out", "run"],
        ["evaluate", "run"],
        ["report", "run", "--out", "r.html"],
    ):
        code = 0
        try:
            main(command)
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        assert code == 0, said.err
    page = _elements(tmp_path / "r.html")
    assert (page.scripts, page.handlers, page.images) == (usual.scripts, usual.handlers, [])
    assert sorted(os.listdir(tmp_path)) == sorted(["m.mps", "c.csv", "x.csv", "run", "r.html"])


def test_hostile_text_in_every_file_of_a_run_stays_text(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / SCRIPT.replace("/", "_")
    folder.mkdir(parents=True)
    spec = Spec("synthetic-knapsack-60", "spo", options={SCRIPT: SCRIPT}).as_dict() | {"problem": SCRIPT}
    write_json(folder / "spec.json", spec)
    write_json(folder / "environment.json", {SCRIPT: SCRIPT})
    write_json(folder / "metrics.json", {"regret": SCRIPT, "status": SCRIPT, SCRIPT: 1, "on": SCRIPT})
    (folder / "history.csv").write_text(f"epoch,{SCRIPT},loss\n1,{SCRIPT},2\n")
    failed = tmp_path / "runs" / "failed"
    failed.mkdir()
    write_json(failed / "spec.json", spec)
    write_json(failed / "failure.json", {"error": SCRIPT})
    write_report(tmp_path, tmp_path / "r.html", title=SCRIPT)
    text = (tmp_path / "r.html").read_text()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text, "it is shown, as text"


def test_damaged_json_on_the_command_line_is_one_line_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "spec.json").write_text('{"problem": ' + "[" * 100_000)
    (tmp_path / "run" / "weights.safetensors").write_bytes(b"\xff" * 100)
    done = CommandLine(capsys)("evaluate", tmp_path / "run")
    assert done.code == 1
    assert done.error.startswith("error: cannot read")
    assert str(tmp_path / "run" / "spec.json") in done.error
