"""The part of a training step that follows the solves, as a CUDA graph: look-up, formula and gradient in one launch.

A step over a cache launches about twenty operations. A GPU computes them in a tenth of the time that their launches
take.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

import torch
from torch import Tensor

from regretless.cuda_graphs import capture
from regretless.losses.label_check import LabelCheck, Noted
from regretless.most_recent import MostRecent
from regretless.tensors import lasting_tensors

# A graph of a growing S serves until its columns move, so few are of use at a time.
GRAPHS = 4

Inputs = tuple[Tensor, Tensor, Tensor]


class Step(NamedTuple):
    """What a step computes."""

    value: Tensor
    gradient: Tensor
    lookups: int


Compute = Callable[[Tensor, Tensor, Tensor], Step]


def captured_on(predicted: Tensor) -> bool:
    """Whether steps at such predictions are captured; on a CPU there are no graphs."""
    return predicted.is_cuda


class _StepGraph(NamedTuple):
    graph: torch.cuda.CUDAGraph
    places: list[Tensor]  # of predicted, true and solution
    result: Tensor  # gradients and values, one after the other
    like: Step
    noted: Noted | None
    held: object


class StepGraphs:
    """Steps that were captured, by what determines their operations.

    Args:
        labels: where the answers of a step are noted, to be compared with the labels at its end.
    """

    def __init__(self, labels: LabelCheck) -> None:
        self.labels = labels
        self._graphs: MostRecent[Hashable, _StepGraph] = MostRecent(GRAPHS)
        self._seen: Hashable = None
        self._refused = False

    def run(self, key: Hashable, inputs: Inputs, compute: Compute, *, held: object) -> Step:
        """Make a step; a graph of it is captured when its key comes for the second time in a row.

        Args:
            key: equal for steps with equal operations; shapes and types of the inputs need not be part of it.
            inputs: predicted costs, true costs and solutions.
            compute: the step, without a synchronization.
            held: what the key identifies by its ``id``, which must not be used again while the graph exists.
        """
        key = (key, *((one.shape, one.dtype, one.device) for one in inputs))
        if key not in self._graphs and (key != self._seen or self._refused):
            self._seen = key
            return compute(*inputs)
        try:
            captured = self._graphs.find(key, lambda: self._capture(inputs, compute, held))
        except RuntimeError:  # an operation of this version of torch or CUDA; the step itself may be fine
            self._refused = True
            return compute(*inputs)
        return self._replay(captured, inputs)

    @lasting_tensors()
    def _capture(self, inputs: Inputs, compute: Compute, held: object) -> _StepGraph:
        places = [one.clone(memory_format=torch.contiguous_format) for one in inputs]

        def job() -> tuple[Tensor, Step]:
            step = compute(*places)
            return torch.cat([step.gradient.flatten(), step.value.flatten()]), step

        graph, (result, step) = capture(job)
        return _StepGraph(graph, places, result, step, self.labels.take(), held)

    def _replay(self, captured: _StepGraph, inputs: Inputs) -> Step:
        torch._foreach_copy_(captured.places, list(inputs))
        captured.graph.replay()
        self.labels.put(captured.noted)
        result, like = captured.result.clone(), captured.like
        split = like.gradient.numel()
        return Step(result[split:].view(like.value.shape), result[:split].view(like.gradient.shape), like.lookups)
