"""``regretless report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.output_check import refuse_other_pages
from regretless.report import write


def report(
    results: Annotated[Path, typer.Argument(help="Folder of results, or of one run.")],
    out: Annotated[Path | None, typer.Option(help="HTML file to write; report.html in the folder by default.")] = None,
) -> None:
    """Write one self-contained HTML report of a folder of results."""
    out = results / "report.html" if out is None else out
    refuse_other_pages(out)
    print(write(results, out))
