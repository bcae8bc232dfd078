from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.report import read_folder, render, write
from regretless.report.attachments import Attachment
from regretless.report.groups import METHODS
from regretless.report.page import MORE, questions

from .conftest import EVIL, MakeRun, three_methods, write_run


def test_questions_come_in_order_and_the_rest_last() -> None:
    names = ("Q10", "", "Beyond the paper", "Q2", "Q1")
    found = questions([Attachment(f"title of {name}", question=name) for name in names])
    assert [question["name"] for question in found] == ["Q1", "Q2", "Q10", "Beyond the paper", MORE]
    assert [question["heading"] for question in found][2:] == ["Q10", "Beyond the paper", MORE]
    assert found[0]["heading"] == "Q1. How good is each contrastive loss, in terms of regret?"
    assert [question["anchor"] for question in found][2:] == [
        "question-q10",
        "question-beyond-the-paper",
        "question-more",
    ]


def test_a_question_holds_what_names_it_in_its_order() -> None:
    (question,) = questions([Attachment("b", question="Q1"), Attachment("a", question="Q1")])
    assert [item.title for item in question["attachments"]] == ["b", "a"]


def test_nothing_attached_asks_no_question() -> None:
    assert questions([]) == []


VOID = {"meta", "link", "img"}
LOADING = {"src", "srcset", "data", "poster", "action", "formaction", "background", "xlink:href"}


class Checker(HTMLParser):
    """Collects what is wrong with a page: unbalanced tags, double ids, addresses outside, scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.scripts: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append(dict(attrs))
        for key, value in attrs:
            if key.startswith("on") or key == "style":
                self.wrong.append(f"{tag} has {key}")
            if key == "id":
                self.ids.append(value or "")
            inside = key == "href" and tag in ("a", "use")
            loads = key in LOADING or (key == "href" and not inside)
            if loads and not (value or "").startswith("data:"):
                self.wrong.append(f"{tag} loads {value}")
            if inside:
                self.targets.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"unbalanced {tag}")


def check(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.wrong == []
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert all(target.startswith("#") and target[1:] in checker.ids for target in checker.targets)
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
    # One script of ours and one block of data, and nothing else that a browser would run.
    assert [script.get("type") for script in checker.scripts] == ["application/json", None]
    return checker


@pytest.fixture(scope="module")
def text(usual: Path) -> str:
    """The page of three methods."""
    return render(read_folder(usual))


@pytest.fixture(scope="module")
def more(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a second problem besides, with a regret that is no number, a run without an end and a table."""
    results = three_methods(tmp_path_factory.mktemp("more") / "results")
    write_run(results, "map-dc", metrics={"regret": float("nan")})
    write_run(results, "map-dc", problem="energy-1", seed=4, finish=False)
    write_run(results, "spo", problem="energy-1", seed=2, metrics={"train_seconds": 53.0})
    (results / "tables").mkdir()
    (results / "tables" / "q1-regret.csv").write_text("method,ours,published\nspo,1 *,2\n")
    return render(read_folder(results))


def test_the_page_is_balanced_and_loads_nothing(text: str) -> None:
    check(text)
    assert text.startswith("<!DOCTYPE html>")
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_all_four_charts_and_the_meaning_are_there(text: str) -> None:
    for heading in ("Regret against time", "Learning curves", "Cache growth", "Regret against the cost of an epoch"):
        assert f"<h4>{heading}</h4>" in text
    assert "never in evaluation" in text
    assert "Regret is what a prediction costs" in text
    assert "best decision in\nhindsight" in text


def test_no_name_out_of_a_file_becomes_a_tag(tmp_path: Path, make_run: MakeRun) -> None:
    evil = f'{EVIL}"onload="x'
    for seed in (0, 1):
        folder = make_run(
            evil, problem=evil, seed=seed, settings={evil: evil}, options={evil: evil}, init=evil, lr=evil
        )
        (folder / "environment.json").write_text(json.dumps({evil: evil}))
    failed = make_run(evil, problem=evil, finish=False)
    (failed / "failure.json").write_text(json.dumps({"error": evil}))
    (make_run("spo") / "metrics.json").write_text(evil)
    for kind, content in (("tables", f"{EVIL},b\n{EVIL},1\n"), ("figures", f"<svg>{EVIL}</svg>")):
        (tmp_path / "results" / kind).mkdir()
        name = tmp_path / "results" / kind / ("x.csv" if kind == "tables" else "x.svg")
        name.write_text(content)
        name.with_suffix(".json").write_text(json.dumps({"title": evil, "caption": evil, "question": evil}))
    text = render(read_folder(tmp_path / "results", title=evil))
    check(text)
    assert "<script>alert" not in text
    assert "</script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_the_figures_of_every_run_are_embedded(more: str) -> None:
    block = re.search(r'<script type="application/json" id="results">(.*?)</script>', more)
    assert block is not None
    rows = json.loads(block[1])
    assert len(rows) == 9
    assert [row["regret"] for row in rows if row["method"] == "map-dc"] == [None, None]
    assert [(row["seed"], row["p_solve"]) for row in rows if row["method"] == "spo-cache"] == [(0.0, 0.05), (1.0, 0.05)]


