"""
A Lightning module
==================

A decision-focused loss is an ordinary ``nn.Module``, so a Lightning module takes it as it is. Run it with::

    pip install lightning        # or pytorch-lightning
    python examples/lightning_module.py
"""

from __future__ import annotations

import torch
from matplotlib import pyplot as plt
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import regretless as rl
from regretless.metrics import regret
from regretless.problems.knapsack.synthetic import knapsack_data, standardized

try:
    import lightning.pytorch as lightning
except ImportError:
    import pytorch_lightning as lightning

Batch = tuple[Tensor, Tensor, Tensor]


class DecisionModule(lightning.LightningModule):
    """Predict values, train on the decision, validate by exact regret."""

    def __init__(self, problem: rl.Problem, train: rl.Dataset) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Linear(8, 1), nn.Flatten())
        self.loss = rl.MAP(rl.SolutionCache(problem, train.solutions, p_solve=0.05, seed=0))

    def training_step(self, batch: Batch, _: int) -> Tensor:
        x, costs, solutions = batch
        return self.loss(self.model(x), costs, solutions)

    def validation_step(self, batch: Batch, _: int) -> None:
        x, costs, solutions = batch
        regrets = regret(self.loss.problem, self.model(x), costs, solutions)
        self.log("validation_regret", regrets.mean().float(), prog_bar=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.model.parameters(), lr=0.5)


def loader(data: rl.Dataset, *, shuffle: bool) -> DataLoader:
    tensors = TensorDataset(data.features, data.costs.float(), data.solutions.float())
    return DataLoader(tensors, batch_size=24, shuffle=shuffle)


def main() -> tuple[float, float]:
    features, values, weights = knapsack_data(days=100)
    problem = rl.Problem(rl.MILP([weights], row_upper=60), sense="max")
    data = rl.Dataset.solve(problem, standardized(features, 70), values, progress=False)
    train, validation = data.split(0.7)
    lightning.seed_everything(0, verbose=False)
    module = DecisionModule(problem, train)
    trainer = lightning.Trainer(
        max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False,
    )  # fmt: skip
    before = rl.evaluate(module.model, validation, problem).relative_regret
    trainer.fit(module, loader(train, shuffle=True), loader(validation, shuffle=False))
    after = rl.evaluate(module.model, validation, problem).relative_regret
    plt.figure(figsize=(5, 2), layout="constrained")
    plt.barh(["before", "after"], [100 * before, 100 * after], color=["#6b7280", "#0072b2"])
    plt.xlabel("validation regret, % of the optimal value")
    print(f"regret: {100 * before:.1f} % of the optimal value before training, {100 * after:.1f} % after")
    return before, after


if __name__ == "__main__":
    main()
