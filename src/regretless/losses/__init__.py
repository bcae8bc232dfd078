"""Losses, all with one signature: ``loss(predicted, true, solution, instance=None, weight=None) -> scalar``."""

from regretless.losses.autograd_loss import AutogradLoss
from regretless.losses.base import Loss
from regretless.losses.blackbox import Blackbox
from regretless.losses.closed_form import ClosedFormLoss
from regretless.losses.cone_alignment import ConeAlignment
from regretless.losses.contrastive import MAP, NCE
from regretless.losses.expected_regret import ExpectedRegret
from regretless.losses.implicit_mle import AdaptiveImplicitMLE, ImplicitMLE
from regretless.losses.lava import LAVA
from regretless.losses.negative_identity import NegativeIdentity
from regretless.losses.perturbation_gradient import PerturbationGradient
from regretless.losses.perturbed import PerturbedFenchelYoung, PerturbedOptimizer
from regretless.losses.ranking import Listwise, Pairwise, PairwiseDifference, Pointwise
from regretless.losses.regularized import RegularizedFenchelYoung, RegularizedOptimizer
from regretless.losses.relaxed import QPTL, Interior, SmoothedContrastive
from regretless.losses.spo import SPOPlus
from regretless.losses.two_stage import TwoStage
from regretless.losses.warm_up import WarmUp

__all__ = [
    "LAVA", "MAP", "NCE", "QPTL", "AdaptiveImplicitMLE", "AutogradLoss", "Blackbox", "ClosedFormLoss", "ConeAlignment",
    "ExpectedRegret", "ImplicitMLE", "Interior", "Listwise", "Loss", "NegativeIdentity", "Pairwise",
    "PairwiseDifference", "PerturbationGradient", "PerturbedFenchelYoung", "PerturbedOptimizer", "Pointwise",
    "RegularizedFenchelYoung", "RegularizedOptimizer", "SPOPlus", "SmoothedContrastive", "TwoStage", "WarmUp",
]  # fmt: skip
