"""Picture of QPTL's loss and gradient: ``python docs/methods/pictures/qptl.py``."""

from __future__ import annotations

from pathlib import Path

from loss_curves import draw, example

from regretless.losses.relaxed import QPTL

if __name__ == "__main__":
    problem = example()
    losses = {f"tau = {tau:g}": QPTL(problem, tau=tau, reduction="none") for tau in (0.1, 0.5, 2.0)}
    draw(Path(__file__).with_suffix(".svg"), losses)
