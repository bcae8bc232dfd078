"""Training epochs of two versions of the library in alternation, so that a noisy machine slows down both alike.

git worktree add ../before HEAD~5
python benchmarks/two_versions.py ../before [ROUNDS]

Prints the median over all rounds of the time of this version over that of the other one, for ``fit`` and for an own
training loop, with one coin per instance and one per batch.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

BATCH, CACHED = 24, ("nce-c", "map-c", "spo-cache", "blackbox-cache", "soft", "listwise")
UNTIMED = 3  # rounds


def work() -> None:
    """Time one epoch of everything per line of standard input."""
    import torch

    from regretless import fit, make_loss
    from regretless.problems import load  # modules behind it have other names in other versions

    torch.set_num_threads(1)
    loaded = load("synthetic-knapsack-120")
    problem, train = loaded.problem, loaded.train

    def epoch(kind: str, model, loss, optimizer) -> float:
        start = time.process_time()
        if kind == "fit":
            fit(model, loss, train, epochs=1, lr=0.1, batch_size=BATCH, progress=False)
        else:
            for batch in torch.randperm(len(train)).split(BATCH):
                value = loss(model(train.features[batch]), train.costs[batch], train.solutions[batch])
                optimizer.zero_grad()
                value.backward()
                optimizer.step()
        return time.process_time() - start

    jobs = {}
    for name in CACHED:
        for kind, policy in (("fit", "coin"), ("own loop", "coin"), ("own loop", "batch-coin")):
            model = loaded.model(0)
            loss = make_loss(name, problem, train, seed=0, p_solve=0.05, grow_at="transformed", policy=policy)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
            jobs[f"{name}, {kind}, {policy}"] = (kind, model, loss, optimizer)
    print(json.dumps(list(jobs)), flush=True)
    for _ in sys.stdin:
        print(json.dumps([epoch(*job) for job in jobs.values()]), flush=True)


class Version:
    """A process that runs one version of the library."""

    def __init__(self, checkout: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--work"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.jobs: list[str] = json.loads(self._process.stdout.readline())
        self.rounds: list[list[float]] = []

    def round(self) -> None:
        """Time one epoch of every job."""
        self._process.stdin.write("once more\n")
        self._process.stdin.flush()
        self.rounds.append(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


def main(other: Path, rounds: int) -> None:
    before, now = Version(other), Version(Path(__file__).parents[1])
    for number in range(UNTIMED + rounds):
        for version in (before, now) if number % 2 else (now, before):
            version.round()
    for column, job in enumerate(now.jobs):
        pairs = [(a[column], b[column]) for a, b in zip(before.rounds, now.rounds, strict=True)][UNTIMED:]
        ratio = statistics.median(b / a for a, b in pairs)
        print(
            f"{job}: {1e3 * statistics.median(b for _, b in pairs):.1f} ms per epoch, {ratio:.3f} of the other version"
        )
    before.close()
    now.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    elif len(sys.argv) in (2, 3) and (Path(sys.argv[1]) / "src" / "regretless").is_dir():
        main(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) == 3 else 40)
    else:
        sys.exit("usage: python benchmarks/two_versions.py CHECKOUT [ROUNDS]; CHECKOUT is a clone or a worktree")
