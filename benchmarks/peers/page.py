"""Rows of measurements -> the tables of ``docs/benchmarks.md``, between two marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cells import METHODS, SHARES, TITLES
from figures import OURS, SIDES, Ratio, Row, median, of_side, ratios, scale_ratios

BEGIN, END = "<!-- peers: begin, written by make bench-peers -->", "<!-- peers: end -->"


def replaced(page: str, part: str, begin: str = BEGIN, end: str = END) -> str:
    """Put the part between the marks of a page. The text around them stays."""
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"the page must contain the marks {begin!r} and {end!r} once each, in this order")
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n\n{part.strip()}\n\n{end}{rest.partition(end)[2]}"


def part(rows: Sequence[Row], conditions: Sequence[str], picture: str) -> str:
    """Everything between the marks."""
    pieces = [
        "\n".join(f"- {line}" for line in conditions),
        f"![CPU milliseconds per epoch, ours and PyEPO's]({picture})",
    ]
    for problem in dict.fromkeys(row["problem"] for row in rows if row["problem"] != "scale"):
        pieces += [f"### {problem}", *_problem(rows, problem)]
    pieces += ["### A large cache", _scale(rows)]
    return "\n\n".join(pieces)


def _problem(rows: Sequence[Row], problem: str) -> Iterable[str]:
    for p_solve in SHARES:
        measured = [
            (side, name)
            for side, name in SIDES.items()
            if median(rows, "cpu", problem=problem, p_solve=p_solve, **of_side(side)) is not None
        ]
        for title, figure, scale, digits in (
            ("CPU milliseconds per epoch", "cpu", 1e3, 1),
            ("wall milliseconds per epoch", "wall", 1e3, 1),
            ("solver calls per epoch", "solves", 1.0, 1),
            ("test regret after the last epoch", "regret", 1.0, 1),
        ):
            head = [f"p_solve {p_solve:.0%}: {title}", *(TITLES[method] for method in METHODS)]
            body = []
            for side, name in measured:
                where = {"problem": problem, "p_solve": p_solve, **of_side(side)}
                cells = [median(rows, figure, method=method, **where) for method in METHODS]
                body.append([name, *("-" if cell is None else f"{scale * cell:,.{digits}f}" for cell in cells)])
            yield _table(head, body)
    yield _memory(rows, problem)
    found = ratios(rows, problem)
    yield "How many times faster, in CPU time; what is below its target is bold:"
    yield _cells([ratio for ratio in found if ratio.method])
    yield _ratios([ratio for ratio in found if not ratio.method])


def _memory(rows: Sequence[Row], problem: str) -> str:
    body = []
    for side, name in SIDES.items():
        cells = [median(rows, "peak_mb", problem=problem, p_solve=p_solve, **of_side(side)) for p_solve in SHARES]
        if any(cell is not None for cell in cells):
            body.append([name, *("-" if cell is None else f"{cell:,.0f}" for cell in cells)])
    return _table(["peak memory of a process that runs all four, MB", *(f"p_solve {p:.0%}" for p in SHARES)], body)


def _scale(rows: Sequence[Row]) -> str:
    head = ["50,000 x 500, batch 32: milliseconds", "insertion, CPU", "wall", "NCE, CPU", "wall", "peak memory, MB"]
    body = []
    for side in ("ours", "pyepo"):
        figures = ("insert_cpu", "insert_wall", "nce_cpu", "nce_wall")
        cells = [median(rows, figure, side=side, problem="scale") for figure in figures]
        peak = median(rows, "peak_mb", side=side, problem="scale")
        name = SIDES[OURS] if side == "ours" else "PyEPO"
        body.append([name, *("-" if cell is None else f"{1e3 * cell:,.2f}" for cell in cells), f"{peak or 0:,.0f}"])
    return _table(head, body) + "\n\n" + _ratios(scale_ratios(rows))


def _cells(found: Sequence[Ratio]) -> str:
    """One line per pair of sides, one column per method."""
    body = []
    for sides in dict.fromkeys(ratio.sides for ratio in found):
        line = {ratio.method: ratio for ratio in found if ratio.sides == sides}
        shown = [_cell(line[method]) if method in line else "-" for method in METHODS]
        targets = [f"{ratio.target:g}" for ratio in line.values() if ratio.target is not None]
        body.append([sides, *shown, targets[0] if len(set(targets)) == 1 else " / ".join(targets)])
    return _table(["p_solve, and what over what", *(TITLES[method] for method in METHODS), "target"], body)


def _cell(ratio: Ratio) -> str:
    missed = ratio.target is not None and ratio.cpu < ratio.target
    return f"**{ratio.cpu:,.3g}**" if missed else f"{ratio.cpu:,.3g}"


def _ratios(found: Sequence[Ratio]) -> str:
    body = [
        [
            ratio.what,
            f"{ratio.cpu:,.3g} ({ratio.wall:,.3g})",
            "" if ratio.target is None else f"{ratio.target:g}",
            "" if ratio.target is None else "met" if ratio.cpu >= ratio.target else "**missed**",
        ]
        for ratio in found
    ]
    return _table(["what", "times faster (in wall time)", "target", ""], body)


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *body))
