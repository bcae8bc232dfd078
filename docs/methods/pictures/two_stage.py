"""Picture of the prediction error and its gradient: ``python docs/methods/pictures/two_stage.py``."""

from __future__ import annotations

from pathlib import Path

from loss_curves import draw, example

from regretless.losses import TwoStage

if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".svg"), {"two-stage": TwoStage(example(), reduction="none")})
