"""One self-contained HTML file that shows what runs found; see ``docs/report.md``."""

from __future__ import annotations

from pathlib import Path

from regretless.report.collect import collect
from regretless.report.collected import Collected
from regretless.report.page import render
from regretless.storage import write_text

__all__ = ["Collected", "collect", "render", "write"]


def write(results: Path | str, out: Path | str, *, title: str | None = None) -> Path:
    """Write the report of a folder of results.

    Args:
        results: a folder with ``runs/``, a folder of run folders, or one run folder.
        out: the HTML file to write; a file that is there is replaced in one step.
        title: heading of the page.

    Returns:
        The path of the file.

    Raises:
        FileError: there is no such folder, or the file cannot be written.
    """
    out = Path(out)
    write_text(out, render(collect(results, title=title)))
    return out
