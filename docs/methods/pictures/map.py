"""Picture of MAP's loss and gradient: ``python docs/methods/pictures/map.py``."""

from __future__ import annotations

from pathlib import Path

from loss_curves import cached, draw

from regretless.losses import MAP

if __name__ == "__main__":
    losses = {f"MAP, {cost}": MAP(cached(), cost=cost, reduction="none") for cost in ("c_hat", "c_hat-c", "2c_hat-c")}
    losses["MAP, c_hat-c, select=predicted"] = MAP(cached(), cost="c_hat-c", select="predicted", reduction="none")
    draw(Path(__file__).with_suffix(".svg"), losses)
