"""Picture of ExpectedRegret's loss and gradient: ``python docs/methods/pictures/soft.py``."""

from __future__ import annotations

from pathlib import Path

from loss_curves import cached, draw

from regretless.losses import ExpectedRegret

if __name__ == "__main__":
    temperatures = (0.03, 0.1, 0.3, 1.0)
    losses = {f"temperature {t:g}": ExpectedRegret(cached(), temperature=t, reduction="none") for t in temperatures}
    draw(Path(__file__).with_suffix(".svg"), losses)
