"""Picture of Blackbox's loss and gradient: ``python docs/methods/pictures/blackbox.py``."""

from __future__ import annotations

from pathlib import Path

from loss_curves import draw, example

from regretless.losses import Blackbox

if __name__ == "__main__":
    losses = {f"lambda = {width:g}": Blackbox(example(), lambda_=width, reduction="none") for width in (0.5, 1.0, 2.0)}
    draw(Path(__file__).with_suffix(".svg"), losses)
