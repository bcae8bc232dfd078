"""The perceptron of the matching experiments, computed per paper instead of per pair."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from regretless.problems.settings import seeded

HIDDEN = 200
PRODUCT_START = 10.0  # cosines are near 0.1 and 0.2, logits are some units apart


class PairPerceptron(nn.Module):
    r"""Link probabilities of all pairs: ``sigmoid(w . relu(W [x_i, x_j] + b) + b')`` with ``x`` the papers' words.

    The first layer is linear, so ``W [x_i, x_j] = W_left x_i + W_right x_j``: every paper is embedded once, and a pair
    adds two embeddings. The features of the 2500 pairs are never built.

    With ``product`` (not in the paper) the logit also contains ``sum_w theta_w x_iw x_jw / (|x_i| |x_j|)``: one weight
    per word that both papers use. All weights start at 10, so that this term starts as the cosine of the two papers,
    scaled to the range of a logit.

    Args:
        words: ``(papers, words)`` binary matrix, stored with the model but not in its state.
        hidden: units of the hidden layer.
        product: add the term for shared words.
    """

    words: Tensor

    def __init__(self, words: Tensor, *, hidden: int = HIDDEN, product: bool = False) -> None:
        super().__init__()
        self.register_buffer("words", words.to(torch.uint8), persistent=False)
        self.first = nn.Linear(2 * words.shape[1], hidden)
        self.last = nn.Linear(hidden, 1)
        self.product = nn.Parameter(torch.full((words.shape[1],), PRODUCT_START)) if product else None

    def forward(self, ids: Tensor) -> Tensor:
        """Predict the links of instances from the ids of their papers.

        Args:
            ids: ``(batch, 2, side)`` integers, the left side first.

        Returns:
            ``(batch, side * side)`` probabilities, row by row.
        """
        left, right = self.words[ids].to(self.last.weight.dtype).unbind(dim=1)
        of_left, of_right = self.first.weight.chunk(2, dim=1)
        a, b = left @ of_left.T, right @ of_right.T + self.first.bias
        hidden = torch.relu(a[:, :, None] + b[:, None])
        logits = hidden @ self.last.weight[0] + self.last.bias
        if self.product is not None:
            left, right = (nn.functional.normalize(side, dim=2) for side in (left, right))
            logits = logits + (left * self.product) @ right.transpose(1, 2)
        return torch.sigmoid(logits).flatten(start_dim=1)


def pair_perceptron(words: Tensor, *, product: bool = False) -> Callable[[int], nn.Module]:
    """Return ``seed -> PairPerceptron``."""
    return partial(seeded, partial(PairPerceptron, words, product=product))
