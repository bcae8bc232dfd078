"""torch's fused Adam without the bookkeeping of its steps.

With 10 to 1,000 weights the bookkeeping of ``Optimizer.zero_grad()`` and ``Optimizer.step()`` takes many times as long
as the kernel. ``benchmarks/step.py`` measures what this file saves; below 1.1 times it should be deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import unwrap
from operator import is_
from typing import Any, final

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

from regretless.training.scaling import EPS

ADAM: Any = torch.optim.Adam
KERNEL: Any = torch._fused_adam_
BEFORE_ALL, AFTER_ALL = _global_optimizer_pre_hooks, _global_optimizer_post_hooks


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
    _states: Sequence[Any] = ()

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
        hooked = self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks or BEFORE_ALL or AFTER_ALL
        # A ``GradScaler`` sets ``found_inf`` for its step.
        if closure is not None or hooked or "found_inf" in self.__dict__ or not self._lean_step():
            return self._usual_step(closure)
        return None

    step.hooked = True  # type: ignore[attr-defined]  # for torch: hooks are called, so nothing has to be wrapped around

    def _lean_step(self) -> bool:
        """Do a step without hooks; return whether it was possible, which the first step of a weight is not."""
        groups, state, steps = self.param_groups, self.state, self._steps
        # Its dictionaries are compared, not looked up: the hash of a tensor is a function of Python.
        same = len(steps) == len(groups) and len(state) == len(self._states)
        if same and all(map(is_, state.values(), self._states)):
            gradients = [step.gradients(group) for step, group in zip(steps, groups, strict=True)]
        else:
            gradients = [None]
        if None in gradients:
            self._states = list(state.values())
            self._steps = steps = [_FusedStep(group, state) for group in groups]
            gradients = [step.gradients(group) for step, group in zip(steps, groups, strict=True)]
            if None in gradients:
                self._steps = ()
                return False
        for step, found in zip(steps, gradients, strict=True):
            if found:
                step.do(found)
        return True


class _FusedStep:
    """A step of the fused kernel for one group of parameters, whose arguments but the gradients are collected once.

    Args:
        group: of ``param_groups``.
        state: of the optimizer.
    """

    def __init__(self, group: dict[str, Any], state: dict[Any, Any]) -> None:
        self._group = group
        self._members = [(p, p.grad is None, p.data_ptr()) for p in group["params"]]
        moving: list[Any] = [p for p in group["params"] if p.grad is not None]
        states = [state.get(p) or {} for p in moving]
        # Others go their own ways in torch: other settings, and weights that one call of the kernel cannot take.
        plain = group["fused"] and not group["amsgrad"] and not group.get("decoupled_weight_decay")
        kinds = {(p.device, p.dtype, p.grad.layout) for p in moving}
        self._possible = bool(plain) and all(states) and len(kinds) <= 1
        self._counts: list[Any] = [own.get("step") for own in states]
        # The same memory for NumPy: on a CPU torch takes four times as long to count.
        self._numbers = [count.numpy() for count in self._counts if self._possible and count.is_cpu]
        self._moments: list[list[Any]] = [[own.get(name) for own in states] for name in ("exp_avg", "exp_avg_sq")]
        self._detached = [p.detach() for p in moving]  # in the same memory

    def gradients(self, group: dict[str, Any]) -> list[Any] | None:
        """The gradients of a step; ``None`` where it is not one of this kernel, of these parameters and this memory."""
        parameters, found = group["params"], []
        if group is not self._group or len(parameters) != len(self._members) or not self._possible:
            return None
        for now, (p, still, address) in zip(parameters, self._members, strict=True):
            gradient = now.grad
            if now is not p or (gradient is None) is not still or now.data_ptr() != address:
                return None
            if gradient is not None:
                if gradient.requires_grad:  # the kernel has no derivative
                    return None
                found.append(gradient)
        return found

    def do(self, gradients: list[Any]) -> None:
        """Do the step."""
        group = self._group
        if self._numbers:
            for number in self._numbers:
                number.fill(number.item() + 1.0)
        else:
            torch._foreach_add_(self._counts, 1)
        KERNEL(
            self._detached,
            gradients,
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
