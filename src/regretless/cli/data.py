"""``regretless data list | fetch NAME``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from regretless.cli.show import print_json, print_table
from regretless.cli.spec_options import Json
from regretless.downloads import fetch as files

data = typer.Typer(help="The public data behind the paper's problems.", no_args_is_help=True, add_completion=False)


@data.command("list")
def list_(json: Json = False) -> None:
    """List the data sets, where they are, and which problems need them."""
    table = files.datasets()
    rows: list[dict[str, Any]] = [
        {
            "name": row.name,
            "present": row.present,
            "files": list(row.files),
            "bytes": row.bytes,
            "where": str(row.where),
            "what": table[row.name].what,
            "problems": list(table[row.name].problems),
            "cite": table[row.name].cite,
        }
        for row in files.status()
    ]
    if json:
        print_json(rows)
        return
    cells = [(row["name"], "yes" if row["present"] else "no", ", ".join(row["problems"]), row["what"]) for row in rows]
    print_table("public data", ("data set", "present", "problems", "what it is"), cells)
    print(f"folder: {files.folder()}")


@data.command("fetch")
def fetch(name: Annotated[str, typer.Argument(help="A data set, a problem or a file; or all.")]) -> None:
    """Download a data set, verify its checksum, and keep it in the data folder."""
    wanted = (
        [file for row in files.datasets().values() for file in row.files] if name == "all" else files.files_of(name)
    )
    for file in wanted:
        print(files.fetch(file))
