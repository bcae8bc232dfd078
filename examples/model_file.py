"""
From the command line
=====================

A model file and CSV files: train, evaluate on the held-out rows, decide. The lines in ``COMMANDS`` are what you would
type in a shell. Run it with::

    python examples/model_file.py
"""

from __future__ import annotations

import shlex
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib import pyplot as plt

from regretless.cli import main as regretless

MODEL = """\\ Which market stalls to run today: predicted takings, a known rent for the van, a crew of six.
maximize
 profit: 10 stall_coffee + 10 stall_soup + 10 stall_fruit + 10 stall_bread - 12 van
subject to
 crew: 2 stall_coffee + 3 stall_soup + 1 stall_fruit + 2 stall_bread <= 6
 load: stall_coffee + 2 stall_soup + 2 stall_fruit + 2 stall_bread - 4 van <= 2
binary
 stall_coffee stall_soup stall_fruit stall_bread van
end
"""
STALLS = ["stall_coffee", "stall_soup", "stall_fruit", "stall_bread"]
COMMANDS = """
regretless train market.lp --cost-variables 'stall_*' --features days.csv --costs takings.csv --test 0.2
  --epochs 30 --out run
regretless evaluate run
regretless decide run --features tomorrow.csv --out decisions.csv
"""


def write(folder: Path) -> None:
    """Write the model, and two hundred days of weather with the takings of each stall."""
    generator = np.random.default_rng(0)
    weather = generator.normal(size=(201, 3))
    takings = np.exp(2.2 + 0.6 * weather @ generator.normal(size=(3, 4))) + generator.normal(size=(201, 4))
    (folder / "market.lp").write_text(MODEL)
    for name, header, values in (
        ("days", ["sun", "wind", "weekend"], weather[:200]),
        ("takings", STALLS, takings[:200]),
        ("tomorrow", ["weekend", "sun", "wind"], weather[200:, [2, 0, 1]]),  # columns are matched by name
    ):
        np.savetxt(folder / f"{name}.csv", values, delimiter=",", header=",".join(header), comments="")


def main() -> str:
    with TemporaryDirectory() as folder, chdir(folder):
        write(Path())
        for command in COMMANDS.replace("\n  ", " ").strip().splitlines():
            print(f"$ {command}")
            try:
                regretless(shlex.split(command)[1:])
            except SystemExit as end:  # a command ends with its exit code
                if end.code:
                    raise
        decisions = Path("decisions.csv").read_text()
    print(decisions)
    header, row = (line.split(",") for line in decisions.splitlines())
    chosen = dict(zip(header, row, strict=True))
    plt.figure(figsize=(5, 2.2), layout="constrained")
    plt.bar(STALLS, [float(chosen[f"decision:{name}"]) for name in STALLS], color="#0072b2")
    plt.ylabel("run tomorrow")
    return decisions


if __name__ == "__main__":
    main()
