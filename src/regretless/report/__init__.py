"""One self-contained HTML file that shows what runs found; see ``docs/report.md``."""

from __future__ import annotations

from pathlib import Path

from regretless.report.page import render
from regretless.report.report_data import ReportData
from regretless.report.results_folder import read_folder
from regretless.storage import write_text

__all__ = ["ReportData", "read_folder", "render", "write"]


def write(results: Path | str, out: Path | str, *, title: str | None = None) -> Path:
    """Write the report of a folder of results.

    Args:
        results: a folder with ``runs/``, a folder of run folders, or one run folder.
        out: the HTML file to write; an existing file is replaced in one step.
        title: heading of the page.

    Returns:
        The path of the file.

    Raises:
        FileError: the folder does not exist or has nothing to report, or the file cannot be written.
    """
    out = Path(out)
    write_text(out, render(read_folder(results, title=title)))
    return out
