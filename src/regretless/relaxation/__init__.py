"""The linear relaxation of a model as a differentiable layer: batched interior point in torch, implicit gradients."""

from regretless.relaxation.layer import Relaxation
from regretless.relaxation.programs import BarrierProgram, QuadraticProgram

__all__ = ["BarrierProgram", "QuadraticProgram", "Relaxation"]
