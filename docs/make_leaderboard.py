"""Write ``leaderboard.md`` from the results of a suite.

regretless suite --seeds 3 --out results/suite
python docs/make_leaderboard.py results/suite
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from regretless.runs.results import read_results
from regretless.storage import write_text
from regretless.suite import make_leaderboard
from regretless.suite.leaderboard import write_leaderboard
from regretless.suite.leaderboard_text import leaderboard_markdown

PAGE = Path(__file__).with_name("leaderboard.md")
PICTURE = "pictures/leaderboard.svg"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def main() -> int:
    """Read the folder that is named on the command line."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    board = make_leaderboard(read_results(folder))
    write_leaderboard(board, folder)
    shutil.copy(folder / "leaderboard.svg", PAGE.parent / PICTURE)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    body = leaderboard_markdown(board.methods, board.cells, board.compared, PICTURE)
    write_text(PAGE, f"{before}{BEGIN}\n\n{body.strip()}\n\n{END}{rest.partition(END)[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
