"""Adam for models so small that a step is all overhead."""

from __future__ import annotations

import torch

from regretless.errors import InputError


class LeanAdam(torch.optim.Adam):
    """torch's fused Adam with a second way to step, which goes to the same kernel without the ceremony around it.

    ``step()`` looks after hooks, closures, profilers and grouping, which at this size is most of a step's time. State
    and arithmetic are torch's own, so both ways can be mixed, and a checkpoint fits either.

    Args:
        parameters: what to train.
        lr: learning rate.
    """

    def __init__(self, parameters: list[torch.nn.Parameter], lr: float) -> None:
        if not lr > 0:
            raise InputError(f"lr must be positive, got {lr}")
        try:
            super().__init__(parameters, lr=lr, fused=True)
        except RuntimeError:  # older versions of torch have it on GPUs only
            super().__init__(parameters, lr=lr)

    def lean_step(self) -> None:
        """Do what ``step()`` does; the first step of a parameter, which makes its state, is left to ``step()``."""
        for group in self.param_groups:
            if not group["fused"] or not all(self.state.get(p) for p in group["params"] if p.grad is not None):
                self.step()
                return
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            if not parameters:
                continue
            states = [self.state[p] for p in parameters]
            steps = [state["step"] for state in states]
            for count in steps:
                count += 1
            torch._fused_adam_(
                [p.detach() for p in parameters],  # the same memory, without a graph to mind
                [p.grad for p in parameters],
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                [],
                steps,
                amsgrad=False,
                lr=group["lr"],
                beta1=group["betas"][0],
                beta2=group["betas"][1],
                weight_decay=group["weight_decay"],
                eps=group["eps"],
                maximize=False,
            )
