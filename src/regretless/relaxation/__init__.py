"""The linear relaxation of a model as a differentiable layer: batched interior point in torch, implicit gradients."""

from regretless.relaxation.relaxation_layer import Relaxation
from regretless.relaxation.smoothed_programs import BarrierProgram, Program, QuadraticProgram

__all__ = ["BarrierProgram", "Program", "QuadraticProgram", "Relaxation"]
