"""
Lightning on two processes
==========================

Both processes share one solution cache: what one of them solves, both can look up. Run it with::

    pip install lightning        # or pytorch-lightning
    python examples/lightning_ranks.py 2
"""

from __future__ import annotations

import sys

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import regretless as rl
from regretless.problems.knapsack.synthetic import knapsack_data, standardized

try:
    import lightning.pytorch as lightning
except ImportError:
    import pytorch_lightning as lightning


class DecisionModule(lightning.LightningModule):
    """Trains on the decision; checkpoints of Lightning hold the cache, which is part of the loss."""

    def __init__(self, problem: rl.Problem, train: rl.Dataset) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Linear(8, 1), nn.Flatten())
        self.loss = rl.MAP(rl.SolutionCache(problem, train.solutions, p_solve=0.05, seed=0))

    def setup(self, stage: str) -> None:
        if self.trainer.world_size > 1 and self.loss.oracle.ranks is None:
            self.loss.oracle.share()  # the process group exists from here on

    def training_step(self, batch: tuple[Tensor, Tensor, Tensor], _: int) -> Tensor:
        x, costs, solutions = batch
        return self.loss(self.model(x), costs, solutions)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.model.parameters(), lr=0.5)


def main(ranks: int = 1) -> tuple[float, float]:
    features, values, weights = knapsack_data(days=100)
    problem = rl.Problem(rl.MILP([weights], row_upper=60), sense="max")
    data = rl.Dataset.solve(problem, standardized(features, 70), values, progress=False)
    train, test = data.split(0.7)
    lightning.seed_everything(0, verbose=False)
    module = DecisionModule(problem, train)
    trainer = lightning.Trainer(
        max_epochs=5, accelerator="cpu", devices=ranks, strategy="ddp" if ranks > 1 else "auto", logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    before = rl.evaluate(module.model, test, problem).relative_regret
    tensors = TensorDataset(train.features, train.costs.float(), train.solutions.float())
    trainer.fit(module, DataLoader(tensors, batch_size=12, shuffle=True))
    after = rl.evaluate(module.model, test, problem).relative_regret
    if trainer.is_global_zero:
        cache = module.loss.oracle
        print(f"ranks: {trainer.world_size}, solves in all: {cache.statistics.solves}, solutions: {len(cache)}")
        print(f"regret: {100 * before:.1f} % of the optimal value before training, {100 * after:.1f} % after")
    return before, after


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
