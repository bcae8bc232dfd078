"""Picture of the ranking losses and their gradients: ``python docs/methods/pictures/ranking.py``."""

from __future__ import annotations

from pathlib import Path

from loss_curves import cached, draw

from regretless.losses import Listwise, Pairwise, PairwiseDifference, Pointwise

if __name__ == "__main__":
    losses = {
        "pointwise": Pointwise(cached(), reduction="none"),
        "pairwise, margin 0.5": Pairwise(cached(), margin=0.5, reduction="none"),
        "pairwise difference": PairwiseDifference(cached(), reduction="none"),
        "listwise, temperature 1": Listwise(cached(), temperature=1.0, reduction="none"),
    }
    draw(Path(__file__).with_suffix(".svg"), losses)
