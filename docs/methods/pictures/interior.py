"""Picture of Interior's loss and gradient: ``python docs/methods/pictures/interior.py``."""

from __future__ import annotations

from pathlib import Path

from loss_curves import draw, example

from regretless.losses.relaxed import Interior

if __name__ == "__main__":
    problem = example()
    losses = {f"cutoff = {cutoff:g}": Interior(problem, cutoff=cutoff, reduction="none") for cutoff in (0.01, 0.1, 0.5)}
    draw(Path(__file__).with_suffix(".svg"), losses)
