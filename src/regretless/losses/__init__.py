"""Losses, all with one signature: ``loss(predicted, true, solution, instance=None) -> scalar``."""

from regretless.losses.base import Loss
from regretless.losses.blackbox import Blackbox
from regretless.losses.contrastive import MAP, NCE
from regretless.losses.spo import SPOPlus
from regretless.losses.two_stage import TwoStage

__all__ = ["MAP", "NCE", "Blackbox", "Loss", "SPOPlus", "TwoStage"]
