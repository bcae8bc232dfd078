"""Losses, all with one signature: ``loss(predicted, true, solution, instance=None) -> scalar``."""

from regretless.losses.base import AutogradLoss, ClosedFormLoss, Loss
from regretless.losses.blackbox import Blackbox
from regretless.losses.contrastive import MAP, NCE
from regretless.losses.expected_regret import ExpectedRegret
from regretless.losses.interior import Interior
from regretless.losses.perturbed_fenchel_young import PerturbedFenchelYoung
from regretless.losses.qptl import QPTL
from regretless.losses.ranking import Listwise, Pairwise, PairwiseDifference, Pointwise
from regretless.losses.spo import SPOPlus
from regretless.losses.two_stage import TwoStage
from regretless.losses.warm_up import WarmUp

__all__ = [
    "MAP", "NCE", "QPTL", "AutogradLoss", "Blackbox", "ClosedFormLoss", "ExpectedRegret", "Interior", "Listwise",
    "Loss", "Pairwise", "PairwiseDifference", "PerturbedFenchelYoung", "Pointwise", "SPOPlus", "TwoStage", "WarmUp",
]  # fmt: skip
