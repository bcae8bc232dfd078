"""Picture of SPO+'s loss and gradient: ``python docs/methods/pictures/spo.py``."""

from __future__ import annotations

from pathlib import Path

from loss_curves import draw, example

from regretless.losses import SPOPlus

if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".svg"), {"SPO+": SPOPlus(example(), reduction="none")})
