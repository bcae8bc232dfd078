"""Picture of NCE's loss and gradient: ``python docs/methods/pictures/nce.py``."""

from __future__ import annotations

from pathlib import Path

from loss_curves import cached, draw

from regretless.losses import NCE

if __name__ == "__main__":
    losses = {f"NCE, {cost}": NCE(cached(), cost=cost, reduction="none") for cost in ("c_hat", "c_hat-c", "2c_hat-c")}
    draw(Path(__file__).with_suffix(".svg"), losses)
