"""PyEPO's side of ``compare_losses.py``: trains with PyEPO's own losses; runs in the peers' environment.

python losses_pyepo.py '[["CELL.npz", ["SPO+", "PFY"]], ...]' OUT.jsonl
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
import torch
from loss_cells import BATCH, EPOCHS, GRID, LR, NEIGHBORS, PAIRS
from pyepo import func
from pyepo.data.dataset import optDataset, optDatasetConstrs, optDatasetKNN
from pyepo.model.opt import optModel
from torch import nn

warnings.filterwarnings("ignore")


class ListedPaths(optModel):
    """All 70 paths of the grid in a table: the fastest exact solver for one instance at a time."""

    def __init__(self, paths: np.ndarray) -> None:
        self.paths = paths
        super().__init__()

    def _getModel(self) -> tuple[Any, Any]:  # noqa: N802 - PyEPO's name
        return None, range(self.paths.shape[1])

    def setObj(self, c: Any) -> None:  # noqa: N802 - PyEPO's name
        self.costs = c.detach().numpy() if isinstance(c, torch.Tensor) else np.asarray(c)

    def solve(self) -> tuple[np.ndarray, float]:
        values = self.paths @ self.costs
        best = int(values.argmin())
        return self.paths[best], float(values[best])


class _Instances(optDataset):
    """PyEPO's data set from labels that are known already."""

    def __init__(self, model: optModel, cell: dict[str, np.ndarray]) -> None:
        self.model = model
        self.feats, self.costs, self.sols = (
            torch.as_tensor(cell[name], dtype=torch.float32) for name in ("features", "costs", "solutions")
        )
        self.objs = (self.costs * self.sols).sum(1, keepdim=True)


def dataset(name: str, model: optModel, cell: dict[str, np.ndarray]) -> Any:
    """The training data that a loss takes."""
    if name == "kNN SPO+":
        return optDatasetKNN(model, cell["features"], cell["costs"], k=NEIGHBORS, weight=0.5)
    if name == "CaVE+":
        from pyepo.model.grb import shortestPathModel

        return optDatasetConstrs(shortestPathModel(GRID), cell["features"], cell["costs"])
    return _Instances(model, cell)


def loss_of(name: str, loss: Any, data: Any, rows: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
    """The scalar of one step, called as PyEPO's documentation says."""
    pair = PAIRS[name]
    c, w, z = data.costs[rows], data.sols[rows], data.objs[rows]
    if name == "CaVE+":
        return loss(predicted, nn.utils.rnn.pad_sequence([data.ctrs[i] for i in rows.tolist()], batch_first=True))
    if pair.pyepo == "SPOPlus":
        return loss(predicted, c, w, z)
    if pair.task is not None:
        answer = loss(predicted)
        if pair.task == "objective":
            return nn.functional.l1_loss((answer * c).sum(1, keepdim=True), z)
        return (nn.functional.l1_loss if pair.task == "l1" else nn.functional.mse_loss)(answer, w)
    needs_costs = pair.pyepo == "perturbationGradient" or pair.pyepo.endswith("ToRank")
    return loss(predicted, c if needs_costs else w)


def train(name: str, model: optModel, cell: dict[str, np.ndarray]) -> nn.Linear:
    """Train one loss from the given weights, in the given order of the instances."""
    data, pair = dataset(name, model, cell), PAIRS[name]
    pool = {"dataset": data} if "dataset" in getattr(func, pair.pyepo).__init__.__code__.co_varnames else {}
    loss = getattr(func, pair.pyepo)(model, **pool, **pair.settings)
    net = nn.Linear(data.feats.shape[1], data.costs.shape[1])
    with torch.no_grad():
        net.weight.copy_(torch.as_tensor(cell["weight"]))
        net.bias.copy_(torch.as_tensor(cell["bias"]))
    optimizer = torch.optim.Adam(net.parameters(), lr=LR)
    for order in torch.as_tensor(cell["orders"])[:EPOCHS]:
        for rows in order.split(BATCH):
            optimizer.zero_grad()
            loss_of(name, loss, data, rows, net(data.feats[rows])).backward()
            optimizer.step()
    return net


def main() -> None:
    torch.set_num_threads(1)
    jobs, out = json.loads(sys.argv[1]), sys.argv[2]
    with open(out, "w", encoding="utf-8") as file:
        for number, (path, names) in enumerate(jobs):
            cell = dict(np.load(path))
            model = ListedPaths(cell["paths"])
            for name in names:
                try:
                    net = train(name, model, cell)
                    found = {"weight": net.weight.tolist(), "bias": net.bias.tolist()}
                except ImportError as error:  # CaVE needs Gurobi and Clarabel
                    found = {"error": str(error)}
                print(json.dumps({"job": number, "name": name} | found), file=file, flush=True)


if __name__ == "__main__":
    main()