def test_the_facts_count_runs_and_add_up_the_training_of_those_that_are_done(more: str) -> None:
    facts = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", more)
    assert facts[:5] == [
        ("problems", "2"), ("methods", "4"), ("seeds", "4"), ("finished runs", "8 of 9"), ("training", "1 min 0 s"),
    ]  # fmt: skip


def test_only_our_own_script_and_style_are_allowed_to_act(text: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe" not in policy[1]


@pytest.mark.parametrize("epochs", [0, 1])
def test_no_epoch_and_one_epoch_are_shown(epochs: int, make_run: MakeRun) -> None:
    check(render(read_folder(make_run("spo", epochs=epochs))))


ODD = (None, "text", 1e300, 10**400, float("nan"), float("-inf"), [1], True, -5, 0)
FIGURES = ("regret", "relative_regret", "mse", "auc", "epoch_seconds", "solves", "cache_size", "epochs")


@pytest.mark.parametrize("values", [ODD, ODD[2:3], ODD[4:5], ODD[-2:]])
def test_odd_figures_never_break_the_page(values: tuple[object, ...], tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo")
    for position, value in enumerate(values):
        folder = make_run(f"method-{position}", metrics=dict.fromkeys(FIGURES, value))
        (folder / "history.csv").write_text(f"epoch,seconds,test_regret,cache_size\n1,{value},{value},{value}\n")
    text = render(read_folder(tmp_path / "results"))
    check(text)
    assert all(f"method-{position}" in text for position in range(len(values)))


def test_a_folder_with_nothing_to_report_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds no runs"):
        write(tmp_path, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_one_run_alone_is_not_compared(make_run: MakeRun) -> None:
    text = render(read_folder(make_run("spo")))
    check(text)
    assert "Regret against the cost of an epoch" not in text
    assert "lowest test regret" not in text


def test_a_long_list_of_runs_without_a_result_is_cut(tmp_path: Path, make_run: MakeRun) -> None:
    for seed in range(43):
        make_run("spo", seed=seed, finish=False)
    text = render(read_folder(tmp_path / "results"))
    check(text)
    assert "43 of 43 runs are not finished." in text
    assert text.count("<details>") == 40
    assert "And 3 more." in text


def test_control_characters_never_reach_the_page(make_run: MakeRun) -> None:
    text = render(read_folder(make_run("a\x00b\ud800", problem="c\x1b", init="\x07")))
    check(text)
    assert "a\ufffdb\ufffd" in text
    assert text.encode()


def test_no_finished_run_is_said(make_run: MakeRun) -> None:
    text = render(read_folder(make_run("spo", finish=False)))
    check(text)
    assert "None of the runs here is finished." in text


def test_many_methods_and_seeds_become_one_line_each(tmp_path: Path, make_run: MakeRun) -> None:
    for method in METHODS:
        for seed in range(10):
            make_run(method, seed=seed, epochs=2)
    text = render(read_folder(tmp_path / "results"))
    check(text)
    assert text.count('<th scope="row">map-2c</th>') == 2
    assert text.count('class="series band"') >= 2 * len(METHODS)
    assert len(text) < 900_000


def test_published_remarks_appear_for_the_problems_of_the_paper_only(text: str, more: str) -> None:
    assert "Beside the published figures" not in text
    assert "An exact scheduler" in more
    assert "shifted cost" in more
    assert "matching rows" not in more


def test_questions_stand_before_the_problems(more: str) -> None:
    check(more)
    assert more.index("Q1. How good") < more.index('id="problem-0"')


def test_equal_results_give_equal_pages(text: str, usual: Path, tmp_path: Path) -> None:
    assert write(usual, tmp_path / "report.html").read_text(encoding="utf-8") == text


def test_write_replaces_the_file_and_returns_its_path(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("spo", finish=False)
    out = tmp_path / "new" / "report.html"
    for title in ("Old title", "My title"):
        assert write(run, out, title=title) == out
    assert "<h1>My title</h1>" in out.read_text(encoding="utf-8")
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]
