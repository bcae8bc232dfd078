"""A half-precision copy of S for GPUs: a coarse pass over all solutions, then exact scores of the few candidates.

Solutions of combinatorial problems are small integers, which half precision represents exactly. Only the costs are
rounded, by a known amount. A product in half precision, at the speed of the tensor cores, therefore gives every score
up to a known error. The best blocks of solutions are scored again in single precision, and the answer is certified: no
block that was left out can hold a better solution. Where this cannot be shown, the exact scan answers the cost vector.
"""

from __future__ import annotations

import torch
from torch import Tensor

# From here on the product is what a look-up costs; below, launching kernels is.
SMALLEST = 1 << 16
BLOCK = 32
CANDIDATES = 8
CHUNK = 1 << 17
_ALIGNED = 64  # columns: the tensor cores are three times slower on other widths
_LARGEST = 60_000.0  # half precision ends at 65,504
_UNIT = 2.0**-11  # half a unit in the last place of half precision, relative


class HalfMirror:
    """Rows of a store in half precision, kept beside it."""

    def __init__(self, width: int, device: torch.device) -> None:
        self._rows = torch.zeros(0, -(-width // _ALIGNED) * _ALIGNED, dtype=torch.float16, device=device)
        self._largest = 0.0
        self._negative = False
        self.exact = True

    def put(self, rows: Tensor, places: slice | Tensor, size: int) -> None:
        """Copy ``rows`` to ``places`` of a store of ``size`` rows."""
        if not self.exact:
            return
        if size > len(self._rows):
            # Complete blocks; rows of the last one that are not in use are masked in the look-up.
            wanted = max(size, 2 * len(self._rows))
            grown = self._rows.new_zeros(-(-wanted // BLOCK) * BLOCK, self._rows.shape[1])
            grown[: len(self._rows)] = self._rows
            self._rows = grown
        half = rows.to(torch.float16)
        self.exact = bool((half.to(rows.dtype) == rows).all())
        self._rows[places, : rows.shape[1]] = half
        low, high = torch.aminmax(rows)
        self._largest = max(self._largest, -float(low), float(high))
        self._negative |= float(low) < 0

    def look_up(self, costs: Tensor, size: int) -> tuple[Tensor, Tensor] | None:
        """Positions of the best of the first ``size`` rows for each cost vector, and a mask of the certified ones.

        Args:
            costs: ``(batch, width)`` in single precision, minimizing.
            size: number of rows in use.

        Returns:
            ``None`` where half precision does not represent the rows, or where they are too few to be worth it.
        """
        if not self.exact or size < SMALLEST or self._largest == 0.0:
            return None
        width = costs.shape[1]
        scale = costs.abs().amax(dim=1, keepdim=True).clamp(min=torch.finfo(costs.dtype).tiny)
        scaled = costs / (scale * max(1.0, width * self._largest / _LARGEST))
        coarse = scaled.to(torch.float16)
        blocks = self._block_minima(coarse, size)
        best, which = torch.topk(blocks, min(CANDIDATES + 1, blocks.shape[1]), dim=1, largest=False)
        position, value = self._exact(scaled, size, which[:, :CANDIDATES])
        if which.shape[1] <= CANDIDATES:
            return position, torch.ones_like(position, dtype=torch.bool)
        # What rounding the costs, the sums and the result can have hidden in the first block that was left out.
        rounded = scaled - coarse.to(scaled.dtype)
        hidden = rounded.abs().sum(dim=1)
        if not self._negative:  # rows cannot take the errors of both signs at once
            hidden = torch.maximum(rounded.clamp(min=0).sum(dim=1), -rounded.clamp(max=0).sum(dim=1))
        sums = width * 2.0**-24 * scaled.abs().sum(dim=1)
        next_best = best[:, CANDIDATES].to(scaled.dtype)
        return position, value <= next_best - _UNIT * next_best.abs() - (hidden + sums) * self._largest

    def _block_minima(self, coarse: Tensor, size: int) -> Tensor:
        """Smallest coarse score of every block of rows: ``(batch, blocks)``."""
        minima = []
        padded = torch.nn.functional.pad(coarse, (0, self._rows.shape[1] - coarse.shape[1])).T.contiguous()
        before = torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        try:
            for a in range(0, size, CHUNK):
                b = min(a + CHUNK, -(-size // BLOCK) * BLOCK)
                scores = self._rows[a:b] @ padded
                if b > size:
                    scores[size - a :] = torch.inf
                minima.append(scores.view(-1, BLOCK, len(coarse)).amin(dim=1))
        finally:
            torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = before
        return torch.cat(minima).T.contiguous()

    def _exact(self, scaled: Tensor, size: int, which: Tensor) -> tuple[Tensor, Tensor]:
        """Best row of the chosen blocks in the precision of the costs, and its scaled score."""
        inside = torch.arange(BLOCK, device=scaled.device)
        places = (which[:, :, None] * BLOCK + inside).flatten(1).clamp(max=size - 1)
        width = scaled.shape[1]
        position, value = [], []
        # Gathered candidates of one part of the batch: at most a gigabyte.
        part = max(1, (1 << 28) // (places.shape[1] * width))
        for cost, place in zip(torch.split(scaled, part), torch.split(places, part), strict=True):
            rows = self._rows[place][:, :, :width].to(cost.dtype)  # exact: the mirror holds every row
            scores = torch.bmm(rows, cost[:, :, None]).squeeze(2)
            best, at = scores.min(dim=1)
            value.append(best)
            position.append(place.gather(1, at[:, None]).squeeze(1))
        return torch.cat(position), torch.cat(value)
