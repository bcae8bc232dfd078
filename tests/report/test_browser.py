"""The report in a real browser: what a person would see and do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from regretless.report import write

from .conftest import EVIL, write_run

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a folder with everything in it."""
    results = tmp_path_factory.mktemp("browser") / "results"
    for method in ("two-stage", "spo", "spo-cache"):
        for seed in (0, 1):
            write_run(results, method, seed=seed)
    write_run(results, "map-dc", problem=EVIL, settings={"p_solve": 0.1})
    write_run(results, "spo", finish=False)
    for kind, name, content in (
        ("tables", "q1-regret.csv", "method,ours,published\nspo,30 *,20\nmap-dc,100,20\nnce-c,–,20\n"),
        ("figures", "q4-time.svg", f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{EVIL}</svg>'),
    ):
        (results / kind).mkdir()
        (results / kind / name).write_text(content)
    (results / "tables" / "q1-regret.json").write_text(json.dumps({"title": EVIL, "caption": EVIL}))
    return write(results, results / "report.html")


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    """One tab for all tests: opening another takes longer than loading the report again."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def page(report: Path, browser: Any, tab: Any) -> Iterator[Open]:
    """Open the report, in a tab of its own where a test has options.

    Any message of the console and any request to another place is an error.
    """
    said: list[str] = []
    contexts = []
    listeners = {
        "console": lambda message: said.append(message.text),
        "pageerror": lambda error: said.append(str(error)),
        "dialog": lambda dialog: (said.append("dialog"), dialog.dismiss()),
        "request": lambda request: request.url.startswith(("file:", "data:")) or said.append(request.url),
    }

    def listen(opened: Any) -> None:
        for event, listener in listeners.items():
            opened.on(event, listener)

    def visit(width: int = 1280, scheme: str = "light", **options: Any) -> Any:
        opened = tab
        if options:
            contexts.append(browser.new_context(**options))
            opened = contexts[-1].new_page()
            listen(opened)
        opened.set_viewport_size({"width": width, "height": 900})
        opened.emulate_media(media="screen", color_scheme=scheme)
        opened.goto(report.as_uri())
        return opened

    listen(tab)
    yield visit
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    for context in contexts:
        context.close()
    assert said == []


def column(page: Any, table: str, index: int) -> list[str]:
    return [text.strip() for text in page.locator(f"{table} tbody tr > :nth-child({index})").all_inner_texts()]


def test_a_click_sorts_and_another_turns_the_order(page: Open) -> None:
    opened = page()
    table = "#problem-0 table"
    assert column(opened, table, 1) == ["two-stage", "spo", "spo-cache"]
    heading = opened.locator(f"{table} th", has_text="method").first
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert column(opened, table, 1) == ["spo", "spo-cache", "two-stage"]
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert column(opened, table, 1) == ["two-stage", "spo-cache", "spo"]
    regret = opened.locator(f"{table} th", has_text="test regret")
    regret.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "none"
    values = [
        float(v) for v in opened.locator(f"{table} tbody tr").evaluate_all("r => r.map(x => x.cells[3].dataset.value)")
    ]
    assert values == sorted(values)
    assert len(set(values)) > 1


def test_numbers_sort_as_numbers_and_missing_ones_stay_last(page: Open) -> None:
    opened = page()
    button = opened.locator("#question-q1 th button", has_text="ours")
    button.click()
    assert column(opened, "#question-q1 table", 1) == ["spo", "map-dc", "nce-c"]
    button.click()
    assert column(opened, "#question-q1 table", 1) == ["map-dc", "spo", "nce-c"]


@pytest.mark.parametrize("width", [390, 1280])
def test_figures_are_visible_and_the_page_never_scrolls_sideways(width: int, page: Open) -> None:
    opened = page(width)
    charts = opened.locator("#problem-0 figure > svg")
    assert charts.count() == 4
    for index in range(4):
        box = charts.nth(index).bounding_box()
        assert box["width"] > 0.7 * min(width, 600)
        assert box["height"] > 150
    assert opened.locator("#question-q4 img").evaluate("image => image.complete")
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_wide_tables_scroll_inside_their_box_on_a_phone(page: Open) -> None:
    assert page(390).locator("#problem-0 .scroll").evaluate("box => box.scrollWidth > box.clientWidth")


def test_dark_mode_changes_page_text_and_lines(page: Open) -> None:
    script = """() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,
        getComputedStyle(document.querySelector('#problem-0 .line path')).stroke,
        getComputedStyle(document.querySelector('#problem-0 figure text')).fill]"""
    light, dark = page().evaluate(script), page(scheme="dark").evaluate(script)
    assert all(one != other for one, other in zip(light, dark, strict=True))


def test_print_is_light_even_in_dark_mode(page: Open) -> None:
    opened = page(scheme="dark")
    opened.emulate_media(media="print", color_scheme="dark")
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.evaluate("getComputedStyle(document.body).color") == page().evaluate(
        "getComputedStyle(document.body).color"
    )


def test_pointing_at_a_point_shows_its_value(page: Open) -> None:
    opened = page()
    chart = opened.locator("#problem-0 figure").nth(1)
    chart.locator(".points .point .hit").first.hover(force=True)
    assert "epoch 1\ntest regret" in opened.locator(".tip").inner_text()


def test_a_finger_shows_the_value_too(page: Open) -> None:
    opened = page(390, has_touch=True)
    opened.locator("#problem-0 figure").nth(2).locator(".point .hit").last.tap(force=True)
    assert "s per epoch" in opened.locator(".tip").inner_text()


def test_the_legend_hides_and_shows_a_line_in_all_charts(page: Open) -> None:
    opened = page()
    figures = [opened.locator("#problem-0 figure").nth(index) for index in range(4)]
    lines = [figure.locator('g.series.points[data-series="2"], g.series.line[data-series="2"]') for figure in figures]
    button = opened.locator("#problem-0 .legend button", has_text="spo-cache")
    for pressed in (True, False, True):
        assert button.get_attribute("aria-pressed") == str(pressed).lower()
        for found in lines:
            assert found.count() > 0
            assert all(found.nth(index).is_visible() is pressed for index in range(found.count()))
        button.click()


def test_the_page_is_complete_without_its_script(page: Open) -> None:
    opened = page(java_script_enabled=False)
    assert opened.locator("#problem-0 figure > svg").count() == 4
    assert opened.locator("#problem-0 .point title").count() > 0
