"""torch's fused Adam without the bookkeeping of its steps.

With 10 to 1,000 weights the bookkeeping of ``Optimizer.zero_grad()`` and ``Optimizer.step()`` takes many times as long
as the kernel. ``benchmarks/step.py`` measures what this file saves; below 1.1 times it should be deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import unwrap
from typing import Any, final

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

from regretless.tensors import without_graph
from regretless.training.scaling import EPS

ADAM: Any = torch.optim.Adam
KERNEL: Any = torch._fused_adam_
HOOKS = _global_optimizer_pre_hooks, _global_optimizer_post_hooks


@final
class LeanAdam(torch.optim.Adam):
    """Adam with the results of ``torch.optim.Adam(..., fused=True)``, bit for bit, in a fraction of the time.

    ``make_step`` and ``fit`` use it by themselves; in a training loop with ``backward()`` it takes the place of
    torch's. A step calls torch's kernel with arguments that are collected once. Where a step is more than that, as with
    hooks, a closure or a ``GradScaler``, it is torch's own. Schedulers and checkpoints work as with torch's.

    Args:
        params: weights, or groups of them, as torch's optimizers take them.
        lr: learning rate.
        betas: of the running means of gradients and of their squares.
        eps: what is added to the size of gradients.
        weight_decay: factor of the weights that is added to their gradients.

    >>> model = torch.nn.Linear(2, 1)
    >>> optimizer = LeanAdam(model.parameters(), lr=0.1)
    >>> optimizer.zero_grad()
    >>> model(torch.ones(3, 2)).sum().backward()
    >>> optimizer.step()
    """

    # The methods that torch wraps for its compiler, without the wrapper: its import takes more than a second.
    add_param_group = unwrap(ADAM.add_param_group)
    state_dict, load_state_dict = unwrap(ADAM.state_dict), unwrap(ADAM.load_state_dict)
    _usual_step = Optimizer.profile_hook_step(torch.no_grad()(unwrap(ADAM.step)))
    _usual_zero_grad = unwrap(ADAM.zero_grad)
    _steps: Sequence[_FusedStep] = ()  # of the last step; a copy has none

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = EPS,
        weight_decay: float = 0.0,
    ) -> None:
        settings: dict[str, Any] = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        params = list(params)
        try:
            super().__init__(params, **settings, fused=True)
        except RuntimeError:  # older versions of torch have it on GPUs only
            super().__init__(params, **settings)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        if not set_to_none:
            self._usual_zero_grad(set_to_none=False)
            return
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the weights by their gradients.

        Args:
            closure: computes loss and gradients first.

        Returns:
            The result of the closure, or ``None``.
        """
        more = closure is not None or self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks
        # A ``GradScaler`` sets ``found_inf`` for its step.
        if more or any(HOOKS) or "found_inf" in vars(self) or not self._lean_step():
            return self._usual_step(closure)
        return None

    step.hooked = True  # type: ignore[attr-defined]  # for torch: hooks are called, so nothing has to be wrapped around

    @without_graph
    def _lean_step(self) -> bool:
        """Do a step without hooks; return whether it was possible, which the first step of a weight is not."""
        steps = self._steps
        if len(steps) != len(self.param_groups) or not all(
            one.fits(group, self.state) for one, group in zip(steps, self.param_groups, strict=True)
        ):
            steps = self._steps = [_FusedStep(group, self.state) for group in self.param_groups]
            if not all(one.possible for one in steps):
                self._steps = ()
                return False
        for one in steps:
            one.do()
        return True


class _FusedStep:
    """A step of the fused kernel for one group of parameters, whose arguments but the gradients are collected once.

    Args:
        group: of ``param_groups``.
        state: of the optimizer.

    Attributes:
        possible: whether the kernel can do this step.
    """

    def __init__(self, group: dict[str, Any], state: dict[Any, Any]) -> None:
        self._group = group
        self._members = [(p, p.grad is None, state.get(p), p.data_ptr()) for p in group["params"]]
        self._moving: list[Any] = [p for p in group["params"] if p.grad is not None]
        states = [state.get(p) or {} for p in self._moving]
        # Others go their own ways in torch: other settings, and weights that one call of the kernel cannot take.
        plain = group["fused"] and not group["amsgrad"] and not group.get("decoupled_weight_decay")
        kinds = {(p.device, p.dtype, p.grad.layout) for p in self._moving}
        self.possible = bool(plain) and all(states) and len(kinds) <= 1
        self._counts: list[Any] = [own.get("step") for own in states]
        # The same memory for NumPy: on a CPU torch takes four times as long to count.
        self._numbers = [count.numpy() for count in self._counts if self.possible and count.is_cpu]
        self._moments: list[list[Any]] = [[own.get(name) for own in states] for name in ("exp_avg", "exp_avg_sq")]
        self._detached = [p.detach() for p in self._moving]  # in the same memory

    def fits(self, group: dict[str, Any], state: dict[Any, Any]) -> bool:
        """Whether parameters, states and memory are still those that were collected."""
        if group is not self._group or len(group["params"]) != len(self._members):
            return False
        for now, (p, still, own, address) in zip(group["params"], self._members, strict=True):
            if now is not p or (p.grad is None) is not still or state.get(p) is not own or p.data_ptr() != address:
                return False
        return True

    def do(self) -> None:
        """Do the step."""
        group = self._group
        if not self._counts:
            return
        if self._numbers:
            for number in self._numbers:
                number[()] += 1
        else:
            torch._foreach_add_(self._counts, 1)
        KERNEL(
            self._detached,
            [p.grad for p in self._moving],
            *self._moments,
            [],
            self._counts,
            amsgrad=False,
            lr=group["lr"],
            beta1=group["betas"][0],
            beta2=group["betas"][1],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
        )
